#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/ingest/jsonl.hpp"
#include "braid/result.hpp"

namespace braid::ingest {

/// Chunks from the JSON that other programs keep them in, `form` "langchain" or "llamaindex":
///
/// langchain: documents, in lines or in a list, as `{"page_content", "metadata", "id"}` or as
/// `dumpd` writes them; or what `InMemoryVectorStore.dump` writes, with its vectors. Documents of
/// one `metadata.source` are chunks of one document.
///
/// llamaindex: a folder that was persisted, its docstore.json, or nodes in lines or in a list. A
/// vector store beside the docstore brings the vectors. Nodes keep the id of the document they were
/// cut from; the document itself is left out if its nodes are there.
///
/// The file is held in memory as it stands. NotFound, InvalidArgument; options.vectors must be
/// empty.
Result<std::unique_ptr<RecordReader>> open_foreign(std::string_view form, const std::string& path,
                                                   const JsonlOptions& options);

/// The file that is read for a path: the docstore of a folder.
std::string foreign_file(std::string_view form, const std::string& path);

/// The members of a JSON object or list as they stand in `text`, for objects of many thousand of
/// them. Looks at nesting and strings only: whoever parses a value judges it. InvalidArgument if
/// it is neither, or does not end.
struct RawMember {
    std::string_view name;  // with its quotes; empty in a list
    std::string_view value;
};
Result<std::vector<RawMember>> raw_members(std::string_view text);

}  // namespace braid::ingest
