"""Databases and collections: the same objects whether the engine is here or behind a server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from ._braid import Answer, Chunk, Principal, StopSource
from ._cancel import Cancel
from ._errors import Error, InvalidArgument
from ._results import (
    AgentAnswer,
    CheckReport,
    CollectionInfo,
    Context,
    Explanation,
    FacetCount,
    Stats,
    WhyNot,
    WriteReport,
)

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._request import ChunkLike, Filter, Matrix, Request

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
    def snapshot(self, path: str, stop: StopSource | None = None) -> dict[str, Any]: ...
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


async def _in_thread(call: Callable[..., T]) -> T:
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


def _given(**params: Any) -> dict[str, Any]:
    return {key: value for key, value in params.items() if value is not None}


def _plain(item: object) -> Any:
    return dict(item) if isinstance(item, Mapping) and not isinstance(item, dict) else item


def _name(given: object, what: str = "a collection's name") -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} is a str, not {type(given).__name__}")
    return given


def _listed(one_or_many: str | Iterable[T]) -> list[Any]:
    return [one_or_many] if isinstance(one_or_many, str) else list(one_or_many)


def _first_error(answers: list[Answer | Error], return_errors: bool) -> list[Any]:
    if not return_errors:
        for answer in answers:
            if isinstance(answer, Error):
                raise answer
    return answers


class _NotPickled:
    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied: it belongs to this process. Open "
            "the database again where it is needed, or share one through `braid serve` and "
            "braid.connect()"
        )


class Database(_NotPickled):
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
        return await _in_thread(self._collections)

    def __contains__(self, collection: object) -> bool:
        """By its name or its handle."""
        if isinstance(collection, Collection):
            return collection.database._engine is self._engine and collection.name in self
        return any(info.name == collection for info in self.collections())

    def create_collection(self, name: str, **schema: Any) -> Collection:
        """`schema` has the keys of the JSON schema: `embedder`, `language`, `text_fields`, `bm25`, …"""
        self._call("create_collection", _given(name=_name(name), schema=schema or None))
        return self[name]

    def drop_collection(self, name: str) -> None:
        self._call("drop_collection", {"collection": _name(name)})

    def retrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        """Searches the request's `collection` or `collections`, or those of its profile."""
        return self._retrieve(_given(query=query, **request))

    async def aretrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        return await _in_thread(partial(self._retrieve, _given(query=query, **request)))

    def hybrid_search(self, query: str, **params: Any) -> AgentAnswer:
        """The search for agents over `artifacts`, `artifact_chunks`, and on request `memory` and
        `history`: `limit`, `include_memory`, `include_history`, `expand_neighbors`, `filters`,
        `collections` (where to search instead), `across` ("ranks", "scores"), `namespace`,
        `deadline_ms`."""
        return self._hybrid_search(_given(query=query, **params))

    async def ahybrid_search(self, query: str, **params: Any) -> AgentAnswer:
        return await _in_thread(partial(self._hybrid_search, _given(query=query, **params)))

    def find_relevant_doctrine(
        self,
        mission_text: str,
        mos_codes: Iterable[str] | None = None,
        *,
        collection: str = "default",
    ) -> Answer:
        """Doctrine for a mission, with the profile "doctrine": only chunks with one of the codes, if
        any is given."""
        codes = None if mos_codes is None else _listed(mos_codes)
        return self._retrieve(
            _given(query=mission_text, profile="doctrine", collection=collection, mos_codes=codes)
        )

    def check(self) -> CheckReport:
        """Verifies files and indexes and changes nothing; the report names the damage."""
        return CheckReport.from_dict(self._call("check", {}))

    def backup(self, path: str | os.PathLike[str]) -> CheckReport:
        """Copies the whole database as of one point in time into a missing or empty directory,
        while it stays in use; the report is about the copy. Only for a database in this process:
        `braid snapshot` copies one that is served."""
        return CheckReport.from_dict(self._engine.snapshot(os.fspath(path)))

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


