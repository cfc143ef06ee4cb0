#pragma once

#include <span>
#include <string_view>

#include "braid/result.hpp"
#include "braid/types.hpp"

namespace braid::fusion {

struct Options;

/// Whose formulas: braid's own, or those of another system, for the methods it has.
///   qdrant      rrf: k 2, rank from 0, 1 / (k + (rank + 1) / w - 1)
///               dbsf: (x - mean) / (6 std) + 1/2 with the sample's std, added up; equal: 0.5
///   elastic     rrf: k 60, rank from 1, w / (k + rank)
///               weighted_sum: w (x - min) / (max - min); closer than 1e-6: the score itself
///   langchain   rrf: k 60, rank from 1, w / (k + rank); an id twice in a list counts twice
///   llamaindex  rrf: k 60, rank from 0, weights ignored
///               weighted_sum: w (x - min) / (max - min); equal: 1 if above 0, else 0
///               dbsf: w ((x - mean) / (6 std) + 1/2), added up; equal: as weighted_sum
///   haystack    rrf: k 61, rank from 0, sum of w n / (k + rank) divided by n / k, where n is the
///               number of lists and w a share of the weights' sum
///               dbsf: the largest of (x - mean) / (6 std) + 1/2; equal: 0
enum class Preset { None, Qdrant, Elastic, LangChain, LlamaIndex, Haystack };

/// "qdrant", "elastic", ...; empty for None.
std::string_view name_of(Preset preset) noexcept;
/// All but None.
std::span<const std::string_view> preset_names() noexcept;

/// The options with which fuse() computes a method as that system does. InvalidArgument, naming
/// what there is, for an unknown preset or a method that it does not have.
Result<Options> preset_options(std::string_view name, FusionMethod method);

/// False if the method, as the options' preset computes it, takes no account of weights.
bool uses_weights(const Options& options) noexcept;

}  // namespace braid::fusion
