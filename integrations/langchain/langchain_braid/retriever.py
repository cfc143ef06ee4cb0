from __future__ import annotations

from typing import Any

import braid
from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from langchain_braid.vector_store import to_document


class BraidRetriever(BaseRetriever):
    """Searches a collection of a braid database; scores and receipts are in the metadata.

    `request` holds what every search should say (`{"profile": "topic", "filter": {...}}`). A call
    may say more: `retriever.invoke("query", top_k=3)`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    collection: braid.Collection
    k: int = 4
    request: dict[str, Any] = Field(default_factory=dict)
    receipts: bool = True

    def _request(self, given: dict[str, Any]) -> dict[str, Any]:
        top_k = given.pop("k", self.k)
        return {"top_k": top_k, **self.request, **given}

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        answer = self.collection.retrieve(query, **self._request(kwargs))
        return [to_document(hit, self.receipts) for hit in answer]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        answer = await self.collection.aretrieve(query, **self._request(kwargs))
        return [to_document(hit, self.receipts) for hit in answer]
