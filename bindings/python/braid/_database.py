"""Databases: the same objects whether the engine is here or behind a server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ._braid import Answer, Principal, StopSource
from ._collection import Collection
from ._engine import Engine, NotPickled, as_list, in_thread, name_of, without_none
from ._results import AgentAnswer, CheckReport, CollectionInfo

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._request import Request


class Database(NotPickled):
    """A directory of collections. Made by `braid.open` or `braid.connect`; safe to use from many
    threads; closed by `close()` or a `with` block.

    Iterating gives its collections, `len(db)` says how many there are, `"notes" in db` whether one
    is there, `del db["notes"]` drops it. An empty database is true all the same."""

    def __init__(self, engine: Engine, name: str, principal: Principal | None = None) -> None:
        self._engine = engine
        self._name = name
        self._principal = principal or Principal()

    def __getitem__(self, name: str) -> Collection:
        """A handle; the collection is created by the first write."""
        return Collection(self, name)

    def __delitem__(self, name: str) -> None:
        """NotFound if there is no such collection."""
        self.drop_collection(name)

    def __iter__(self) -> Iterator[Collection]:
        """Handles on the collections there are now, by name."""
        return iter([Collection(self, info.name) for info in self.collections()])

    async def __aiter__(self) -> AsyncIterator[Collection]:
        for info in await self.acollections():
            yield Collection(self, info.name)

    def __len__(self) -> int:
        return len(self.collections())

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<braid.Database {self._name!r}{' (closed)' if self.closed else ''}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Calls still running in other threads end first, and keep it open until then."""
        self._engine.close()

    @property
    def closed(self) -> bool:
        return self._engine.closed

    @property
    def notes(self) -> list[str]:
        """What opening found, damage included."""
        return list(getattr(self._engine, "notes", []))

    @property
    def principal(self) -> Principal:
        return self._principal

    def on_behalf_of(self, principal: Principal) -> Database:
        """The same database, as this principal may see it."""
        return Database(self._engine, self._name, principal)

    def collections(self) -> list[CollectionInfo]:
        """All collections, by name: schema, counts, namespaces."""
        return self._collections()

    async def acollections(self) -> list[CollectionInfo]:
        return await in_thread(self._collections)

    def __contains__(self, collection: object) -> bool:
        """By its name or its handle."""
        if isinstance(collection, Collection):
            return collection.database._engine is self._engine and collection.name in self
        return any(info.name == collection for info in self.collections())

    def create_collection(self, name: str, **schema: Any) -> Collection:
        """`schema` has the keys of the JSON schema: `embedder`, `language`, `text_fields`, `bm25`, …"""
        self._call("create_collection", without_none(name=name_of(name), schema=schema or None))
        return self[name]

    def drop_collection(self, name: str) -> None:
        self._call("drop_collection", {"collection": name_of(name)})

    def retrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        """Searches the request's `collection` or `collections`, or those of its profile."""
        return self._retrieve(without_none(query=query, **request))

    async def aretrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        return await in_thread(partial(self._retrieve, without_none(query=query, **request)))

    def hybrid_search(self, query: str, **params: Any) -> AgentAnswer:
        """The search for agents over `artifacts`, `artifact_chunks`, and on request `memory` and
        `history`: `limit`, `include_memory`, `include_history`, `expand_neighbors`, `filters`,
        `collections` (where to search instead), `across` ("ranks", "scores"), `namespace`,
        `deadline_ms`."""
        return self._hybrid_search(without_none(query=query, **params))

    async def ahybrid_search(self, query: str, **params: Any) -> AgentAnswer:
        return await in_thread(partial(self._hybrid_search, without_none(query=query, **params)))

    def find_relevant_doctrine(
        self,
        mission_text: str,
        mos_codes: Iterable[str] | None = None,
        *,
        collection: str = "default",
    ) -> Answer:
        """Doctrine for a mission, with the profile "doctrine": only chunks with one of the codes, if
        any is given."""
        codes = None if mos_codes is None else as_list(mos_codes)
        return self._retrieve(
            without_none(query=mission_text, profile="doctrine", collection=collection, mos_codes=codes)
        )

    def check(self) -> CheckReport:
        """Verifies files and indexes and changes nothing; the report names the damage."""
        return CheckReport.from_dict(self._call("check", {}))

    def backup(self, path: str | os.PathLike[str]) -> CheckReport:
        """Copies the whole database as of one point in time into a missing or empty directory,
        while it stays in use; the report is about the copy. Only for a database in this process:
        `braid backup` copies one that is served."""
        return CheckReport.from_dict(self._engine.backup(os.fspath(path)))

    def snapshot(self, path: str | os.PathLike[str]) -> CheckReport:
        """The former name of `backup`."""
        return self.backup(path)

    def _call(
        self, operation: str, params: dict[str, Any], stop: StopSource | None = None
    ) -> Any:
        return self._engine.call(operation, params, self._principal, stop)

    def _collections(self, stop: StopSource | None = None) -> list[CollectionInfo]:
        listed = self._call("collections", {}, stop)["collections"]
        return [CollectionInfo.from_dict(info) for info in listed]

    def _retrieve(self, request: dict[str, Any], stop: StopSource | None = None) -> Answer:
        return self._engine.retrieve(request, self._principal, stop)

    def _hybrid_search(
        self, params: dict[str, Any], stop: StopSource | None = None
    ) -> AgentAnswer:
        found, text = self._engine.hybrid_search(params, self._principal, stop)
        return AgentAnswer.from_dict({**found, "text": text})
