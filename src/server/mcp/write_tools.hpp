#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/service/caller.hpp"
#include "braid/service/operations.hpp"
#include "braid/value.hpp"

namespace braid::server {

/// Tools that change what is stored; tool_texts.cpp describes their parameters and results. None of
/// them lets an agent declare its text trustworthy: "trust" is refused in "metadata".
Result<Value> remember(const service::Operations& operations, const Object& arguments,
                       const service::Caller& caller);

/// What a caller hands in: the bytes of a file, or a text. Nothing named here is ever opened.
struct NewDocument {
    std::string id;
    std::string name;  // of the file: says what the bytes are, where they do not themselves
    std::string bytes;
    std::optional<std::string> title;
    Object metadata;
};
/// Cuts it into chunks, replacing what the document had (ingest/read_source.hpp).
Result<Value> ingest_document(const service::Operations& operations, NewDocument document,
                              const ReadScope& scope, const service::Caller& caller);

/// The same from JSON: "text", or "content_base64" with the "name" of the file; into `collection`
/// unless another is named.
Result<Value> ingest_text(const service::Operations& operations, const Object& arguments,
                          const service::Caller& caller, std::string_view collection);
Result<Value> ingest_text(const service::Operations& operations, const Object& arguments,
                          const service::Caller& caller);
Result<Value> forget(const service::Operations& operations, const Object& arguments,
                     const service::Caller& caller);

}  // namespace braid::server
