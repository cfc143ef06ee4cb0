"""Stages over the answers of any retriever."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from . import _braid
from ._callables import Stage

#: Makes another answer of an answer.
AnswerStage: TypeAlias = Callable[[Any], Any]


class Pipeline:
    """Stages over whole answers, one after the other, from any retriever:

        Pipeline().add_stage(braid.Reranker(score), candidates=20).add_stage(shorten).execute("foxes", db["notes"])

    By contrast, stages passed to `braid.open` see all candidates, and requests name them.
    """

    def __init__(self) -> None:
        self._stages: list[tuple[str, Stage | AnswerStage, dict[str, Any]]] = []

    def add_stage(
        self, stage: Stage | AnswerStage, *, name: str | None = None, **parameters: Any
    ) -> Pipeline:
        """Adds a `Stage` or `Reranker`, whose effects enter scores and receipts, and which is skipped
        with a warning if it fails; or a function from an answer to an answer, whose exceptions end
        the pipeline."""
        if not isinstance(stage, Stage) and parameters:
            raise TypeError("only a Stage takes parameters")
        own = name or getattr(stage, "__name__", type(stage).__name__).lower()
        self._stages.append((own, stage, parameters))
        return self

    def execute(self, request: str | Mapping[str, Any], retriever: Any) -> Any:
        """Runs the stages over what `retriever.retrieve` answers; a retriever is a database, a
        collection, or your own. The request is a query, or the arguments of `retrieve`."""
        answer = _retrieve(retriever.retrieve, request)
        for name, stage, parameters in self._stages:
            answer = _run(name, stage, parameters, answer)
        return answer

    async def aexecute(self, request: str | Mapping[str, Any], retriever: Any) -> Any:
        """The same with `retriever.aretrieve`, or a `retrieve` that must be awaited; stages that are
        functions may be async too."""
        find = getattr(retriever, "aretrieve", None) or retriever.retrieve
        answer = await _awaited(_retrieve(find, request))
        for name, stage, parameters in self._stages:
            answer = await _awaited(_run(name, stage, parameters, answer))
        return answer


def _retrieve(find: Callable[..., Any], request: str | Mapping[str, Any]) -> Any:
    return find(request) if isinstance(request, str) else find(**request)


def _run(name: str, stage: Stage | AnswerStage, parameters: dict[str, Any], answer: Any) -> Any:
    if isinstance(stage, Stage):
        return _braid.run_stage(answer, name, stage, parameters)
    return stage(answer)


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
