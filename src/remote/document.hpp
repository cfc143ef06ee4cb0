#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/collection.hpp"
#include "braid/remote/index_layout.hpp"
#include "braid/result.hpp"
#include "braid/text/analyzer.hpp"
#include "braid/value.hpp"

/// How a chunk becomes a document of an index, and a document a chunk again.
namespace braid::remote {

/// The id of a chunk's document: a hash, since ids of a cluster are shorter than ours can be.
std::string document_key(std::string_view namespace_, std::string_view chunk_id);

/// What the documents of one collection have in common.
struct DocumentForm {
    const Schema& schema;
    const text::Analyzer& analyzer;
    const WholeWeights& weights;
};

/// Appends one line of JSON. The chunk must have its version.
void append_document(std::string& out, const std::string& namespace_, const Chunk& chunk,
                     const DocumentForm& form);

/// A document as it is now, and what a write that depends on it must name.
struct StoredChunk {
    Chunk chunk;
    std::int64_t sequence = 0;
    std::int64_t term = 0;
};

/// The chunk in a document's "_source"; its vector if that is there. Corruption if it cannot be
/// read.
Result<Chunk> read_document(const Value& source);
/// The vector alone.
Result<std::vector<float>> read_vector(const Value& source);

/// A vector in the form in which the index compares it: of length 1 for cosine, and without numbers
/// whose products would overflow. Scores come from the vector as it was written.
std::vector<float> indexed_vector(std::span<const float> vector, Metric metric);
void append_numbers(std::string& out, std::span<const float> vector);

}  // namespace braid::remote
