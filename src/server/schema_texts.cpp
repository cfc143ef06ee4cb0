#include "braid/server/schema_texts.hpp"

namespace braid::server {

const std::string_view kRequestSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://braid.example/request.schema.json",
  "title": "braid request",
  "description": "A question, in the one form every door takes. A member that is null counts as absent; what is absent comes from the profile. Of several keys with one meaning (\"same as\") at most one may be given.",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "query": {"type": ["string", "null"], "description": "The question, in plain words."},
    "query_embedding": {"type": ["array", "null"], "items": {"type": "number"}, "maxItems": 65536, "description": "The question as a vector; wins over the embedder."},
    "collection": {"type": ["string", "null"], "minLength": 1, "description": "Where to search; by default the profile's collections, else \"default\"."},
    "collections": {"type": ["array", "null"], "items": {"type": "string", "minLength": 1}, "minItems": 1, "uniqueItems": true, "description": "Several collections, fused in two levels."},
    "namespace": {"type": ["string", "null"], "minLength": 1},
    "profile": {"type": ["string", "null"], "description": "Named set of defaults: default, service, decisions, topic, artifacts, doctrine, or one of the configuration."},
    "strategy": {"$ref": "#/$defs/strategy"},
    "retrieval_mode": {"$ref": "#/$defs/strategy", "description": "Same as strategy."},
    "top_k": {"$ref": "#/$defs/hits", "description": "How many chunks to return."},
    "limit": {"$ref": "#/$defs/hits", "description": "Same as top_k."},
    "kContext": {"$ref": "#/$defs/hits", "description": "Same as top_k."},
    "cursor": {"type": ["string", "null"], "description": "From an earlier answer: its next page."},
    "fusion": {
      "description": "How ranked lists become one: a method's name, or its settings.",
      "anyOf": [
        {"$ref": "#/$defs/method"},
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "method": {"$ref": "#/$defs/method"},
            "k": {"type": ["number", "null"], "description": "rrf; k + rank must be above 0."},
            "rank_base": {"enum": [0, 1, null], "description": "rrf: the first rank."},
            "fill_scores": {"type": ["boolean", "null"], "description": "Give a chunk missing from a leg its true score there; not with rrf."},
            "preset": {"type": ["string", "null"], "description": "Another system's formula: qdrant, elastic, langchain, llamaindex or haystack."}
          }
        }
      ]
    },
    "fusion_method": {"$ref": "#/$defs/method", "description": "Same as fusion."},
    "dense_weight": {"$ref": "#/$defs/share", "description": "Weight a of the dense leg; the sparse leg has 1 - a. Not together with weights."},
    "hybrid_weight": {"$ref": "#/$defs/share", "description": "Same as dense_weight."},
    "alpha": {"$ref": "#/$defs/share", "description": "Same as dense_weight."},
    "weights": {"type": ["object", "null"], "minProperties": 1, "additionalProperties": {"type": "number", "minimum": 0}, "description": "Weight of each source."},
    "dense_top_k": {"$ref": "#/$defs/depth", "description": "Candidates of the dense leg."},
    "kSemantic": {"$ref": "#/$defs/depth", "description": "Same as dense_top_k."},
    "sparse_top_k": {"$ref": "#/$defs/depth", "description": "Candidates of the sparse leg."},
    "kLexical": {"$ref": "#/$defs/depth", "description": "Same as sparse_top_k."},
    "max_hops": {"type": ["integer", "null"], "minimum": 1, "maximum": 100},
    "hop_top_k": {"$ref": "#/$defs/hits", "description": "Chunks fetched per hop."},
    "score_threshold": {"type": ["number", "null"], "description": "Inclusive, on the fused score."},
    "filter": {"$ref": "#/$defs/filter"},
    "metadata_filter": {"$ref": "#/$defs/filter", "description": "Same as filter."},
    "document_ids": {"type": ["array", "null"], "items": {"type": "string"}, "description": "Only chunks of these documents; an empty list matches nothing."},
    "artifact_type": {"$ref": "#/$defs/clause"},
    "sensitivity": {"$ref": "#/$defs/clause"},
    "category": {"$ref": "#/$defs/clause"},
    "stakes": {"$ref": "#/$defs/clause"},
    "project": {"$ref": "#/$defs/clause"},
    "mos_codes": {"type": ["array", "null"], "items": {"type": "string"}, "description": "mos_code is one of these; an empty list filters nothing."},
    "created_after": {"$ref": "#/$defs/time", "description": "created_at is later."},
    "created_before": {"$ref": "#/$defs/time", "description": "created_at is earlier."},
    "expand_query": {"type": ["boolean", "null"], "description": "Search other phrasings too."},
    "use_hyde": {"type": ["boolean", "null"], "description": "Embed a hypothetical answer instead of the question."},
    "query_syntax": {"type": ["boolean", "null"], "description": "Read the question as the query language."},
    "stages": {
      "type": ["array", "null"],
      "maxItems": 32,
      "description": "Steps after fusion, in order: filter_by_recency (days, keep_undated), boost_section_matches (sections, factor), decay_by_age (half_life_days, offset_days, floor), boost_fields (filter, factor), mmr (lambda, candidates), collapse_duplicates, min_score (value), relative_score (fraction), largest_gap (min_hits), rerank (candidates, deadline_ms) where a model is configured, or one of your own.",
      "items": {
        "anyOf": [
          {"type": "string", "minLength": 1},
          {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": ["object", "null"]}}
        ]
      }
    },
    "expand_neighbors": {
      "description": "Chunks before and after each hit to add to its text: true is 1.",
      "anyOf": [{"type": ["boolean", "null"]}, {"type": "integer", "minimum": 0, "maximum": 100}]
    },
    "exact": {"type": ["boolean", "null"], "description": "Exact dense search."},
    "explain": {"type": ["boolean", "null"], "description": "Add what costs extra time to the receipts."},
    "deadline_ms": {"type": ["integer", "null"], "minimum": 1, "maximum": 86400000},
    "text": {"type": ["string", "null"], "description": "The question, beside config."},
    "config": {
      "description": "The members of this object count as if they stood beside it.",
      "anyOf": [
        {"type": "null"},
        {"$ref": "#", "propertyNames": {"not": {"enum": ["text", "config"]}}}
      ]
    }
  },
  "dependentRequired": {"text": ["config"]},
  "$defs": {
    "strategy": {"enum": ["dense", "sparse", "hybrid", "multi_hop", "semantic", "keyword", null]},
    "method": {"enum": ["rrf", "weighted_sum", "dbsf", "auto", null]},
    "hits": {"type": ["integer", "null"], "minimum": 1, "maximum": 10000},
    "depth": {"type": ["integer", "null"], "minimum": 1, "maximum": 100000},
    "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
    "filter": {"type": ["object", "null"], "description": "Condition on fields and metadata, in Mongo's style: {\"year\": {\"$gte\": 2020}}."},
    "clause": {
      "description": "The field equals this value, or one of these; added to the filter.",
      "anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": {"type": "string"}}]
    },
    "time": {"type": ["string", "null"], "format": "date-time"}
  },
  "examples": [
    {"query": "when do foxes hunt?"},
    {"query": "CSRF protection", "profile": "decisions", "retrieval_mode": "hybrid", "hybrid_weight": 0.7, "top_k": 10},
    {"query": "dose response", "namespace": "cardiology", "profile": "topic", "alpha": 0.6, "kSemantic": 200, "kLexical": 200, "kContext": 30},
    {"text": "bridge crossing", "namespace": "arcnet_doctrine", "config": {"strategy": "hybrid", "top_k": 10, "dense_weight": 0.6, "fusion_method": "rrf", "score_threshold": null, "metadata_filter": {"mos_code": {"$in": ["12B"]}}, "expand_query": false}},
    {"query": "budget", "collections": ["artifacts", "artifact_chunks"], "fusion": {"method": "rrf", "k": 60, "rank_base": 0}, "weights": {"dense": 2, "sparse": 1}, "stages": [{"boost_section_matches": {"factor": 1.2}}, "filter_by_recency"], "expand_neighbors": true, "artifact_type": ["doc", "email"], "created_after": "2025-12-25T10:00:00Z", "deadline_ms": 500},
    {"query_embedding": [0.25, -1, 3.5e-3], "strategy": "dense", "exact": true}
  ]
})json";

