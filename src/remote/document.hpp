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

/// Appends one line of JSON: that the chunk of this id was removed. It stays for a while, so that
/// a request that was held back cannot make the chunk again (docs/decisions/0105). Searches do not
/// see it: it has no namespace.
void append_removal(std::string& out, Version version);

/// What a write depends on: that the document is still the one that was read, or that there is
/// none.
struct Dependency {
    bool absent = true;
    std::int64_t sequence = 0;
    std::int64_t term = 0;

    friend bool operator==(const Dependency&, const Dependency&) = default;
};

/// Which version of a document "_mget" gave.
struct StoredVersion {
    Version version = 0;    // 0: there is no document
    Dependency dependency;  // of a write that follows it
};
Result<StoredVersion> read_stored_version(const Value& document);

/// What is stored under an id now.
struct StoredChunk : StoredVersion {  // of the chunk or of its removal
    std::optional<Chunk> chunk;       // none: there never was one, it was removed, or has expired

    /// As callers count versions: 0 where there is no chunk.
    Version chunk_version() const { return chunk ? version : 0; }
};

/// The document that "_mget" gave; a chunk that has expired by `now` is none. Corruption if it
/// cannot be read.
Result<StoredChunk> read_stored(const Value& document, Timestamp now);

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
