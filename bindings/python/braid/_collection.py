"""One namespace of one collection: the same object whether the engine is here or behind a server."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ._braid import Answer, Chunk, StopSource
from ._engine import NotPickled, as_list, first_error, in_thread, name_of, plain_dict, without_none
from ._errors import InvalidArgument
from ._results import CollectionInfo, Context, Explanation, FacetCount, Stats, WhyNot, WriteReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._database import Database
    from ._request import ChunkLike, Filter, Matrix, Request


class Collection(NotPickled):
    """A handle on one namespace of a collection. It holds nothing itself."""

    def __init__(self, database: Database, name: str, namespace: str = "default") -> None:
        self._db = database
        self._name = name_of(name)
        self._namespace = name_of(namespace, "a namespace's name")

    def __repr__(self) -> str:
        return f"<braid.Collection {self._name!r} ({self._namespace!r}) of {self._db!r}>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def database(self) -> Database:
        return self._db

    def namespace(self, name: str) -> Collection:
        """A partition of the same collection, with its own chunks and statistics."""
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
        """Inserts or replaces, all or none; on disk when it returns. Creates a missing collection,
        with `schema` if given. With `replace_documents` the chunks are the whole of their documents:
        the same write deletes the documents' other chunks."""
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
        return await in_thread(
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
        """Cuts documents into chunks and stores them, replacing their old chunks. `source` is the
        path of a file or folder, several paths, or the bytes of a file called `name`; or `text` is
        the document. Unchanged files are skipped. Options are those of `braid ingest`:
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
        return await in_thread(
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
        given = {key: as_list(value) if key in ("include", "exclude") else value
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
        """Deletes by exactly one of the three; a filter that matches everything needs
        `everything=True`."""
        params = self._scope(
            chunk_ids=None if chunk_ids is None else as_list(chunk_ids),
            document_ids=None if document_ids is None else as_list(document_ids),
            filter=filter, everything=everything, if_version=if_version,
        )
        return self._written(self._call("delete", params), "deleted")

    def drop(self) -> None:
        """Deletes the collection with all its namespaces."""
        self._db.drop_collection(self._name)

    # Searching

    def retrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        db = self._db
        return db._engine.retrieve(self._request(query, request), db._principal)

    async def aretrieve(self, query: str | None = None, **request: Unpack[Request]) -> Answer:
        return await in_thread(partial(self._db._retrieve, self._request(query, request)))

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
        return await in_thread(
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
        return await in_thread(
            partial(self._context, self._request(query, request) | {"budget": budget})
        )

    def explain(self, query: str, chunk_id: str, **request: Unpack[Request]) -> Explanation:
        """Where a chunk stands in each leg and in the whole ranking."""
        params = self._request(query, request) | {"chunk_id": chunk_id}
        return Explanation.from_dict(self._call("explain", params))

    def why_not(self, query: str, chunk_id: str, **request: Unpack[Request]) -> WhyNot:
        """Why a chunk is not in the answer, and what would bring it in."""
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
        return self._get(as_list(chunk_ids), vectors)

    async def aget(
        self, chunk_ids: str | Iterable[str], *, vectors: bool = False
    ) -> list[Chunk | None]:
        return await in_thread(partial(self._get, as_list(chunk_ids), vectors))

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
        self, field: str | None = None, *, limit: int = 20, filter: Filter | None = None
    ) -> list[FacetCount]:
        """The most frequent values of a field; without one, the metadata fields themselves."""
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
        return {"collection": self._name, "namespace": self._namespace, **without_none(**params)}

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
            return [plain_dict(chunks)]
        return [plain_dict(chunk) for chunk in chunks]

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
            listed = [plain_dict(query) for query in queries]
        if not listed:
            return []
        db = self._db
        answers = db._engine.retrieve_batch(shared, listed, embeddings, db._principal, stop)
        return first_error(answers, return_errors)

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
