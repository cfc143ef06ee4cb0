"""What needs no database: fusing lists, measuring runs, comparing vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _braid
from ._results import FusedHit

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from ._request import Vector


def fuse(
    lists: Mapping[str, Iterable[str | tuple[str, float]]],
    *,
    method: Literal["rrf", "weighted_sum", "dbsf"] = "rrf",
    weights: Mapping[str, float] | None = None,
    k: float | None = None,
    rank_base: int | None = None,
    preset: str | None = None,
) -> list[FusedHit]:
    """Ranked lists to one, by the engine's own formulas. A list holds ids, or (id, score) pairs,
    best first; its position is the rank, whatever the scores say. `preset` computes as another
    system does: "qdrant", "elastic", "langchain", "llamaindex", "haystack"."""
    listed = {source: list(items) for source, items in lists.items()}
    fused = _braid.fuse(listed, method, dict(weights or {}), k, rank_base, preset)
    return [FusedHit(*hit) for hit in fused]


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    runs: Mapping[str, Mapping[str, Any]],
    *,
    measures: Sequence[str] = (),
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 1,
    per_query: bool = False,
) -> dict[str, Any]:
    """Measures runs (`{"name": {"query": {"document": score}}}`, or lists of pairs) on judged
    queries, in ir-measures' words (`["nDCG@10", "R@100"]`), with confidence intervals, and compares
    each run with the first."""
    judged = {query: dict(documents) for query, documents in qrels.items()}
    named = {name: dict(lists) for name, lists in runs.items()}
    return _braid.evaluate(judged, named, list(measures), resamples, confidence, seed, per_query)


def _floats(vector: Vector) -> NDArray[numpy.float32]:
    import numpy

    return numpy.ascontiguousarray(vector, dtype=numpy.float32)


class VectorSimilarity:
    """Vectors of float32 compared as the engine compares them: in double, in one fixed order."""

    @staticmethod
    def cosine_similarity(a: Vector, b: Vector) -> float:
        """From -1 to 1; 0 if one of them is all zeros."""
        return _braid.cosine_similarity(_floats(a), _floats(b))

    @staticmethod
    def euclidean_distance(a: Vector, b: Vector) -> float:
        return _braid.euclidean_distance(_floats(a), _floats(b))

    @staticmethod
    def normalize(vector: Vector) -> NDArray[numpy.float32]:
        """A copy of length 1; all zeros stay so."""
        return _braid.normalize(_floats(vector))
