#include "braid/server/http/schema_texts.hpp"

namespace braid::server {

const std::string_view kRestSchemas = R"json({
  "Problem": {"description": "RFC 9457.", "type": "object", "properties": {"type": {"type":
    "string"}, "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type":
    "string"}, "instance": {"type": "string", "description": "The request's id."}, "code":
    {"type": "string", "description": "Stable name of the error."}}, "required": ["type",
    "title", "status", "detail", "instance", "code"]},
  "Error": {"type": "object", "properties": {"code": {"type": "string"}, "message": {"type":
    "string"}}, "required": ["code", "message"]},
  "Requests": {"type": "object", "properties": {"requests": {"type": "array", "items": {"$ref":
    "#/$defs/Request"}, "minItems": 1, "maxItems": 100}}, "required": ["requests"],
    "additionalProperties": false},
  "Answers": {"type": "object", "properties": {"answers": {"type": "array", "items": {"anyOf":
    [{"$ref": "#/$defs/Answer"}, {"type": "object", "properties": {"error": {"$ref":
    "#/$defs/Error"}}, "required": ["error"]}]}}}, "required": ["answers"]},
  "HybridSearch": {"type": "object", "properties": {"query": {"type": "string"}, "limit":
    {"type": ["integer", "null"], "default": 5, "description":
    "1 to 50, or to MAX_HYBRID_SEARCH_RESULTS."}, "include_memory":
    {"type": ["boolean", "null"]}, "include_history": {"type": ["boolean", "null"]},
    "expand_neighbors": {"type": ["boolean", "null"]}, "query_syntax": {"type":
    ["boolean", "null"]}, "typos": {"enum": ["auto", "off", null]}, "filters": {"type": ["object", "null"], "description":
    "artifact_type, sensitivity, created_after, created_before, document_ids, or any condition on metadata."},
    "collections": {"type": ["array", "null"], "items": {"type": "string"}, "minItems": 1,
    "description": "Where to search instead of artifacts and artifact_chunks."}, "across": {"enum":
    ["ranks", "scores", null], "description": "How collections compare."}, "namespace": {"type":
    ["string", "null"]}, "topicId": {"type": ["string", "null"], "description":
    "Same as namespace."}, "deadline_ms": {"type": ["integer", "null"], "minimum": 1}},
    "required": ["query"], "additionalProperties": false},
  "DoctrineRequest": {"type": "object", "properties": {"mission_text": {"type": "string"},
    "mos_codes": {"type": ["array", "null"], "items": {"type": "string"}, "description":
    "None, or an empty list: any."}, "collection": {"type": ["string", "null"], "default":
    "default"}, "deadline_ms": {"type": ["integer", "null"], "minimum": 1}}, "required":
    ["mission_text"], "additionalProperties": false},
  "ContextRequest": {"description": "A request, and how many tokens the passages may have.",
    "type": "object", "allOf": [{"$ref": "#/$defs/RequestMembers"}], "properties": {"budget":
    {"type": ["integer", "null"], "minimum": 1, "maximum": 1000000, "default": 2000}}},
  "Context": {"type": "object", "properties": {"query": {"type": "string"}, "text": {"type":
    "string"}, "passages": {"type": "array", "items": {"type": "object", "properties":
    {"marker": {"type": "string"}, "collection": {"type": "string"}, "document_id": {"type":
    "string"}, "chunk_ids": {"type": "array", "items": {"type": "string"}}, "title": {"type":
    "string"}, "section_title": {"type": "string"}, "source": {"type": "string"}, "trust":
    {"type": "string"}, "text": {"type": "string"}, "tokens": {"type": "integer"}, "rank":
    {"type": "integer"}, "score": {"type": "number"}}, "required": ["marker", "collection",
    "document_id", "chunk_ids", "source", "trust", "text", "tokens"]}}, "budget":
    {"type": "integer"}, "tokens": {"type": "integer"}, "tokens_estimated": {"type": "boolean"},
    "left_out": {"type": "integer"}, "phrasings": {"type": "array", "items": {"type": "string"}},
    "hypothetical_answer": {"type": ["string", "null"]}, "complete": {"type": "boolean"},
    "warnings": {"type": "array", "items": {"type": "string"}}, "unused": {"type": "array",
    "items": {"type": "string"}}, "latency_ms": {"type": "number"}}, "required": ["query", "text",
    "passages", "budget", "tokens", "phrasings", "hypothetical_answer", "complete", "warnings",
    "unused"]},
  "ExplainRequest": {"description": "A request, and the chunk to explain.", "type": "object",
    "allOf": [{"$ref": "#/$defs/RequestMembers"}], "properties": {"chunk_id": {"type":
    "string"}}, "required": ["chunk_id"]},
  "Explanation": {"type": "object", "properties": {"collection": {"type": "string"}, "chunk_id":
    {"type": "string"}, "legs": {"type": "array", "items": {"type": "object", "properties":
    {"source": {"type": "string"}, "score": {"type": ["number", "null"]}, "rank": {"type":
    ["integer", "null"]}, "depth": {"type": "integer"}}, "required": ["source", "score", "rank",
    "depth"]}}, "shown": {"type": "boolean"}, "hit": {"anyOf": [{"$ref": "#/$defs/Answer_hit"},
    {"type": "null"}]}, "phrasings": {"type": "array", "items": {"type": "string"}},
    "hypothetical_answer": {"type": ["string", "null"]}, "complete": {"type": "boolean"},
    "warnings": {"type": "array", "items": {"type": "string"}}, "unused": {"type": "array",
    "items": {"type": "string"}}}, "required": ["collection", "chunk_id", "legs", "shown", "hit",
    "phrasings", "hypothetical_answer", "complete", "warnings", "unused"]},
  "WhyNot": {"type": "object", "properties": {"lost_at": {"type": ["string", "null"]}, "reason":
    {"type": "string"}, "change": {"anyOf": [{"type": "object", "properties": {"key": {"type":
    "string"}, "value": true}, "required": ["key", "value"]}, {"type": "null"}]}, "explanation":
    {"$ref": "#/$defs/Explanation"}}, "required": ["lost_at", "reason", "change",
    "explanation"]},
  "EvalRequest": {"type": "object", "properties": {"queries": {"type": "array", "minItems": 1,
    "maxItems": 1000, "items": {"type": "object", "properties": {"id": {"type": "string"},
    "text": {"type": "string"}}, "required": ["id", "text"], "additionalProperties": false}},
    "qrels": {"type": "object", "minProperties": 1, "description":
    "Query id to document id to relevance.", "additionalProperties": {"type": "object",
    "minProperties": 1, "additionalProperties": {"type": "integer", "minimum": -1000000,
    "maximum": 1000000}}}, "request": {"description":
    "How to search: a request without a query.", "anyOf": [{"$ref": "#/$defs/Request"}, {"type":
    "null"}]}, "measures": {"type": ["array", "null"], "items": {"type": "string"},
    "description": "nDCG@10, AP, RR@10, P@5, R@100, ..."}, "documents": {"type": ["integer",
    "null"], "minimum": 1, "default": 100}, "per_query": {"type": ["boolean", "null"]}},
    "required": ["queries", "qrels"], "additionalProperties": false},
  "Evaluation": {"type": "object", "properties": {"runs": {"type": "array", "items": {"type":
    "object", "properties": {"name": {"type": "string"}, "measures": {"type": "object"},
    "intervals": {"type": "object"}}}}, "queries": {"type": "integer"}, "per_query": {"type":
    "array"}, "timings": {"type": "object"}}, "required": ["runs", "queries", "timings"]},
  "Schema": {"type": "object", "description": "Missing members take their defaults.", "properties":
    {"text_fields": {"type": ["object", "null"]}, "analyzer": {"type": ["string", "null"]},
    "language": {"type": ["string", "null"]}, "stop_words": {"type": ["boolean", "null"]},
    "positions": {"type": ["boolean", "null"], "description": "Store the positions of words: faster phrases."},
    "bm25": {"type": ["object", "null"]}, "embedder": {"type": ["string", "null"],
    "description": "\"none\", \"external\" (you bring vectors), or an embedder's name."},
    "dimension": {"type": ["integer", "null"]}, "metric": {"enum": ["cosine", "dot",
    "euclidean", null]}, "precision": {"enum": ["f32", "f16", "int8", null]}, "metadata": {"type": ["object", "null"]}, "levels": {"type": ["object",
    "null"]}}},
  "NewCollection": {"type": "object", "properties": {"name": {"type": "string", "description":
    "What it is called.", "pattern": "^[A-Za-z0-9_-]{1,100}$"}, "schema": {"anyOf": [{"$ref": "#/$defs/Schema"}, {"type":
    "null"}]}, "unfinished": {"type": ["boolean", "null"], "description":
    "It cannot be read before braid.finish_collection."}}, "required": ["name"],
    "additionalProperties": false},
  "Collection": {"type": "object", "properties": {"name": {"type": "string"}, "chunks": {"type":
    "integer"}, "documents": {"type": "integer"}, "namespaces": {"type": "array", "items":
    {"type": "string"}}, "schema": {"$ref": "#/$defs/Schema"}}, "required": ["name"]},
  "Collections": {"type": "object", "properties": {"collections": {"type": "array", "items":
    {"$ref": "#/$defs/Collection"}}}, "required": ["collections"]},
  "Dropped": {"type": "object", "properties": {"collection": {"type": "string"}, "dropped":
    {"type": "boolean"}}, "required": ["collection", "dropped"]},
  "Stats": {"type": "object", "properties": {"collection": {"type": "string"}, "namespace":
    {"type": "string"}, "chunks": {"type": "integer"}, "documents": {"type": "integer"},
    "vectors": {"type": "integer"}, "terms": {"type": "integer"}, "average_length": {"type":
    "number"}, "bytes_on_disk": {"type": "integer"}, "bytes_by_part": {"type": "object",
    "additionalProperties": {"type": "integer"}}, "resident_bytes": {"type": "integer"},
    "dense": {"type": "object", "description":
    "For many vectors: how many are in graphs, and the measured recall of searches.",
    "properties": {"in_graphs": {"type": "integer"}, "calibrated": {"type": "integer"}, "queries":
    {"type": "integer"}, "asked": {"type": "integer"}, "points": {"type": "array", "items":
    {"type": "object"}}}}, "index": {"type": "object", "description":
    "For all namespaces: the files that searches read, chunks in no file yet, and pending work.",
    "properties": {"segments": {"type": "array", "items": {"type": "object", "properties":
    {"file": {"type": "string"}, "chunks": {"type": "integer"}, "dead": {"type": "integer"},
    "vectors": {"type": "integer"}, "bytes": {"type": "integer"}, "graph_bytes": {"type":
    "integer"}}}}, "in_memory": {"type": "integer"}, "pending": {"type": "array", "items": {"enum":
    ["flush", "merge", "graph", "calibration"]}}}}, "probes": {"type": "object", "description":
    "How well each leg finds chunks by questions made from them, and the scores of random pairs.",
    "properties": {"chunks": {"type": "integer"}, "among": {"type": "integer"}, "kinds": {"type":
    "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "asked": {"type":
    "integer"}, "dense": {"type": "number"}, "sparse": {"type": "number"}}}}, "random_dense": {"type":
    "object"}, "random_sparse": {"type": "object"}}}}, "required": ["collection", "namespace",
    "chunks", "documents"]},
  "FacetsRequest": {"type": "object", "properties": {"field": {"type": ["string", "null"],
    "description": "Without one: the metadata fields, and how many chunks have each."}, "limit":
    {"type": ["integer", "null"], "minimum": 1, "maximum": 10000, "default": 20}, "namespace":
    {"type": ["string", "null"]}, "filter": {"type": ["object", "null"]}},
    "additionalProperties": false},
  "Facets": {"type": "object", "properties": {"field": {"type": "string"}, "values": {"type":
    "array", "items": {"type": "object", "properties": {"value": true, "count": {"type":
    "integer"}}, "required": ["value", "count"]}}}, "required": ["field", "values"]},
  "HighlightRequest": {"type": "object", "properties": {"query": {"type": "string"}, "texts":
    {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1000}, "window":
    {"type": ["integer", "null"], "minimum": 1, "maximum": 100000, "default": 300, "description":
    "Code points of the passage."}, "namespace": {"type": ["string", "null"]}}, "required":
    ["query", "texts"], "additionalProperties": false},
  "Range": {"type": "array", "description": "From the first code point to the one after the last.",
    "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
  "Highlights": {"type": "object", "properties": {"texts": {"type": "array", "items": {"type":
    "object", "properties": {"matches": {"type": "array", "items": {"$ref": "#/$defs/Range"}},
    "window": {"$ref": "#/$defs/Range"}}, "required": ["matches", "window"]}}}, "required":
    ["texts"]},
  "WhoAmI": {"type": "object", "properties": {"name": {"type": ["string", "null"]},
    "sees_everything": {"type": "boolean"}, "everywhere": {"enum": ["read", "write", "admin",
    null], "description": "The right to collections of any name."}, "collections": {"type":
    "object", "additionalProperties": {"enum": ["read", "write", "admin"]}}, "grants": {"type":
    "object", "description": "By name or name prefix, as in the key.",
    "additionalProperties": {"enum": ["read", "write", "admin"]}}}, "required": ["name",
    "sees_everything", "everywhere", "collections", "grants"]},
  "PageText": {"type": "string"},
  "CountRequest": {"type": "object", "properties": {"namespace": {"type": ["string", "null"]},
    "filter": {"type": ["object", "null"]}}, "additionalProperties": false},
  "Count": {"type": "object", "properties": {"count": {"type": "integer"}}, "required":
    ["count"]},
  "Chunk": {"type": "object", "properties": {"chunk_id": {"type": "string"}, "document_id":
    {"type": "string"}, "content": {"type": "string"}, "chunk_index": {"type": "integer"},
    "title": {"type": "string"}, "section_title": {"type": "string"}, "metadata": {"type":
    "object"}, "created_at": {"type": "string", "format": "date-time"}, "expires_at": {"type":
    "string", "format": "date-time"}, "sensitivity": {"type": "string"}, "visibility_scope": {"type": "array", "items": {"type": "string"}}, "vector":
    {"type": "array", "items": {"type": "number"}}, "version": {"type": "integer"}}, "required":
    ["chunk_id", "content"]},
  "ChunkPage": {"type": "object", "properties": {"chunks": {"type": "array", "items": {"$ref":
    "#/$defs/Chunk"}}, "after": {"type": ["string", "null"], "description":
    "Asks for the next page; null: this was the last."}}, "required": ["chunks", "after"]},
  "Chunks": {"type": "object", "properties": {"chunks": {"type": "array", "items": {"anyOf":
    [{"$ref": "#/$defs/Chunk"}, {"type": "null"}]}}}, "required": ["chunks"]},
  "Neighbors": {"type": "object", "properties": {"chunks": {"type": "array", "items": {"$ref":
    "#/$defs/Chunk"}}, "text": {"type": "string"}}, "required": ["chunks", "text"]},
  "Document": {"type": "object", "properties": {"document_id": {"type": "string"}, "chunks":
    {"type": "array", "items": {"$ref": "#/$defs/Chunk"}}}, "required": ["document_id",
    "chunks"]},
  "NewChunk": {"type": "object", "description":
    "In braid's words or BEIR's (_id, title, text, metadata).", "properties": {"chunk_id":
    {"type": ["string", "null"]}, "content": {"type": ["string", "null"]}, "text": {"type":
    ["string", "null"]}, "document_id": {"type": ["string", "null"]}, "chunk_index": {"type":
    ["integer", "null"]}, "title": {"type": ["string", "null"]}, "section_title": {"type":
    ["string", "null"]}, "metadata": {"type": ["object", "null"]}, "created_at": {"type":
    ["string", "null"], "format": "date-time"}, "expires_at": {"type": ["string", "null"],
    "format": "date-time", "description": "When it expires; from then on it is not found."}, "sensitivity": {"type": ["string", "null"]},
    "visibility_scope": {"type": ["array", "null"], "items": {"type": "string"}}, "vector":
    {"type": ["array", "null"], "items": {"type": "number"}}, "namespace": {"type": ["string",
    "null"]}}},
  "NewChunks": {"type": "object", "properties": {"chunks": {"type": "array", "items": {"$ref":
    "#/$defs/NewChunk"}, "minItems": 1, "maxItems": 10000}, "namespace": {"type": ["string",
    "null"]}, "if_version": {"type": ["integer", "null"], "minimum": 0}, "replace_documents":
    {"type": ["boolean", "null"], "description":
    "Delete, in the same write, all other chunks of their documents."}, "skip_unchanged": {"type":
    ["boolean", "null"], "description":
    "Leave existing chunks alone, and do not embed their texts again."}, "schema": {"anyOf":
    [{"$ref": "#/$defs/Schema"}, {"type": "null"}]}}, "required": ["chunks"],
    "additionalProperties": false},
  "Written": {"type": "object", "properties": {"collection": {"type": "string"}, "created":
    {"type": "boolean"}, "namespace": {"type": "string"}, "chunk_ids": {"type": "array",
    "items": {"type": "string"}}, "written": {"type": "integer"}, "replaced": {"type":
    "integer"}, "removed": {"type": "integer", "description":
    "Chunks of replaced documents that are not in the new ones."}, "unchanged": {"type": "integer"}, "version": {"type": "integer"}, "warnings":
    {"type": "array", "items": {"type": "string"}}}, "required": ["collection", "created",
    "written", "replaced", "removed"]},
  "BulkWritten": {"type": "object", "properties": {"collection": {"type": "string"}, "created":
    {"type": "boolean"}, "written": {"type": "integer"}, "replaced": {"type": "integer"},
    "failed": {"type": "integer"}, "results": {"type": "array", "items": {"type": "object",
    "properties": {"line": {"type": "integer"}, "chunk_id": {"type": "string"}, "warnings":
    {"type": "array", "items": {"type": "string"}}, "error": {"$ref": "#/$defs/Error"}},
    "required": ["line"]}}}, "required": ["collection", "created", "written", "replaced",
    "failed", "results"]},
  "GetRequest": {"type": "object", "properties": {"chunk_ids": {"type": "array", "items":
    {"type": "string"}, "minItems": 1, "maxItems": 1000}, "namespace": {"type": ["string",
    "null"]}, "vectors": {"type": ["boolean", "null"]}}, "required": ["chunk_ids"],
    "additionalProperties": false},
  "Update": {"type": "object", "properties": {"metadata": {"type": ["object", "null"],
    "description": "Merged as RFC 7396 does."}, "created_at": {"type": ["string", "null"],
    "format": "date-time"}, "expires_at": {"type": ["string", "null"], "format": "date-time"},
    "sensitivity": {"type": ["string", "null"]}, "visibility_scope": {"type": ["array", "null"],
    "items": {"type": "string"}}}, "additionalProperties": false},
  "UpdateRequest": {"type": "object", "properties": {"updates": {"type": "array", "minItems": 1,
    "maxItems": 10000, "items": {"type": "object", "properties": {"chunk_id": {"type":
    "string"}, "metadata": {"type": ["object", "null"]}, "created_at": {"type": ["string",
    "null"], "format": "date-time"}, "expires_at": {"type": ["string", "null"], "format":
    "date-time"}, "sensitivity": {"type": ["string", "null"]},
    "visibility_scope": {"type": ["array", "null"], "items": {"type": "string"}}}, "required":
    ["chunk_id"], "additionalProperties": false}}, "namespace": {"type": ["string", "null"]},
    "if_version": {"type": ["integer", "null"], "minimum": 0}}, "required": ["updates"],
    "additionalProperties": false},
  "Updated": {"type": "object", "properties": {"collection": {"type": "string"}, "updated":
    {"type": "integer"}, "version": {"type": "integer"}}, "required": ["collection", "updated",
    "version"]},
  "DeleteRequest": {"type": "object", "description":
    "Exactly one of chunk_ids, document_ids and filter.", "properties": {"chunk_ids": {"type":
    ["array", "null"], "items": {"type": "string"}}, "document_ids": {"type": ["array", "null"],
    "items": {"type": "string"}}, "filter": {"type": ["object", "null"]}, "everything": {"type":
    ["boolean", "null"], "description": "Required with a filter that matches every chunk."},
    "namespace": {"type": ["string", "null"]}, "if_version": {"type": ["integer", "null"],
    "minimum": 0}}, "additionalProperties": false},
  "Deleted": {"type": "object", "properties": {"collection": {"type": "string"}, "deleted":
    {"type": "integer"}, "version": {"type": "integer"}}, "required": ["collection", "deleted",
    "version"]},
  "NewDocument": {"type": "object", "properties": {"text": {"type": "string"}, "title": {"type":
    ["string", "null"]}, "format": {"enum": ["markdown", "plain", null]}, "metadata": {"type":
    ["object", "null"]}, "name": {"type": ["string", "null"], "description":
    "A file's name: says what the text is."}, "content_base64": {"type": ["string", "null"],
    "description": "The file itself, instead of a text."}}, "additionalProperties": false},
  "PostedDocument": {"type": "object", "properties": {"document_id": {"type": ["string", "null"],
    "description": "Default: the name."}, "text": {"type": ["string", "null"]}, "title": {"type":
    ["string", "null"]}, "format": {"enum": ["markdown", "plain", null]}, "metadata": {"type":
    ["object", "null"]}, "name": {"type": ["string", "null"], "description":
    "A file's name: says what the text is."}, "content_base64": {"type": ["string", "null"],
    "description": "The file itself, instead of a text."}, "collection": {"type": ["string", "null"]},
    "namespace": {"type": ["string", "null"]}}, "additionalProperties": false},
  "PostedDocuments": {"type": "object", "properties": {"documents": {"type": "array", "items":
    {"$ref": "#/components/schemas/Ingested"}}, "failed": {"type": "array", "items": {"type": "object",
    "properties": {"name": {"type": "string"}, "error": {"type": "string"}}, "required": ["name",
    "error"]}}}, "required": ["documents", "failed"]},
  "Ingested": {"type": "object", "properties": {"document_id": {"type": "string"}, "collection":
    {"type": "string"}, "chunks": {"type": "integer"}, "removed": {"type": "integer"}, "format":
    {"type": "string", "description": "What it was read as: markdown, pdf, …"},
    "encoding": {"type": "string", "description": "Of a text: UTF-8, Shift_JIS, …"},
    "warnings": {"type": "array", "items": {"type": "string"}}}, "required": ["document_id",
    "collection", "chunks", "removed", "warnings"]},
  "CheckReport": {"type": "object", "properties": {"clean": {"type": "boolean"}, "collections":
    {"type": "integer"}, "chunks": {"type": "integer"}, "records": {"type": "integer"}, "bytes":
    {"type": "integer"}, "superseded": {"type": "integer", "description": "Log records superseded by later ones."}, "problems": {"type": "array", "items": {"type": "string"},
    "description": "Damage, one line each."}, "unfinished": {"type": "array", "items": {"type":
    "string"}, "description": "Collections that cannot be read because an import is under way or was interrupted."},
    "notes": {"type": "array", "items": {"type": "string"}, "description": "Remarks that need no action."}},
    "required": ["clean", "collections", "chunks", "records", "bytes", "superseded", "problems",
    "unfinished", "notes"]},
  "Click": {"type": "object", "additionalProperties": false, "required": ["id", "chunk_id"],
    "properties": {"id": {"type": "string", "description": "experiment.id of the answer."},
    "chunk_id": {"type": "string"}}},
  "Clicked": {"type": "object", "properties": {"id": {"type": "string"}, "recorded":
    {"type": "boolean"}}, "required": ["id", "recorded"]},
  "Compacted": {"type": "object", "properties": {"collection": {"type": "string"}, "chunks":
    {"type": "integer"}, "bytes_before": {"type": "integer"}, "bytes_after": {"type": "integer"}},
    "required": ["collection", "chunks", "bytes_before", "bytes_after"]},
  "ReembedRequest": {"type": "object", "properties": {"embedder": {"type": ["string", "null"],
    "description": "Default: the collection's own."}}, "additionalProperties": false},
  "Reembedded": {"type": "object", "properties": {"collection": {"type": "string"}, "embedder":
    {"type": "string"}, "embedded": {"type": "integer", "description":
    "By this call; after an interruption, the others by earlier calls."}, "chunks": {"type": "integer"},
    "warnings": {"type": "array", "items": {"type": "string"}}}, "required": ["collection",
    "embedder", "embedded", "chunks", "warnings"]},
  "OfCollection": {"type": "object", "properties": {"collection": {"type": "string"}}, "required":
    ["collection"], "additionalProperties": false},
  "SetRanker": {"type": "object", "properties": {"collection": {"type": "string"}, "ranker":
    {"type": ["object", "null"], "description": "A learned ranking, or null for none."}}, "required":
    ["collection", "ranker"], "additionalProperties": false},
  "QueryDecisions": {"type": "object", "properties": {"query": {"type": "string"},
    "retrieval_mode": {"enum": ["semantic", "keyword", "hybrid"], "default": "semantic", "description":
    "By meaning, by words, or both."}, "hybrid_weight": {"type": "number", "default": 0.7, "description":
    "Weight of meaning; words get the rest."}, "top_k": {"type": "integer", "default": 10, "description":
    "How many decisions to return."}, "category": {"type": "string", "description":
    "Only decisions in this category."}, "stakes": {"type": "string", "description": "Only decisions with these stakes."},
    "project": {"type": "string", "description": "Only decisions of this project."}},
    "required": ["query"]},
  "IndexDecisions": {"type": "object", "properties": {"decisions": {"type": "array", "items":
    {"type": "object"}, "description":
    "Records with an id; summary, decision, context and the text of reasons are searched."}},
    "required": ["decisions"], "examples": [{"decisions": [{"id": "d1", "summary":
    "Postgres for orders", "decision": "Orders live in Postgres."}]}]},
  "OpenApi": {"type": "object"},
  "Health": {"type": "object", "properties": {"status": {"type": "string"}}, "required":
    ["status"]},
  "Metrics": {"type": "string"},
  "RpcMessage": {"description": "A JSON-RPC 2.0 request, notification or batch.", "anyOf":
    [{"type": "object", "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string",
    "number"]}, "method": {"type": "string"}, "params": {"type": ["object", "array"]}},
    "required": ["jsonrpc", "method"]}, {"type": "array", "minItems": 1}]},
  "RpcAnswer": {"description": "A JSON-RPC 2.0 answer, or those of a batch.", "type": ["object",
    "array"]},
  "McpMessage": {"description": "One message of the Model Context Protocol.", "type": "object",
    "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "number"]}, "method":
    {"type": "string"}, "params": {"type": "object"}}, "required": ["jsonrpc"]}
})json";

}  // namespace braid::server
