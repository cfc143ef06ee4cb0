#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::apps {

/// How the collections that an application searches are filled from files.
struct Filling {
    std::string collection;  // of the chunks
    std::string documents;   // of the same documents, whole; empty: none
    Object schema;           // of a new collection, but for its embedder
    Object other_schema;     // where a database does not offer that one; empty: none
    std::string other_note;  // what to tell then
    /// Makes a chunk, as wire::chunk_from_value reads it, of a JSON line; none: lines are chunks.
    std::function<Result<Value>(Value line)> record;
};

/// By the name of the application's profile. InvalidArgument, with the names there are, if it is of
/// a profile that says nothing about what is stored.
Result<Filling> filling(std::string_view profile);

}  // namespace braid::apps
