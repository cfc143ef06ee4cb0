"""Embedders, preprocessors, stages and rerankers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ._braid import StageHit

Role: TypeAlias = Literal["query", "passage"]
EmbedFunction: TypeAlias = Callable[[list[str]], Any]


class Embedder:
    """Text to vectors by a function: a batch of texts to a 2-D array or a list of vectors.

    It gets `batch_size` texts at a time, from any thread. Collections keep the name under which
    `braid.open` gets it. `model` and `model_hash` identify the vectors: a collection refuses those
    of another model. `query` embeds queries, if they need a function of their own. If the function
    raises, a search goes on by words alone, with a warning, and a write fails.
    """

    def __init__(
        self,
        embed: EmbedFunction,
        *,
        query: EmbedFunction | None = None,
        dimension: int = 0,
        model: str = "",
        model_hash: str = "",
        token_limit: int = 0,
        batch_size: int = 256,
    ) -> None:
        self._by_role: dict[str, EmbedFunction] = {"passage": embed, "query": query or embed}
        self.dimension = dimension
        self.model = model
        self.model_hash = model_hash
        self.token_limit = token_limit
        self.batch_size = batch_size

    def embed(self, texts: list[str], role: Role) -> Any:
        return self._by_role[role](texts)


class Effect(NamedTuple):
    """What a stage does to one hit; `below` ranks it after all hits without that mark."""

    kind: Literal["pass", "keep", "multiply", "divide", "add", "replace", "drop"]
    value: float = 0.0
    detail: dict[str, Any] | None = None
    below: bool = False


#: Of one hit: an Effect, a number that replaces the score, or None, which leaves it as it is.
StageResult: TypeAlias = "Effect | float | None"
StageFunction: TypeAlias = Callable[
    [str, "list[StageHit]", dict[str, Any]], Iterable[StageResult]
]


def _effect(result: StageResult) -> Effect:
    if result is None:
        return Effect("pass")
    return result if isinstance(result, Effect) else Effect("replace", float(result))


class Stage:
    """A step after fusion: `function(query, hits, parameters)` returns one result for each hit; hits
    come best first. Requests name it: `stages=[{"name": {"parameter": 1}}]`. If it raises, it is
    skipped with a warning."""

    def __init__(self, function: StageFunction, *, wants_vectors: bool = False) -> None:
        self._function = function
        self.wants_vectors = wants_vectors

    def run(self, query: str, hits: list[StageHit], parameters: dict[str, Any]) -> list[Effect]:
        return [_effect(result) for result in self._function(query, hits, parameters)]


RerankFunction: TypeAlias = Callable[[str, list[str]], Sequence[float]]


class Reranker(Stage):
    """A reranker as a stage: `function(query, texts)` scores the texts of the best `candidates`
    hits (50, or as the request says); the others rank after them."""

    def __init__(self, function: RerankFunction, *, candidates: int = 50) -> None:
        def run(
            query: str, hits: list[StageHit], parameters: dict[str, Any]
        ) -> list[StageResult]:
            best = hits[: int(parameters.get("candidates", candidates))]
            scores = function(query, [hit.content for hit in best])
            if len(scores) != len(best):
                raise ValueError(f"{len(scores)} scores for {len(best)} texts")
            rest = len(hits) - len(best)
            return [*map(float, scores), *[Effect("pass", below=True)] * rest]

        super().__init__(run)


ExpandFunction: TypeAlias = Callable[[str], "Sequence[str] | str"]
AnswerFunction: TypeAlias = Callable[[str], str]


class Preprocessor:
    """Other words for queries: `expand(query)` returns up to three other phrasings, for requests
    with expand_query; `answer(query)` a paragraph that could answer it, for requests with use_hyde.
    They are called from any thread. If they raise, the plain query is searched, with a warning."""

    def __init__(
        self, expand: ExpandFunction | None = None, *, answer: AnswerFunction | None = None
    ) -> None:
        self._expand = expand
        self._answer = answer

    def expand(self, query: str) -> list[str]:
        if self._expand is None:
            raise NotImplementedError("this preprocessor makes no phrasings")
        phrasings = self._expand(query)
        return [phrasings] if isinstance(phrasings, str) else [str(text) for text in phrasings]

    def answer(self, query: str) -> str:
        if self._answer is None:
            raise NotImplementedError("this preprocessor writes no answers")
        return str(self._answer(query))


def as_preprocessor(given: Preprocessor | ExpandFunction | None) -> Preprocessor | None:
    return given if given is None or isinstance(given, Preprocessor) else Preprocessor(given)


def as_embedders(given: Mapping[str, Embedder | EmbedFunction] | None) -> dict[str, Embedder]:
    out = {}
    for name, embedder in (given or {}).items():
        made = embedder if isinstance(embedder, Embedder) else Embedder(embedder)
        made.model = made.model or name
        out[name] = made
    return out


def as_stages(given: Mapping[str, Stage | StageFunction] | None) -> dict[str, Stage]:
    return {
        name: stage if isinstance(stage, Stage) else Stage(stage)
        for name, stage in (given or {}).items()
    }