const std::string_view kAnswerSchema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "https://braid.example/answer.schema.json",
  "title": "braid answer",
  "description": "The chunks found for a question, why each stands where it does, and what was done to find them.",
  "type": "object",
  "additionalProperties": false,
  "required": ["query", "chunks", "total_candidates", "strategy_used", "latency_ms", "dense_candidates", "sparse_candidates", "query_embedding_time_ms", "query_embedding_cached", "sources", "complete", "warnings", "unused", "suggestions", "cursor", "timings"],
  "properties": {
    "query": {"type": "string"},
    "chunks": {"type": "array", "items": {"$ref": "#/$defs/hit"}},
    "total_candidates": {"$ref": "#/$defs/count", "description": "Sum over the legs."},
    "strategy_used": {"$ref": "#/$defs/strategy", "description": "The one asked for; sources says what ran."},
    "latency_ms": {"type": "number"},
    "dense_candidates": {"$ref": "#/$defs/count"},
    "sparse_candidates": {"$ref": "#/$defs/count"},
    "query_embedding_time_ms": {"type": "number"},
    "query_embedding_cached": {"type": ["boolean", "null"], "description": "null: the embedder was not asked."},
    "sources": {"type": "array", "items": {"$ref": "#/$defs/report"}},
    "complete": {"type": "boolean", "description": "Every leg asked for ran, and no match was left out for want of one."},
    "warnings": {"type": "array", "items": {"type": "string"}},
    "unused": {"type": "array", "items": {"type": "string"}, "description": "Parameters given that the chosen method does not use."},
    "suggestions": {
      "type": "array",
      "description": "Of an answer without hits: words of the query that no chunk holds, and words near them that some do.",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["word", "instead", "chunks"],
        "properties": {"word": {"type": "string"}, "instead": {"type": "string"}, "chunks": {"$ref": "#/$defs/count"}}
      }
    },
    "cursor": {"type": ["string", "null"], "description": "Asks for the next page; null: this was the last."},
    "timings": {
      "type": "object",
      "additionalProperties": false,
      "required": ["preprocess_ms", "load_ms", "embed_ms", "dense_ms", "sparse_ms", "fusion_ms", "hydrate_ms", "total_ms"],
      "properties": {
        "preprocess_ms": {"type": "number", "description": "A language model's work on the query."},
        "load_ms": {"type": "number", "description": "Loading an embedder that nobody had needed before."},
        "embed_ms": {"type": "number"},
        "dense_ms": {"type": "number"},
        "sparse_ms": {"type": "number"},
        "fusion_ms": {"type": "number"},
        "hydrate_ms": {"type": "number"},
        "total_ms": {"type": "number"}
      }
    }
  },
  "$defs": {
    "count": {"type": "integer", "minimum": 0},
    "strategy": {"enum": ["dense", "sparse", "hybrid", "multi_hop"]},
    "hit": {
      "type": "object",
      "additionalProperties": false,
      "required": ["chunk_id", "document_id", "content", "score", "rank", "retrieval_strategy", "dense_score", "sparse_score", "metadata", "section_title", "chunk_index", "collection", "namespace", "title", "created_at", "sensitivity", "visibility_scope", "version", "receipt"],
      "properties": {
        "chunk_id": {"type": "string"},
        "document_id": {"type": "string"},
        "content": {"type": "string"},
        "score": {"type": "number"},
        "rank": {"type": "integer", "minimum": 1},
        "retrieval_strategy": {"$ref": "#/$defs/strategy"},
        "dense_score": {"type": ["number", "null"], "description": "Raw; higher is better."},
        "sparse_score": {"type": ["number", "null"]},
        "metadata": {"type": "object"},
        "section_title": {"type": ["string", "null"]},
        "chunk_index": {"type": ["integer", "null"]},
        "collection": {"type": "string"},
        "namespace": {"type": "string"},
        "title": {"type": ["string", "null"]},
        "created_at": {"type": ["string", "null"], "format": "date-time"},
        "sensitivity": {"type": ["string", "null"]},
        "visibility_scope": {"type": "array", "items": {"type": "string"}},
        "version": {"$ref": "#/$defs/count"},
        "vector": {"type": "array", "items": {"type": "number"}},
        "expanded": {"type": "string", "description": "The text with its neighbours, when asked for."},
        "receipt": {"$ref": "#/$defs/receipt"}
      }
    },
    "receipt": {
      "description": "The arithmetic behind one score; recomputing it gives the same bits.",
      "type": "object",
      "additionalProperties": false,
      "required": ["fusion", "sources", "fused", "stages", "score"],
      "properties": {
        "fusion": {
          "type": "object",
          "additionalProperties": false,
          "required": ["method"],
          "properties": {
            "method": {"type": "string", "description": "\"none\": one list, its scores as they are."},
            "preset": {"type": "string", "description": "Whose formula, if not braid's own."},
            "k": {"type": "number"},
            "rank_base": {"enum": [0, 1]},
            "sources_fused": {"$ref": "#/$defs/count", "description": "rrf of the preset haystack: how many lists, those without the hit too."},
            "lists": {
              "description": "Statistics a normalising method took from each list.",
              "type": "object",
              "additionalProperties": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "min": {"type": "number"},
                  "max": {"type": "number"},
                  "mean": {"type": "number"},
                  "std": {"type": "number"}
                }
              }
            }
          }
        },
        "sources": {
          "description": "Contributions are added in this order; a list that does not hold the hit is left out.",
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["source", "score", "weight", "contribution"],
            "properties": {
              "source": {"type": "string"},
              "score": {"type": "number"},
              "distance": {"type": "number"},
              "rank": {"$ref": "#/$defs/count"},
              "normalized": {"type": "number"},
              "weight": {"type": "number"},
              "contribution": {"type": "number"},
              "filled": {"type": "boolean", "description": "Not in the list; scored afterwards."},
              "chunk_id": {"type": "string", "description": "Of a collection: the chunk that stood for the artifact."},
              "receipt": {"$ref": "#/$defs/receipt", "description": "Of a collection: how the chunk came to stand in its own list."}
            }
          }
        },
        "fused": {"type": "number"},
        "stages": {
          "type": "array",
          "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["stage", "operation", "value", "score"],
            "properties": {
              "stage": {"type": "string"},
              "operation": {"type": "string", "description": "multiply, divide, add, replace; keep: the score reached the value."},
              "value": {"type": "number"},
              "score": {"type": "number", "description": "After the stage."},
              "detail": {"type": "object", "description": "The numbers behind the value."}
            }
          }
        },
        "score": {"type": "number"}
      }
    },
    "report": {
      "description": "What one leg did.",
      "type": "object",
      "additionalProperties": false,
      "required": ["source", "collection", "ran", "candidates", "depth", "matched", "exact", "time_ms", "method"],
      "properties": {
        "source": {"type": "string"},
        "collection": {"type": "string"},
        "ran": {"type": "boolean"},
        "candidates": {"$ref": "#/$defs/count", "description": "Handed to fusion."},
        "depth": {"$ref": "#/$defs/count", "description": "Asked for."},
        "matched": {"$ref": "#/$defs/count", "description": "Chunks that could have been candidates."},
        "exact": {"type": "boolean"},
        "time_ms": {"type": "number"},
        "method": {"type": "string"},
        "error": {"type": "string", "description": "Why it did not run, or failed."}
      }
    }
  }
})json";

}  // namespace braid::server
