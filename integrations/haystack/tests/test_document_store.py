"""Haystack's own suites, and the retriever."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy
import pytest
from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DocumentStore, DuplicatePolicy
from haystack.testing.document_store import (
    CountDocumentsByFilterTest,
    DocumentStoreBaseExtendedTests,
)
from haystack_braid import BraidDocumentStore, BraidRetriever


@pytest.fixture
def document_store() -> Generator[BraidDocumentStore, None, None]:
    store = BraidDocumentStore(embedding_dim=2)
    yield store
    store.close()


class TestDocumentStore(DocumentStoreBaseExtendedTests, CountDocumentsByFilterTest):
    @pytest.fixture
    def document_store(self) -> Generator[BraidDocumentStore, None, None]:
        store = BraidDocumentStore()
        yield store
        store.close()

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        """braid gives documents by id, and keeps embeddings in single precision."""

        def plain(documents: list[Document]) -> list[Document]:
            return sorted((replace(d, embedding=None) for d in documents), key=lambda d: d.id)

        def vectors(documents: list[Document]) -> list[list[float] | None]:
            return [d.embedding for d in sorted(documents, key=lambda d: d.id)]

        assert plain(received) == plain(expected)
        for got, wanted in zip(vectors(received), vectors(expected), strict=True):
            assert (got is None) == (wanted is None)
            if got is not None:
                numpy.testing.assert_array_equal(got, numpy.float32(wanted))

    def test_write_documents(self, document_store: DocumentStore) -> None:
        documents = [Document(content="test doc")]
        assert document_store.write_documents(documents) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents(documents)


@pytest.fixture
def animals(document_store: BraidDocumentStore) -> BraidDocumentStore:
    document_store.write_documents([
        Document(id="fox", content="Red foxes hunt at dusk.", meta={"legs": 4}, embedding=[1.0, 0.0]),
        Document(id="owl", content="Owls hunt at night.", meta={"legs": 2}, embedding=[0.0, 1.0]),
    ])
    return document_store


def test_words_meaning_or_both(animals: BraidDocumentStore) -> None:
    retriever = BraidRetriever(animals)
    assert [d.id for d in retriever.run("dusk")["documents"]] == ["fox"]
    both = retriever.run("dusk", query_embedding=[0.0, 1.0])["documents"]
    assert {d.id for d in both} == {"fox", "owl"}
    assert both[0].meta["braid_receipt"]["score"] == both[0].score


def test_filters(animals: BraidDocumentStore) -> None:
    wanted = {"field": "meta.legs", "operator": "<", "value": 3}
    assert [d.id for d in BraidRetriever(animals).run("hunt", filters=wanted)["documents"]] == ["owl"]


def test_in_a_pipeline_and_back_from_a_dict(animals: BraidDocumentStore, tmp_path: object) -> None:
    pipeline = Pipeline()
    pipeline.add_component("search", BraidRetriever(animals, top_k=1))
    assert pipeline.run({"search": {"query": "night"}})["search"]["documents"][0].id == "owl"
    store = BraidDocumentStore(f"{tmp_path}/data")
    store.write_documents([Document(id="a", content="kept")])
    store.close()
    retriever = BraidRetriever(BraidDocumentStore.from_dict(store.to_dict()))
    assert retriever.run("kept")["documents"][0].id == "a"
    assert BraidRetriever.from_dict(BraidRetriever(BraidDocumentStore(), top_k=3).to_dict()).top_k == 3


def test_skipping_writes_what_is_new(animals: BraidDocumentStore) -> None:
    more = [Document(id="fox", content="other"), Document(id="elm", content="Elms.")]
    assert animals.write_documents(more, policy=DuplicatePolicy.SKIP) == 1
    assert animals.count_documents() == 3
