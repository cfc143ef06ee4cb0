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
#include "braid/types.hpp"
#include "braid/value.hpp"

/// Turns a chunk into a document of an index, and back.
namespace braid::remote {

/// The id of a chunk's document: a hash, since a cluster's ids are shorter than ours can be.
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

/// Appends one line of JSON that records the removal of the chunk with this id. It stays for a
/// while, so that a request that was held back cannot bring the chunk back (docs/decisions/0105).
/// Searches do not see it: it has no namespace.
void append_removal(std::string& out, Version version);

/// What a write depends on: that the document is still the one that was read, or that there is
/// still none.
struct Dependency {
    bool absent = true;
    std::int64_t sequence = 0;
    std::int64_t term = 0;

    friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// The version of a document as "_mget" returned it.
struct StoredVersion {
    Version version = 0;    // 0: there is no document
    Dependency dependency;  // for a write that follows
};
Result<StoredVersion> read_stored_version(const Value& document);

/// What is stored under an id now.
struct StoredChunk : StoredVersion {  // a chunk or its removal
    std::optional<Chunk> chunk;       // none: there never was one, or it was removed or has expired

    /// The version as callers see it: 0 if there is no chunk.
    Version chunk_version() const { return chunk ? version : 0; }
};

/// The document that "_mget" returned; a chunk that has expired by `now` counts as none. Corruption
/// if it cannot be read.
Result<StoredChunk> read_stored(const Value& document, Timestamp now);

/// The chunk in a document's "_source", with its vector if that is included. Corruption if it
/// cannot be read.
Result<Chunk> read_document(const Value& source);
/// The vector alone.
Result<std::vector<float>> read_vector(const Value& source);

/// A vector in the form in which the index compares it: of length 1 for cosine, and without numbers
/// whose products would overflow. Scores are computed from the vector as it was written.
std::vector<float> indexed_vector(std::span<const float> vector, Metric metric);
void append_numbers(std::string& out, std::span<const float> vector);

}  // namespace braid::remote
