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
    """Stages over whole answers, one after the other, whoever retrieves them:

        Pipeline().add_stage(braid.Reranker(score), candidates=20).add_stage(shorten).execute("foxes", db["notes"])

    Stages that a database was opened with see all candidates instead, and are named by the request.
    """

    def __init__(self) -> None:
        self._stages: list[tuple[str, Stage | AnswerStage, dict[str, Any]]] = []

    def add_stage(
        self, stage: Stage | AnswerStage, *, name: str | None = None, **parameters: Any
    ) -> Pipeline:
        """A `Stage` or `Reranker`, whose effects go into scores and receipts of braid's answers, and
        which is skipped with a warning if it fails; or a function that is given the answer so far and
        returns another, and whose exceptions end the whole."""
        if not isinstance(stage, Stage) and parameters:
            raise TypeError("only a Stage takes parameters")
        own = name or getattr(stage, "__name__", type(stage).__name__).lower()
        self._stages.append((own, stage, parameters))
        return self

    def execute(self, request: str | Mapping[str, Any], retriever: Any) -> Any:
        """The stages over what `retriever.retrieve` answers: that of a database, of a collection, or
        of anything of one's own. The request is a query, or the arguments of `retrieve`."""
        answer = _retrieve(retriever.retrieve, request)
        for name, stage, parameters in self._stages:
            answer = _run(name, stage, parameters, answer)
        return answer

    async def aexecute(self, request: str | Mapping[str, Any], retriever: Any) -> Any:
        """The same with `retriever.aretrieve`, or a `retrieve` that is to be awaited; so may the
        stages that are functions."""
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
