"""The contract of BasePydanticVectorStore, and the way through an index. LlamaIndex publishes no suite
for it: its own store in memory, SimpleVectorStore, is the reference here."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import random
from collections.abc import Generator

import braid
import pytest
from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index_braid import BraidVectorStore


def node(id: str, text: str, vector: list[float], document: str, **metadata: object) -> TextNode:
    return TextNode(
        id_=id, text=text, embedding=vector, metadata=metadata,
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document)},
    )


NODES = [
    node("fox", "Red foxes hunt at dusk.", [1.0, 0.0, 0.0], "animals", legs=4, tags=["red", "mammal"]),
    node("owl", "Owls hunt at night.", [0.0, 1.0, 0.0], "animals", legs=2, tags=["bird"]),
    node("elm", "Elms have leaves.", [0.0, 0.0, 1.0], "plants"),
]


@pytest.fixture
def store() -> Generator[BraidVectorStore, None, None]:
    with braid.open(None, embedder="none") as db:
        made = BraidVectorStore(db["nodes"])
        made.add(NODES)
        yield made


def ask(store: BraidVectorStore, **query: object) -> list[str]:
    return store.query(VectorStoreQuery(**{"similarity_top_k": 3, **query})).ids or []  # type: ignore[arg-type]


def where(key: str, operator: FilterOperator, value: object = None) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, operator=operator, value=value)])


def test_it_is_a_vector_store(store: BraidVectorStore) -> None:
    assert isinstance(store, BasePydanticVectorStore)
    assert store.client.count() == 3


def test_nodes_come_back_whole(store: BraidVectorStore) -> None:
    (found,) = store.get_nodes(["owl"])
    assert found.get_content() == "Owls hunt at night."
    assert found.metadata == {"legs": 2, "tags": ["bird"]}
    assert found.ref_doc_id == "animals"


def test_modes(store: BraidVectorStore) -> None:
    vector = [0.0, 1.0, 0.1]
    assert ask(store, query_embedding=vector)[0] == "owl"
    assert ask(store, query_str="dusk", mode=VectorStoreQueryMode.SPARSE) == ["fox"]
    assert ask(store, query_str="dusk", mode=VectorStoreQueryMode.TEXT_SEARCH) == ["fox"]
    hybrid = {"query_str": "leaves", "query_embedding": vector, "mode": VectorStoreQueryMode.HYBRID}
    assert ask(store, **hybrid, alpha=0.0)[0] == "elm"
    assert ask(store, **hybrid, alpha=1.0)[0] == "owl"
    assert len(ask(store, **hybrid, hybrid_top_k=1)) == 1
    assert len(ask(store, query_str="hunt", query_embedding=vector, mode=VectorStoreQueryMode.MMR)) == 3


def test_scores_and_receipts_are_kept(store: BraidVectorStore) -> None:
    result = store.query(VectorStoreQuery(query_str="dusk", query_embedding=[1.0, 0.0, 0.0]))
    assert result.nodes is not None and result.similarities is not None
    assert result.nodes[0].metadata["braid_receipt"]["score"] == result.similarities[0]
    assert "braid_receipt" not in result.nodes[0].get_content()


@pytest.mark.parametrize(("operator", "value", "expected"), [
    (FilterOperator.EQ, 4, ["fox"]),
    (FilterOperator.NE, 4, ["elm", "owl"]),
    (FilterOperator.GT, 2, ["fox"]),
    (FilterOperator.GTE, 2, ["fox", "owl"]),
    (FilterOperator.LT, 4, ["owl"]),
    (FilterOperator.LTE, 4, ["fox", "owl"]),
    (FilterOperator.IN, [2, 3], ["owl"]),
    (FilterOperator.NIN, [2, 3], ["elm", "fox"]),
    (FilterOperator.IS_EMPTY, None, ["elm"]),
])
def test_filters_by_number(
    store: BraidVectorStore, operator: FilterOperator, value: object, expected: list[str]
) -> None:
    filters = where("legs", operator, value)
    assert sorted(n.node_id for n in store.get_nodes(filters=filters)) == expected
    assert sorted(ask(store, query_embedding=[1.0, 1.0, 1.0], filters=filters)) == expected


def test_filters_by_lists_and_text(store: BraidVectorStore) -> None:
    assert [n.node_id for n in store.get_nodes(filters=where("tags", FilterOperator.CONTAINS, "bird"))] == ["owl"]
    assert [n.node_id for n in store.get_nodes(filters=where("tags", FilterOperator.ANY, ["red", "x"]))] == ["fox"]
    assert [n.node_id for n in store.get_nodes(filters=where("tags", FilterOperator.ALL, ["red", "mammal"]))] == ["fox"]
    assert store.get_nodes(filters=where("tags", FilterOperator.ALL, ["red", "bird"])) == []
    with pytest.raises(braid.Unsupported):
        store.get_nodes(filters=where("tags", FilterOperator.TEXT_MATCH_INSENSITIVE, "x"))


def test_filters_in_filters(store: BraidVectorStore) -> None:
    either = MetadataFilters(
        filters=[where("legs", FilterOperator.EQ, 4), where("legs", FilterOperator.EQ, 2)],
        condition=FilterCondition.OR,
    )
    assert sorted(n.node_id for n in store.get_nodes(filters=either)) == ["fox", "owl"]
    neither = MetadataFilters(filters=[either], condition=FilterCondition.NOT)
    assert [n.node_id for n in store.get_nodes(filters=neither)] == ["elm"]


def test_deleting(store: BraidVectorStore) -> None:
    store.delete_nodes(["fox"], where("legs", FilterOperator.EQ, 2))
    assert len(store.get_nodes()) == 3
    store.delete_nodes(["fox"])
    assert len(store.get_nodes()) == 2
    store.delete("plants")
    assert [n.node_id for n in store.get_nodes()] == ["owl"]
    store.clear()
    assert store.get_nodes() == []


def test_documents_and_nodes_can_be_named(store: BraidVectorStore) -> None:
    assert ask(store, query_embedding=[1.0, 1.0, 1.0], doc_ids=["plants"]) == ["elm"]
    assert ask(store, query_embedding=[1.0, 1.0, 1.0], node_ids=["owl"]) == ["owl"]


def test_an_empty_store() -> None:
    with braid.open(None, embedder="none") as db:
        store = BraidVectorStore(db["nothing"])
        assert store.get_nodes() == []
        assert ask(store, query_embedding=[1.0]) == []
        store.delete("x")
        store.clear()


def test_every_method_takes_what_the_contract_says() -> None:
    for name, declared in inspect.getmembers(BasePydanticVectorStore, inspect.isfunction):
        if name.startswith("_") or declared.__module__ != BasePydanticVectorStore.__module__:
            continue
        ours = inspect.signature(getattr(BraidVectorStore, name)).parameters
        for parameter in inspect.signature(declared).parameters:
            assert parameter in ours, f"{name}({parameter})"


def test_asynchronous_twins(store: BraidVectorStore) -> None:
    async def work() -> None:
        assert await store.async_add([node("elk", "Elks.", [1.0, 1.0, 0.0], "more")]) == ["elk"]
        query = VectorStoreQuery(query_embedding=[1.0, 1.0, 0.0], similarity_top_k=1)
        assert (await store.aquery(query)).ids == ["elk"]
        assert [n.node_id for n in await store.aget_nodes(["elk"])] == ["elk"]
        await store.adelete("more")
        await store.adelete_nodes(["fox"])
        assert len(await store.aget_nodes()) == 2
        await store.aclear()
        assert await store.aget_nodes() == []

    asyncio.run(work())


def made_at_random(rng: random.Random) -> list[TextNode]:
    return [
        node(f"n{i}", f"text {i}", [rng.uniform(-1, 1) for _ in range(4)], f"d{i % 3}",
             year=rng.randrange(2000, 2010), kind=rng.choice(["a", "b", "c"]), tags=rng.sample("xyz", 2))
        for i in range(40)
    ]


SEEN_ALIKE = [
    (FilterOperator.EQ, "kind", "a"), (FilterOperator.NE, "kind", "a"), (FilterOperator.GT, "year", 2004),
    (FilterOperator.GTE, "year", 2004), (FilterOperator.LT, "year", 2004), (FilterOperator.LTE, "year", 2004),
    (FilterOperator.IN, "kind", ["a", "b"]), (FilterOperator.NIN, "kind", ["a", "b"]),
    (FilterOperator.CONTAINS, "tags", "x"),
]


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_the_frameworks_own_store_finds(seed: int) -> None:
    rng = random.Random(seed)
    nodes, reference = made_at_random(rng), SimpleVectorStore()
    reference.add(nodes)
    with braid.open(None, embedder="none") as db:
        store = BraidVectorStore(db["nodes"], hybrid=False)
        store.add(nodes)
        wheres = [where(key, operator, value) for operator, key, value in SEEN_ALIKE]
        both = [
            MetadataFilters(filters=[*a.filters, *b.filters], condition=condition)
            for a, b in itertools.pairwise(wheres) for condition in (FilterCondition.AND, FilterCondition.OR)
        ]
        for filters in (None, *wheres, *both):
            query = VectorStoreQuery(
                query_embedding=[rng.uniform(-1, 1) for _ in range(4)], similarity_top_k=5, filters=filters
            )
            ours, theirs = store.query(query), reference.query(query)
            assert filters or len(theirs.ids or []) == 5
            assert ours.ids == theirs.ids, filters
            assert ours.similarities == pytest.approx(theirs.similarities, abs=1e-6)
        reference.delete("d1")
        store.delete("d1")
        query = VectorStoreQuery(query_embedding=[1.0, 0.0, 0.0, 0.0], similarity_top_k=40)
        assert store.query(query).ids == reference.query(query).ids


def test_through_an_index() -> None:
    with braid.open(None, embedder="none") as db:
        store = BraidVectorStore(db["nodes"])
        index = VectorStoreIndex(
            [TextNode(text="Red foxes hunt at dusk."), TextNode(text="Owls hunt at night.")],
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=MockEmbedding(embed_dim=8),
        )
        retriever = index.as_retriever(
            similarity_top_k=1, vector_store_query_mode="hybrid", alpha=0.2
        )
        found = retriever.retrieve("who hunts at night")
        assert found[0].get_content() == "Owls hunt at night."
