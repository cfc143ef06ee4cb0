"""The request in the words that every door shares (docs/request.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vector: TypeAlias = Sequence[float] | NDArray[numpy.floating[Any]]
    Matrix: TypeAlias = NDArray[numpy.floating[Any]]

#: In Mongo's style: {"year": {"$gte": 2020}, "$or": [...]}.
Filter: TypeAlias = Mapping[str, Any]
Strategy: TypeAlias = Literal["hybrid", "dense", "sparse", "multi_hop", "semantic", "keyword"]
#: How the hits of several collections compare: by ranks, or by scores as if all were in one.
Across: TypeAlias = Literal["ranks", "scores"]
#: A text, or a dict in braid's words (chunk_id, content, …) or BEIR's (_id, text, …).
ChunkLike: TypeAlias = "str | Mapping[str, Any]"


class Request(TypedDict, total=False):
    """What may be said about a search besides the query; what is not given is the profile's."""

    query_embedding: Vector
    collection: str
    collections: Sequence[str]
    namespace: str
    topicId: str
    profile: str | Mapping[str, Any]
    strategy: Strategy
    top_k: int
    kContext: int
    cursor: str
    fusion: str | Mapping[str, Any]
    across: Across
    dense_weight: float
    alpha: float
    weights: Mapping[str, float]
    bm25: Mapping[str, Any]
    dense_top_k: int
    kSemantic: int
    sparse_top_k: int
    kLexical: int
    max_hops: int
    hop_top_k: int
    score_threshold: float
    filter: Filter
    document_ids: Sequence[str]
    expand_query: bool
    use_hyde: bool
    query_syntax: bool
    typos: Literal["auto", "off"]
    keep_duplicates: bool
    stages: Sequence[str | Mapping[str, Any]]
    expand_neighbors: bool | int
    exact: bool
    recall: float
    highlight: bool
    explain: bool
    deadline_ms: int
