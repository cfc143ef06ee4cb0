from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import braid
import numpy
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore


def to_document(hit: braid.Hit, receipts: bool) -> Document:
    metadata = hit.metadata
    if receipts:
        metadata |= {"braid_score": hit.score, "braid_receipt": hit.receipt.to_dict()}
    return Document(id=hit.chunk_id, page_content=hit.content, metadata=metadata)


class BraidVectorStore(VectorStore):
    """A collection of a braid database, searched by meaning and by words at once.

    With `embedding`, LangChain's model makes the vectors; without one, the database's own does.
    `request` holds what every search should say (`{"profile": "topic"}`, `{"strategy": "dense"}`).
    `receipts` puts each hit's score and receipt into its metadata. Filters are braid's, in Mongo's
    style.
    """

    def __init__(
        self,
        collection: braid.Collection,
        embedding: Embeddings | None = None,
        *,
        request: dict[str, Any] | None = None,
        receipts: bool = False,
    ) -> None:
        self.collection = collection
        self._embedding = embedding
        self._request = request or {}
        self._receipts = receipts

    @property
    def embeddings(self) -> Embeddings | None:
        return self._embedding

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        collection: braid.Collection | None = None,
        **kwargs: Any,
    ) -> BraidVectorStore:
        """Without `collection`, one of a database in memory."""
        store = cls(collection or braid.open(None)["documents"], embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str | None] | list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Replaces documents whose ids are there."""
        listed = list(texts)
        given = ids or [None] * len(listed)
        chunks = [
            {"chunk_id": id or str(uuid.uuid4()), "content": text, "metadata": metadata or {}}
            for text, metadata, id in zip(listed, metadatas or [{}] * len(listed), given, strict=True)
        ]
        if not chunks:
            return []
        vectors = None
        if self._embedding is not None:
            vectors = numpy.asarray(self._embedding.embed_documents(listed), dtype=numpy.float32)
        self.collection.add(chunks, vectors=vectors)
        return [str(chunk["chunk_id"]) for chunk in chunks]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """All documents, if no ids are given."""
        try:
            if ids is None:
                self.collection.delete(filter={}, everything=True)
            elif ids:
                self.collection.delete(ids)
        except braid.NotFound:  # nothing was ever added
            pass
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        try:
            found = self.collection.get(list(ids))
        except braid.NotFound:
            return []
        return [
            Document(id=chunk.chunk_id, page_content=chunk.content, metadata=chunk.metadata)
            for chunk in found
            if chunk is not None
        ]

    def search_answer(self, query: str | None, k: int, **request: Any) -> braid.Answer | None:
        """The whole answer; None while nothing was ever added."""
        request = {**self._request, "top_k": k, **request}
        if request.get("filter") is None:
            request.pop("filter", None)
        if self._embedding is not None and query and request.get("strategy") != "sparse":
            request.setdefault(
                "query_embedding",
                numpy.asarray(self._embedding.embed_query(query), dtype=numpy.float32),
            )
        try:
            return self.collection.retrieve(query, **request)
        except braid.NotFound:
            return None

    def similarity_search(
        self, query: str, k: int = 4, *, filter: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        return self._documents(self.search_answer(query, k, filter=filter, **kwargs))

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        answer = self.search_answer(query, k, filter=filter, **kwargs)
        return [(to_document(hit, self._receipts), hit.score) for hit in answer or []]

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, *, filter: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        vector = numpy.asarray(embedding, dtype=numpy.float32)
        request = {"filter": filter, "query_embedding": vector, "strategy": "dense", **kwargs}
        return self._documents(self.search_answer(None, k, **request))

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, *,
        filter: dict[str, Any] | None = None, **kwargs: Any,
    ) -> list[Document]:
        """By the engine's stage `mmr` over `fetch_k` candidates of each leg."""
        request = {
            "filter": filter, "stages": [{"mmr": {"lambda": lambda_mult}}],
            "dense_top_k": max(fetch_k, k), "sparse_top_k": max(fetch_k, k), **kwargs,
        }
        return self._documents(self.search_answer(query, k, **request))

    def _documents(self, answer: braid.Answer | None) -> list[Document]:
        return [to_document(hit, self._receipts) for hit in answer or []]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        if self._request.get("strategy") == "dense":
            return lambda cosine: min(max((1.0 + cosine) / 2.0, 0.0), 1.0)
        # Reciprocal ranks with weights of sum 1: first in both lists is 1 / 61.
        return lambda score: min(max(score * 61.0, 0.0), 1.0)
