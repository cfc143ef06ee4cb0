from __future__ import annotations

from typing import Any

import braid
import numpy
from haystack import Document, component, default_from_dict, default_to_dict

from haystack_braid.document_store import BraidDocumentStore, to_document
from haystack_braid.filters import to_filter


@component
class BraidRetriever:
    """Searches by words, by meaning (`query_embedding`), or, given both, by both at once. `request`
    holds what every search should say. Scores are the documents' scores; receipts are in their
    meta, as `braid_receipt`."""

    def __init__(
        self,
        document_store: BraidDocumentStore,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        request: dict[str, Any] | None = None,
    ) -> None:
        self.document_store = document_store
        self.filters = filters
        self.top_k = top_k
        self.request = request or {}

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self, document_store=self.document_store.to_dict(), filters=self.filters,
            top_k=self.top_k, request=self.request,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BraidRetriever:
        parameters = data["init_parameters"]
        store = BraidDocumentStore.from_dict(parameters["document_store"])
        made: BraidRetriever = default_from_dict(
            cls, {**data, "init_parameters": {**parameters, "document_store": store}}
        )
        return made

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        query_embedding: list[float] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> dict[str, list[Document]]:
        request = {"strategy": "sparse" if query_embedding is None else "hybrid", **self.request}
        request["top_k"] = top_k or self.top_k
        wanted = to_filter(filters or self.filters)
        if wanted is not None:
            request["filter"] = wanted
        if query_embedding is not None:
            request["query_embedding"] = numpy.asarray([*query_embedding, 0.0], dtype=numpy.float32)
        try:
            answer = self.document_store.collection.retrieve(query, **request)
        except braid.NotFound:
            return {"documents": []}
        return {"documents": [
            to_document(hit.chunk, score=hit.score, meta={"braid_receipt": hit.receipt.to_dict()})
            for hit in answer
        ]}
