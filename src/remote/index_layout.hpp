#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/remote/backend.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

/// How a collection becomes an index (docs/decisions/0055).
namespace braid::remote {

/// What the vectors of an index may have.
inline constexpr std::size_t kMostDimensions = 16'000;

/// Letters of either case make names of collections, but an index is written in lower case.
std::string index_name(const std::string& prefix, std::string_view collection);
/// The same, for a path of a URL.
std::string index_path(const std::string& prefix, std::string_view collection);

/// Fields are weighted by repeating their terms, so weights are made whole: each of them times
/// `scale`, rounded, at least 1. k1 is multiplied by the scale, which leaves every score as it was.
struct WholeWeights {
    std::vector<int> weights;  // in the schema's order
    int scale = 1;
};
WholeWeights whole_weights(const Schema& schema);

/// What an index says of its collection.
struct IndexMeta {
    std::string collection;
    Schema schema;              // as it was declared
    bool filling = false;       // begun, not finished
    std::size_t dimension = 0;  // of its vectors; 0: none yet
    bool expires = false;       // some chunk was written that expires
    Version made = 0;           // tells one creation from another of the same name
};

/// An alias that no other index gets, not even a later one of the same collection. Writes go to it,
/// so that a late one finds nothing, instead of a namesake or an index that it makes itself.
std::string own_name(const std::string& prefix, const IndexMeta& meta);

/// Unsupported for what a cluster cannot do: Okapi, vectors beyond kMostDimensions.
Result<> check_supported(const Schema& schema);

/// The body that creates the index.
Value index_body(const IndexMeta& meta, const RemoteOptions& options);
/// The body that changes its mapping: who it is, the vectors of that dimension, if it is not 0, and
/// when chunks expire, if some do.
Value mapping_body(const IndexMeta& meta);
/// The inverse, of what the cluster says under "mappings". NotFound if the index is none of ours,
/// Corruption if what it says cannot be read.
Result<IndexMeta> read_mapping(const Value& mappings);

/// "innerproduct" or "l2". For cosine, vectors are indexed with length 1: vectors of one direction
/// then score the same, which "cosinesimil" does not see to.
std::string_view space_of(Metric metric) noexcept;

}  // namespace braid::remote
