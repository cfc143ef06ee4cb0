"""What databases ask of an engine, and small helpers of both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar

from ._braid import Answer, Chunk, Principal, StopSource
from ._cancel import Cancel
from ._errors import Error

T = TypeVar("T")


class Engine(Protocol):
    """What a database asks for: `_braid.Engine` in the process, `_remote.HttpEngine` elsewhere."""

    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def call(
        self, operation: str, params: dict[str, Any], principal: Principal,
        stop: StopSource | None = None,
    ) -> Any: ...
    def retrieve(
        self, request: dict[str, Any], principal: Principal, stop: StopSource | None = None
    ) -> Answer: ...
    def retrieve_batch(
        self, shared: dict[str, Any], queries: list[Any], embeddings: Any, principal: Principal,
        stop: StopSource | None = None,
    ) -> list[Answer | Error]: ...
    def backup(self, path: str, stop: StopSource | None = None) -> dict[str, Any]: ...
    def hybrid_search(
        self, params: dict[str, Any], principal: Principal, stop: StopSource | None = None
    ) -> tuple[dict[str, Any], str]: ...
    def add(
        self, collection: str, namespace: str, chunks: list[Any], vectors: Any,
        schema: dict[str, Any] | None, if_version: int | None, principal: Principal,
        stop: StopSource | None = None,
        replace_documents: bool = False,
    ) -> dict[str, Any]: ...
    def ingest_paths(
        self, collection: str, namespace: str, paths: list[str], options: dict[str, Any],
        principal: Principal, stop: StopSource | None = None,
    ) -> dict[str, Any]: ...
    def ingest_bytes(
        self, collection: str, namespace: str, name: str, content: bytes, document_id: str,
        title: str | None, metadata: dict[str, Any], options: dict[str, Any], principal: Principal,
        stop: StopSource | None = None,
    ) -> dict[str, Any]: ...
    def get(
        self, collection: str, namespace: str, chunk_ids: list[str], vectors: bool,
        principal: Principal, stop: StopSource | None = None,
    ) -> list[Chunk | None]: ...
    def scan(
        self, collection: str, namespace: str, filter: dict[str, Any] | None, after: str,
        limit: int, vectors: bool, principal: Principal,
    ) -> list[Chunk]: ...
    def neighbors(
        self, collection: str, namespace: str, chunk_id: str, count: int, principal: Principal
    ) -> list[Chunk]: ...


async def in_thread(call: Callable[..., T]) -> T:
    """`call(stop=…)` in a thread. Cancelling the task stops the engine's work, and waits for that."""
    stop = Cancel()
    work = asyncio.ensure_future(asyncio.to_thread(partial(call, stop=stop)))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        stop.request_stop()
        await asyncio.wait([work])
        if not work.cancelled():
            work.exception()  # looked at, so that nobody warns about it
        raise


def without_none(**params: Any) -> dict[str, Any]:
    return {key: value for key, value in params.items() if value is not None}


def plain_dict(item: object) -> Any:
    return dict(item) if isinstance(item, Mapping) and not isinstance(item, dict) else item


def name_of(given: object, what: str = "a collection's name") -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} must be a str, not {type(given).__name__}")
    return given


def as_list(one_or_many: str | Iterable[T]) -> list[Any]:
    return [one_or_many] if isinstance(one_or_many, str) else list(one_or_many)


def first_error(answers: list[Answer | Error], return_errors: bool) -> list[Any]:
    if not return_errors:
        for answer in answers:
            if isinstance(answer, Error):
                raise answer
    return answers


class NotPickled:
    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied: it belongs to this process. Open "
            "the database again where it is needed, or share one through `braid serve` and "
            "braid.connect()"
        )
