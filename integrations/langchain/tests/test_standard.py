"""LangChain's own suites (langchain-tests), and what they do not ask."""

from __future__ import annotations

from collections.abc import Generator

import braid
import pytest
from langchain_braid import BraidRetriever, BraidVectorStore
from langchain_core.documents import Document
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Generator[BraidVectorStore, None, None]:
        with braid.open(None, embedder="none") as db:
            yield BraidVectorStore(db["documents"], self.get_embeddings())


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[BraidRetriever]:
        return BraidRetriever

    @property
    def retriever_constructor_params(self) -> dict:
        db = braid.open(None, embedder="none")
        db["animals"].add([f"Animal number {i} hunts at dusk." for i in range(10)])
        return {"collection": db["animals"]}

    @property
    def retriever_query_example(self) -> str:
        return "who hunts at dusk"


@pytest.fixture
def store() -> Generator[BraidVectorStore, None, None]:
    with braid.open(None, embedder="none") as db:
        made = BraidVectorStore(db["documents"], receipts=True)
        made.add_documents([
            Document("Red foxes hunt at dusk.", id="fox", metadata={"legs": 4}),
            Document("Owls hunt at night.", id="owl", metadata={"legs": 2}),
        ])
        yield made


def test_scores_and_receipts_are_kept(store: BraidVectorStore) -> None:
    (found,) = store.similarity_search("dusk")
    assert found.id == "fox"
    assert found.metadata["braid_receipt"]["score"] == found.metadata["braid_score"]


def test_filters_are_the_engines(store: BraidVectorStore) -> None:
    assert [d.id for d in store.similarity_search("hunt", filter={"legs": {"$lt": 3}})] == ["owl"]
    with pytest.raises(braid.InvalidArgument, match="legs"):
        store.similarity_search("hunt", filter={"legs": {"$near": 3}})


def test_relevance_is_between_0_and_1(store: BraidVectorStore) -> None:
    for _, score in store.similarity_search_with_relevance_scores("hunt"):
        assert 0 <= score <= 1


def test_an_empty_store_finds_nothing_and_deletes_nothing() -> None:
    with braid.open(None, embedder="none") as db:
        store = BraidVectorStore(db["nothing"])
        assert store.similarity_search("x") == []
        assert store.get_by_ids(["x"]) == []
        assert store.delete()


def test_as_retriever(store: BraidVectorStore) -> None:
    assert store.as_retriever(search_kwargs={"k": 1}).invoke("night")[0].id == "owl"
