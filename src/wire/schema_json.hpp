#pragma once

#include <span>
#include <string>
#include <vector>

#include "braid/collection.hpp"
#include "braid/filter.hpp"
#include "braid/result.hpp"
#include "braid/value.hpp"

namespace braid::wire {

/// Reads a collection's schema; what is absent has its default:
///
///     {"text_fields": {"title": 2.0, "content": 1.0}, "analyzer": "standard",
///      "language": "english", "stop_words": false, "positions": false,
///      "bm25": {"variant": "lucene", "k1": 1.2, "b": 0.75, "epsilon": 0.25},
///      "embedder": "external", "dimension": 384, "metric": "cosine", "precision": "f32",
///      "fingerprint": {...},
///      "metadata": {"year": "number"}, "levels": {"names": [...], "default": "normal"}}
///
/// InvalidArgument for an unknown key or a value that does not fit; validate() is called too.
Result<Schema> schema_from_value(const Value& json);
/// The inverse, complete: schema_from_value(schema_to_value(s)) equals s.
Value schema_to_value(const Schema& schema);

/// A collection as `collections --json` lists it.
Value collection_to_value(const CollectionInfo& info);
/// The inverse, without the bytes on disk.
Result<CollectionInfo> collection_from_value(const Value& json);

/// `{"collection", "namespace", "chunks", "documents", "vectors", "terms", "average_length",
/// "bytes_on_disk", "bytes_by_part": {"log", "documents", "words", …}, "resident_bytes"}`, and
/// "dense" where there are many vectors, "index": {"segments", "in_memory", "pending"} where there
/// are files of segments.
Value stats_to_value(const std::string& collection, const std::string& namespace_,
                     const CollectionStats& stats);
/// The inverse.
Result<CollectionStats> stats_from_value(const Value& json);

/// `{"field", "values": [{"value", "count"}]}`.
Value facets_to_value(const std::string& field, std::span<const FacetCount> facets);
/// The inverse.
Result<std::vector<FacetCount>> facets_from_value(const Value& json);

}  // namespace braid::wire
