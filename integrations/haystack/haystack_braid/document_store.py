from __future__ import annotations

from typing import Any

import braid
import numpy
from haystack import Document, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy

from haystack_braid.filters import to_filter


class BraidDocumentStore:
    """A collection of a braid database as Haystack's document store. Embeddings are Haystack's, of
    `embedding_dim` numbers. The collection keeps one number more, which is 0 for them and 1 for a
    document without an embedding: that is at right angles to every query, so that its words find
    it.

    `path` is the database's directory, None for one in memory, or the address of `braid serve`.
    """

    def __init__(
        self, path: str | None = None, collection: str = "documents", embedding_dim: int = 768
    ) -> None:
        self.path = path
        self.embedding_dim = embedding_dim
        self.collection_name = collection
        served = path is not None and path.startswith(("http://", "https://", "unix:"))
        self._db = braid.connect(str(path)) if served else braid.open(path, embedder="none")
        self.collection = self._db[collection]

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self, path=self.path, collection=self.collection_name,
            embedding_dim=self.embedding_dim,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BraidDocumentStore:
        made: BraidDocumentStore = default_from_dict(cls, data)
        return made

    def close(self) -> None:
        self._db.close()

    def count_documents(self) -> int:
        return self.count_documents_by_filter({})

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        wanted = to_filter(filters)
        try:
            return self.collection.count(filter=wanted)
        except braid.NotFound:
            return 0

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """By id."""
        wanted = to_filter(filters)
        try:
            return [to_document(c) for c in self.collection.scan(filter=wanted, vectors=True)]
        except braid.NotFound:
            return []

    def write_documents(
        self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE
    ) -> int:
        """NONE is FAIL: all documents are new, or none is written."""
        if not isinstance(documents, list) or not all(isinstance(d, Document) for d in documents):
            raise ValueError("a list of Documents is expected")
        chunks = {document.id: self._chunk(document) for document in documents}
        if policy != DuplicatePolicy.OVERWRITE and len(chunks) != len(documents):
            if policy != DuplicatePolicy.SKIP:
                raise DuplicateDocumentError("an id stands twice among the documents")
        if policy == DuplicatePolicy.SKIP:
            for id in self._known(list(chunks)):
                del chunks[id]
        if not chunks:
            return 0
        new = 0 if policy in (DuplicatePolicy.NONE, DuplicatePolicy.FAIL) else None
        try:
            report = self.collection.add(
                list(chunks.values()),
                schema={"embedder": "external", "dimension": self.embedding_dim + 1},
                if_version=new,
            )
        except braid.Conflict as error:
            raise DuplicateDocumentError(str(error)) from error
        return report.written

    def delete_documents(self, document_ids: list[str]) -> None:
        if document_ids:
            self._delete(chunk_ids=document_ids)

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        return self._delete(filter=to_filter(filters) or {})

    def delete_all_documents(self) -> None:
        self._delete(filter={}, everything=True)

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """Merges `meta` into that of every document that matches."""
        wanted = to_filter(filters)
        try:
            ids = [chunk.chunk_id for chunk in self.collection.scan(filter=wanted)]
        except braid.NotFound:
            return 0
        if not ids:
            return 0
        return self.collection.update([{"chunk_id": id, "metadata": meta} for id in ids]).written

    def _chunk(self, document: Document) -> dict[str, Any]:
        if document.blob is not None:
            raise ValueError("braid keeps texts, no blobs")
        missing = document.embedding is None
        vector = [0.0] * self.embedding_dim + [1.0] if missing else [*document.embedding, 0.0]
        return {
            "chunk_id": document.id, "document_id": document.id, "content": document.content or "",
            "metadata": document.meta, "vector": numpy.asarray(vector, dtype=numpy.float32),
        }

    def _known(self, ids: list[str]) -> list[str]:
        try:
            return [chunk.chunk_id for chunk in self.collection.get(ids) if chunk is not None]
        except braid.NotFound:
            return []

    def _delete(self, **selection: Any) -> int:
        try:
            return self.collection.delete(**selection).written
        except braid.NotFound:  # nothing was ever written
            return 0


def to_document(chunk: braid.Chunk, **more: Any) -> Document:
    vector = None
    if chunk.vector is not None and chunk.vector[-1] == 0:
        vector = chunk.vector[:-1].tolist()
    meta = chunk.metadata | more.pop("meta", {})
    return Document(
        id=chunk.chunk_id, content=chunk.content or None, meta=meta, embedding=vector, **more
    )
