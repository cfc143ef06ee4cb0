from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import braid
import numpy
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.ANY: "$in",
    FilterOperator.CONTAINS: "$contains",
    FilterOperator.TEXT_MATCH: "$contains",
}
_STRATEGIES = {
    VectorStoreQueryMode.SPARSE: "sparse",
    VectorStoreQueryMode.TEXT_SEARCH: "sparse",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
}


def _clause(given: MetadataFilter) -> dict[str, Any]:
    if given.operator == FilterOperator.IS_EMPTY:
        return {"$or": [{given.key: {"$exists": False}}, {given.key: None}]}
    if given.operator == FilterOperator.ALL:
        wanted = given.value if isinstance(given.value, list) else [given.value]
        return {"$and": [{given.key: {"$contains": value}} for value in wanted]}
    if given.operator not in _OPERATORS:
        raise braid.Unsupported(f"braid has no filter like {given.operator.value!r}")
    return {given.key: {_OPERATORS[given.operator]: given.value}}


def to_filter(filters: MetadataFilters | None) -> dict[str, Any] | None:
    """LlamaIndex' filters in braid's words; None matches everything."""
    if filters is None or not filters.filters:
        return None
    clauses = [
        to_filter(one) or {} if isinstance(one, MetadataFilters) else _clause(one)
        for one in filters.filters
    ]
    if filters.condition == FilterCondition.OR:
        return {"$or": clauses}
    if filters.condition == FilterCondition.NOT:
        return {"$not": {"$and": clauses}}
    return {"$and": clauses}


class BraidVectorStore(BasePydanticVectorStore):
    """A collection of a braid database. Searches by meaning and by words at once, unless the query's
    mode says otherwise; with `hybrid=False` the default mode is by meaning alone. Each node's score
    and receipt are in its metadata, as `braid_score` and `braid_receipt`."""

    stores_text: bool = True
    flat_metadata: bool = False
    hybrid: bool = True

    _collection: braid.Collection = PrivateAttr()

    def __init__(self, collection: braid.Collection, *, hybrid: bool = True) -> None:
        super().__init__(hybrid=hybrid)
        self._collection = collection

    @classmethod
    def class_name(cls) -> str:
        return "BraidVectorStore"

    @property
    def client(self) -> braid.Collection:
        return self._collection

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        if not nodes:
            return []
        chunks = [
            {
                "chunk_id": node.node_id,
                "document_id": node.ref_doc_id or node.node_id,
                "content": node.get_content(metadata_mode=MetadataMode.NONE),
                "metadata": node_to_metadata_dict(node, remove_text=True),
                "vector": numpy.asarray(node.get_embedding(), dtype=numpy.float32),
            }
            for node in nodes
        ]
        return self._collection.add(chunks).chunk_ids

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        self._delete(document_ids=[ref_doc_id])

    def delete_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None,
        **delete_kwargs: Any,
    ) -> None:
        if node_ids is None and filters is None:
            return
        self._delete(filter=self._selection(node_ids, filters))

    def clear(self) -> None:
        self._delete(filter={}, everything=True)

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        try:
            found = list(self._collection.scan(filter=self._selection(node_ids, filters)))
        except braid.NotFound:
            return []
        return [metadata_dict_to_node(chunk.metadata, text=chunk.content) for chunk in found]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        try:
            answer = self._collection.retrieve(query.query_str, **self._request(query), **kwargs)
        except braid.NotFound:
            return VectorStoreQueryResult(nodes=[], similarities=[], ids=[])
        return self._result(answer)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        try:
            answer = await self._collection.aretrieve(
                query.query_str, **self._request(query), **kwargs
            )
        except braid.NotFound:
            return VectorStoreQueryResult(nodes=[], similarities=[], ids=[])
        return self._result(answer)

    def _delete(self, **selection: Any) -> None:
        try:
            self._collection.delete(**selection)
        except braid.NotFound:  # nothing was ever added
            pass

    @staticmethod
    def _selection(
        node_ids: list[str] | None, filters: MetadataFilters | None
    ) -> dict[str, Any] | None:
        clauses = [] if node_ids is None else [{"chunk_id": {"$in": node_ids}}]
        own = to_filter(filters)
        if own is not None:
            clauses.append(own)
        return {"$and": clauses} if clauses else None

    def _request(self, query: VectorStoreQuery) -> dict[str, Any]:
        by_default = "hybrid" if self.hybrid and query.query_str else "dense"
        request: dict[str, Any] = {
            "strategy": _STRATEGIES.get(query.mode, by_default),
            "top_k": query.hybrid_top_k or query.similarity_top_k,
        }
        if query.query_embedding is not None and request["strategy"] != "sparse":
            request["query_embedding"] = numpy.asarray(query.query_embedding, dtype=numpy.float32)
        if query.alpha is not None and request["strategy"] == "hybrid":
            request["dense_weight"] = query.alpha
        if query.sparse_top_k is not None and request["strategy"] != "dense":
            request["sparse_top_k"] = query.sparse_top_k
        if query.mode == VectorStoreQueryMode.MMR:
            threshold = query.mmr_threshold
            request["stages"] = [{"mmr": {} if threshold is None else {"lambda": threshold}}]
        if query.doc_ids:  # an index without nodes of its own hands over empty lists
            request["document_ids"] = query.doc_ids
        selection = self._selection(query.node_ids or None, query.filters)
        if selection is not None:
            request["filter"] = selection
        return request

    @staticmethod
    def _result(answer: braid.Answer) -> VectorStoreQueryResult:
        nodes = []
        for hit in answer:
            node = metadata_dict_to_node(hit.metadata, text=hit.content)
            node.metadata |= {"braid_score": hit.score, "braid_receipt": hit.receipt.to_dict()}
            node.excluded_llm_metadata_keys += ["braid_score", "braid_receipt"]
            node.excluded_embed_metadata_keys += ["braid_score", "braid_receipt"]
            nodes.append(node)
        return VectorStoreQueryResult(
            nodes=nodes, similarities=[hit.score for hit in answer], ids=answer.ids
        )
