#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::index {

/// What every backend demands of a chunk before it is written: ids, UTF-8, metadata that can be
/// read back, declared types, labels, and a vector exactly where the schema has vectors. Fills an
/// empty document_id. InvalidArgument says what is wrong, not of which chunk.
Result<> check_chunk(Chunk& chunk, const Schema& schema);

/// The same of what an update brings. What it makes of the metadata is checked after the merge.
Result<> check_update(const MetadataUpdate& update, const Schema& schema);

/// `dimension` is what the vector must have, 0 if that is open; `shown` what an error may say of
/// it, 0 if the caller may not know it.
Result<> check_vector(const std::vector<float>& vector, std::size_t dimension, std::size_t shown,
                      Metric metric);

/// Conflict if the batch's vectors were made by another embedder than the collection's.
Result<> check_embedder(const WriteOptions& options, const Schema& schema,
                        const std::string& collection);

/// InvalidArgument unless exactly one of its members is given.
Result<> check_selector(const DeleteSelector& selector);

}  // namespace braid::index