class Collection(_NotPickled):
    """A handle on one namespace of a collection. It holds nothing itself."""

    def __init__(self, database: Database, name: str, namespace: str = "default") -> None:
        self._db = database
        self._name = _name(name)
        self._namespace = _name(namespace, "a namespace's name")

    def __repr__(self) -> str:
        return f"<braid.Collection {self._name!r} ({self._namespace!r}) of {self._db!r}>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def database(self) -> Database:
        return self._db

    def namespace(self, name: str) -> Collection:
        """The same collection's partition of that name: own chunks, own statistics."""
        return Collection(self._db, self._name, name)

    # Writing

    def add(
        self,
        chunks: ChunkLike | Iterable[ChunkLike],
        *,
        vectors: Matrix | None = None,
        schema: Mapping[str, Any] | None = None,
        if_version: int | None = None,
        replace_documents: bool = False,
    ) -> WriteReport:
        """Inserts or replaces, all or none; on disk when it returns. A missing collection is made,
        by `schema` if given. With `replace_documents` the chunks are all there is of their
        documents: what else these hold is deleted by the same write."""
        return self._add(self._chunks(chunks), vectors, schema, if_version, replace_documents)

    async def aadd(
        self,
        chunks: ChunkLike | Iterable[ChunkLike],
        *,
        vectors: Matrix | None = None,
        schema: Mapping[str, Any] | None = None,
        if_version: int | None = None,
        replace_documents: bool = False,
    ) -> WriteReport:
        return await _in_thread(
            partial(self._add, self._chunks(chunks), vectors, schema, if_version, replace_documents)
        )

    def ingest(
        self,
        source: str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str]] | None = None,
        *,
        text: str | None = None,
        name: str | None = None,
        document_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Cuts documents into chunks and stores them, in place of what they had. `source` is a path
        of a file or folder, several of them, or the bytes of a file of that `name`; or `text` is the
        document. Unchanged files are not read again. Options are those of `braid ingest`:
        `max_tokens`, `overlap`, `chunker`, `include`, `exclude`, `everything`, `prune`, `dry_run`,
        `strict`, `replace`. The report says what became of every file."""
        return self._ingest(source, text, name, document_id, title, metadata, options)

    async def aingest(
        self,
        source: str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str]] | None = None,
        *,
        text: str | None = None,
        name: str | None = None,
        document_id: str | None = None,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        return await _in_thread(
            partial(self._ingest, source, text, name, document_id, title, metadata, options)
        )

    def _ingest(
        self,
        source: str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str]] | None,
        text: str | None,
        name: str | None,
        document_id: str | None,
        title: str | None,
        metadata: Mapping[str, Any] | None,
        options: Mapping[str, Any],
        stop: StopSource | None = None,
    ) -> dict[str, Any]:
        db = self._db
        given = {key: _listed(value) if key in ("include", "exclude") else value
                 for key, value in options.items()}
        if text is not None or isinstance(source, bytes):
            if (source is None) == (text is None):
                raise InvalidArgument("give either bytes or text")
            if name is None and document_id is None:
                raise InvalidArgument("bytes and texts need a name or a document_id")
            if name is None:
                name = "text.md" if text is not None else str(document_id)
            content = text.encode() if text is not None else source
            assert isinstance(content, bytes)
            return db._engine.ingest_bytes(
                self._name, self._namespace, name, content, document_id or "", title,
                dict(metadata or {}), given, db._principal, stop,
            )
        if source is None:
            raise InvalidArgument("give a path, bytes or text")
        if document_id or title or metadata or name:
            raise InvalidArgument("name, document_id, title and metadata go with bytes or text")
        paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
        return db._engine.ingest_paths(
            self._name, self._namespace, [os.fspath(path) for path in paths], given, db._principal, stop
        )

    def update(
        self, updates: Mapping[str, Any] | Iterable[Mapping[str, Any]], *, if_version: int | None = None
    ) -> WriteReport:
        """Changes metadata and labels: `{"chunk_id": "a", "metadata": {"year": 2020}}`. A null
        removes a member."""
        listed = [updates] if isinstance(updates, Mapping) else updates
        params = self._scope(updates=[dict(item) for item in listed], if_version=if_version)
        return self._written(self._call("update", params), "updated")

    def delete(
        self,
        chunk_ids: str | Iterable[str] | None = None,
        *,
        document_ids: str | Iterable[str] | None = None,
        filter: Filter | None = None,
        everything: bool | None = None,
        if_version: int | None = None,
    ) -> WriteReport:
        """By one of the three; a filter that matches everything needs `everything=True`."""
        params = self._scope(
            chunk_ids=None if chunk_ids is None else _listed(chunk_ids),
            document_ids=None if document_ids is None else _listed(document_ids),
            filter=filter, everything=everything, if_version=if_version,
        )
        return self._written(self._call("delete", params), "deleted")

    def drop(self) -> None:
        """The collection with all its namespaces."""
        self._db.drop_collection(self._name)

    # Searching

    def retrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        db = self._db
        return db._engine.retrieve(self._request(query, request), db._principal)

    async def aretrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        return await _in_thread(partial(self._db._retrieve, self._request(query, request)))

    def retrieve_batch(
        self,
        queries: Iterable[str | Mapping[str, Any]] | None = None,
        *,
        query_embeddings: Matrix | None = None,
        return_errors: bool = False,
        **request: Unpack[Request],
    ) -> list[Answer]:
        """Many queries at once: texts, dicts of what differs from `request`, or the rows of
        `query_embeddings`, or texts with their rows. The first error is raised, or stands in its
        place in the list."""
        return self._batch(queries, query_embeddings, return_errors, self._request(None, request))

    async def aretrieve_batch(
        self,
        queries: Iterable[str | Mapping[str, Any]] | None = None,
        *,
        query_embeddings: Matrix | None = None,
        return_errors: bool = False,
        **request: Unpack[Request],
    ) -> list[Answer]:
        shared = self._request(None, request)
        return await _in_thread(
            partial(self._batch, queries, query_embeddings, return_errors, shared)
        )

    def hybrid_search(self, query: str, **request: Unpack[Request]) -> Answer:
        """`retrieve` by the strategy "hybrid", whatever the profile says."""
        return self._db._retrieve(self._request(query, request) | {"strategy": "hybrid"})

    def context(self, query: str, *, budget: int = 2000, **request: Unpack[Request]) -> Context:
        """Passages for a prompt that fit so many tokens."""
        return self._context(self._request(query, request) | {"budget": budget})

    async def acontext(
        self, query: str, *, budget: int = 2000, **request: Unpack[Request]
    ) -> Context:
        return await _in_thread(
            partial(self._context, self._request(query, request) | {"budget": budget})
        )

    def explain(self, query: str, chunk_id: str, **request: Unpack[Request]) -> Explanation:
        """Where a chunk stands in each leg and in the whole ranking."""
        params = self._request(query, request) | {"chunk_id": chunk_id}
        return Explanation.from_dict(self._call("explain", params))

    def why_not(self, query: str, chunk_id: str, **request: Unpack[Request]) -> WhyNot:
        """Why the answer does not hold a chunk, and what would bring it in."""
        params = self._request(query, request) | {"chunk_id": chunk_id}
        return WhyNot.from_dict(self._call("why_not", params))

    def evaluate(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, int]],
        *,
        measures: Sequence[str] = (),
        documents: int = 100,
        per_query: bool = False,
        **request: Unpack[Request],
    ) -> dict[str, Any]:
        """Measures this way of searching: queries by id, and what is relevant for each."""
        params = {
            "queries": [{"id": id, "text": text} for id, text in queries.items()],
            "qrels": {query: dict(judged) for query, judged in qrels.items()},
            "measures": list(measures), "documents": documents, "per_query": per_query,
            "request": self._request(None, request),
        }
        result: dict[str, Any] = self._call("eval", params)
        return result

    # Reading

    def get(
        self, chunk_ids: str | Iterable[str], *, vectors: bool = False
    ) -> list[Chunk | None]:
        """One entry for each id, None where there is no such chunk."""
        return self._get(_listed(chunk_ids), vectors)

    async def aget(
        self, chunk_ids: str | Iterable[str], *, vectors: bool = False
    ) -> list[Chunk | None]:
        return await _in_thread(partial(self._get, _listed(chunk_ids), vectors))

    def neighbors(self, chunk_id: str, count: int = 1) -> list[Chunk]:
        """The chunk and up to `count` before and after it in its document."""
        db = self._db
        return db._engine.neighbors(self._name, self._namespace, chunk_id, count, db._principal)

    def scan(
        self, *, filter: Filter | None = None, vectors: bool = False, page: int = 1000
    ) -> Iterator[Chunk]:
        """Every matching chunk, by id; `page` are fetched at a time."""
        db, after = self._db, ""
        wanted = None if filter is None else dict(filter)
        while True:
            found = db._engine.scan(
                self._name, self._namespace, wanted, after, page, vectors, db._principal
            )
            yield from found
            if len(found) < page:
                return
            after = found[-1].chunk_id

    def facets(
        self, field: str, *, limit: int = 20, filter: Filter | None = None
    ) -> list[FacetCount]:
        found = self._call("facets", self._scope(field=field, limit=limit, filter=filter))
        return [FacetCount.from_dict(value) for value in found["values"]]

    def count(self, *, filter: Filter | None = None) -> int:
        return int(self._call("count", self._scope(filter=filter))["count"])

    def stats(self) -> Stats:
        return Stats.from_dict(self._call("stats", self._scope()))

    def describe(self) -> CollectionInfo:
        return CollectionInfo.from_dict(self._call("describe", {"collection": self._name}))

    def _call(self, operation: str, params: dict[str, Any], stop: StopSource | None = None) -> Any:
        return self._db._call(operation, params, stop)

    def _scope(self, **params: Any) -> dict[str, Any]:
        return {"collection": self._name, "namespace": self._namespace, **_given(**params)}

    def _request(self, query: str | None, request: Any) -> dict[str, Any]:
        """What the call says, and this handle with it; `request` is the call's own dict."""
        out: dict[str, Any] = request
        out.setdefault("collection", self._name)
        if query is not None:
            out["query"] = query
        if self._namespace != "default":
            out.setdefault("namespace", self._namespace)
        return out

    def _chunks(self, chunks: ChunkLike | Iterable[ChunkLike]) -> list[Any]:
        if isinstance(chunks, (str, Mapping)):
            return [_plain(chunks)]
        return [_plain(chunk) for chunk in chunks]

    def _add(
        self, chunks: list[Any], vectors: Matrix | None, schema: Mapping[str, Any] | None,
        if_version: int | None, replace_documents: bool, stop: StopSource | None = None,
    ) -> WriteReport:
        db = self._db
        return WriteReport.from_dict(db._engine.add(
            self._name, self._namespace, chunks, vectors, None if schema is None else dict(schema),
            if_version, db._principal, stop, replace_documents,
        ))

    def _batch(
        self, queries: Iterable[str | Mapping[str, Any]] | None, embeddings: Matrix | None,
        return_errors: bool, shared: dict[str, Any], stop: StopSource | None = None,
    ) -> list[Any]:
        if queries is None:
            listed: list[Any] = [None] * (0 if embeddings is None else len(embeddings))
        else:
            listed = [_plain(query) for query in queries]
        if not listed:
            return []
        db = self._db
        answers = db._engine.retrieve_batch(shared, listed, embeddings, db._principal, stop)
        return _first_error(answers, return_errors)

    def _get(
        self, chunk_ids: list[str], vectors: bool, stop: StopSource | None = None
    ) -> list[Chunk | None]:
        db = self._db
        return db._engine.get(
            self._name, self._namespace, chunk_ids, vectors, db._principal, stop
        )

    def _context(self, params: dict[str, Any], stop: StopSource | None = None) -> Context:
        return Context.from_dict(self._call("context", params, stop))

    @staticmethod
    def _written(report: dict[str, Any], key: str) -> WriteReport:
        return WriteReport.from_dict({**report, "written": report[key]})
