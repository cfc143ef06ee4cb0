#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "values.hpp"

namespace braid::python {

/// The chunks of one `add`, and what is to be said about them.
struct ChunkBatch {
    std::vector<Chunk> chunks;
    std::vector<std::string> warnings;
    bool has_vectors = false;
};

/// Each chunk is a text or a dict in the words of wire/chunk_json.hpp, its "vector" or "embedding"
/// an array or a list; or row i of `vectors` is the vector of chunk i. A chunk that names another
/// namespace is refused. Needs the GIL.
ChunkBatch read_chunks(nb::list chunks, nb::handle vectors, const std::string& namespace_);

/// The schema of a collection that the write creates; none: that of the database's embedder.
std::optional<Schema> read_schema(nb::handle schema, bool has_vectors);

}  // namespace braid::python
