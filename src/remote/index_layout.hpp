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

/// The dimension that vectors of an index may have at most.
inline constexpr std::size_t kMostDimensions = 16'000;

/// Names of collections may have upper-case letters, but index names are lower case.
std::string index_name(const std::string& prefix, std::string_view collection);
/// The same, for the path of a URL.
std::string index_path(const std::string& prefix, std::string_view collection);

/// Fields are weighted by repeating their terms, so weights are made whole numbers: each times
/// `scale`, rounded, and at least 1. k1 is multiplied by the scale too, which leaves every score
/// unchanged.
struct WholeWeights {
    std::vector<int> weights;  // in the schema's order
    int scale = 1;
};
WholeWeights whole_weights(const Schema& schema);

/// What an index says about its collection.
struct IndexMeta {
    std::string collection;
    Schema schema;              // as it was declared
    bool filling = false;       // creation has begun but not finished
    std::size_t dimension = 0;  // of its vectors; 0: none yet
    bool expires = false;       // some chunk written here expires
    Version made = 0;           // distinguishes creations under the same name
    /// Keeps where words stand and which there are: for the query language and misspelt words.
    /// Collections of earlier versions do not.
    bool keeps_places = true;
};

/// Between terms that stand at one position, in the field "places" and in queries.
inline constexpr char kBesides = '\x01';
/// A position at which nothing stands.
inline constexpr std::string_view kGap = ".";
/// A term as "places" has it, where it tells the text fields apart.
std::string placed_term(std::size_t field, std::string_view term);

/// An alias that no other index gets, not even a later one of the same collection. Writes go to it,
/// so that a late one finds nothing, instead of a namesake or an index that it would itself create.
std::string own_name(const std::string& prefix, const IndexMeta& meta);

/// Unsupported for what a cluster cannot do: Okapi, or vectors with more than kMostDimensions.
Result<> check_supported(const Schema& schema);

/// The body that creates the index.
Value index_body(const IndexMeta& meta, const RemoteOptions& options);
/// The body that changes its mapping: what it says about itself, its vectors with that dimension
/// unless that is 0, and when chunks expire, if some do.
Value mapping_body(const IndexMeta& meta);
/// The inverse, from what the cluster returns under "mappings". NotFound if the index is not one of
/// ours, Corruption if its description cannot be read.
Result<IndexMeta> read_mapping(const Value& mappings);

/// "innerproduct" or "l2". For cosine, vectors are indexed with length 1: vectors of the same
/// direction then score the same, which "cosinesimil" does not guarantee.
std::string_view space_of(Metric metric) noexcept;

}  // namespace braid::remote
