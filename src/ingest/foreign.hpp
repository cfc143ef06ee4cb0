#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/jsonl.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Chunks from the JSON in which other programs keep them; `form` is "langchain" or "llamaindex":
///
/// langchain: documents, in lines or in a list, as `{"page_content", "metadata", "id"}` or as
/// `dumpd` writes them; or the output of `InMemoryVectorStore.dump`, with its vectors. Documents
/// with the same `metadata.source` become chunks of one document.
///
/// llamaindex: a persisted folder, its docstore.json, or nodes in lines or in a list. A vector
/// store beside the docstore supplies the vectors. Nodes keep the id of the document they were cut
/// from; the document itself is left out if its nodes are there.
///
/// The whole file is held in memory. NotFound, InvalidArgument; options.vectors must be empty.
Result<std::unique_ptr<RecordReader>> open_foreign(std::string_view form, const std::string& path,
                                                   const JsonlOptions& options);

/// The file that is read for a path: for a folder, its docstore.
std::string foreign_file(std::string_view form, const std::string& path);

/// The members of a JSON object or list as written in `text`, for objects with many thousands of
/// them. Looks at nesting and strings only; whoever parses a value validates it. InvalidArgument if
/// it is neither, or does not end.
struct RawMember {
    std::string_view name;  // with its quotes; empty in a list
    std::string_view value;
};
Result<std::vector<RawMember>> raw_members(std::string_view text);

}  // namespace braid::ingest
