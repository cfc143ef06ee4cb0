#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::index {

/// What every backend requires of a chunk before it is written: ids, UTF-8, metadata that can be
/// read back, declared types, labels, and a vector exactly if the schema has vectors. Fills in an
/// empty document_id. InvalidArgument says what is wrong, but not with which chunk.
Result<> check_chunk(Chunk& chunk, const Schema& schema);

/// The same for what an update brings. The resulting metadata is checked after the merge.
Result<> check_update(const MetadataUpdate& update, const Schema& schema);

/// `dimension` is what the vector must have, 0 if that is open; `shown` is what an error may say
/// about it, 0 if the caller may not know it.
Result<> check_vector(const std::vector<float>& vector, std::size_t dimension, std::size_t shown,
                      Metric metric);

/// Conflict if the batch's vectors were made by another embedder than the collection's.
Result<> check_embedder(const WriteOptions& options, const Schema& schema,
                        const std::string& collection);

/// InvalidArgument unless exactly one of its members is given.
Result<> check_selector(const DeleteSelector& selector);

/// Why a batch is refused, in the same words by every backend. The first two are InvalidArgument,
/// the third is NotFound, the others are Conflict.
tl::unexpected<Error> named_twice(std::string_view chunk_id);
tl::unexpected<Error> updated_twice();
tl::unexpected<Error> nothing_to_update(std::string_view chunk_id, std::string_view namespace_);
/// The id belongs to a chunk that the writer may not see.
tl::unexpected<Error> id_taken(std::string_view chunk_id);
tl::unexpected<Error> wrong_version(std::string_view chunk_id, Version found, Version expected);
/// Replacing a document would overwrite a chunk of another, `owner`.
tl::unexpected<Error> owned_elsewhere(std::string_view chunk_id, std::string_view owner,
                                      std::string_view document_id);

/// Why a collection whose creation has not finished cannot be read.
inline constexpr const char* kUnfilled =
    "its import is under way or was interrupted; drop it, or import it again";
/// AlreadyExists: no second collection of that name can be created.
tl::unexpected<Error> name_in_use(std::string_view collection);
/// Conflict: only a collection that is being filled can be finished.
tl::unexpected<Error> not_being_filled(std::string_view collection);

}  // namespace braid::index
