"""The same objects over `braid serve`."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import socket
import ssl
import threading
from contextlib import nullcontext
from typing import Any
from urllib.parse import urlsplit

from ._braid import Answer, Chunk, Principal, StopSource, hybrid_search_text
from ._cancel import Cancel
from ._database import Database
from ._errors import (
    Cancelled,
    DeadlineExceeded,
    Error,
    InvalidArgument,
    NotFound,
    Unavailable,
    Unsupported,
    by_name,
)
from ._sending import PAGE, Sending, form_of, report_of

_BATCH = 100  # requests that a server takes at once
_WRITES = {"braid." + name for name in
           ("add", "update", "delete", "create_collection", "drop_collection")}

_BY_STATUS = {401: "permission_denied", 403: "permission_denied", 413: "resource_exhausted"}


#: Variables of a profile, as the program has them: the member, and whether it is a whole number.
_VARIABLES = {
    "service": {
        "RETRIEVAL_TOP_K": ("top_k", True),
        "RETRIEVAL_VECTOR_WEIGHT": ("dense_weight", False),
        "RETRIEVAL_BM25_WEIGHT": ("sparse_weight", False),
    },
    "artifacts": {
        "RRF_CONSTANT": ("k", False),
        "OVERFETCH_MULTIPLIER": ("depth_per_hit", True),
        "MAX_HYBRID_SEARCH_RESULTS": ("max_top_k", True),
    },
}
_REQUESTS = ("context", "explain", "why_not")


class _Profiles:
    """The caller's: they go with each request, as `open` uses them."""

    def __init__(self) -> None:
        self._changed: dict[str, dict[str, Any]] = {}
        for profile, variables in _VARIABLES.items():
            for name, (member, whole) in variables.items():
                text = os.environ.get(name, "")
                if not text:
                    continue
                try:
                    number: float = int(text) if whole else float(text)
                except ValueError:
                    kind = "an integer" if whole else "a number"
                    raise InvalidArgument(f"{name} must be {kind}, got {text!r}") from None
                own = self._changed.setdefault(profile, {"base": profile, "name": profile})
                own[member] = number
        self._usual = os.environ.get("BRAID_PROFILE") or (
            "service" if "service" in self._changed else None
        )

    def over(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request with the profile that it means."""
        profile = request.get("profile") or self._usual
        if not isinstance(profile, str) or (request.get("cursor") and not request.get("profile")):
            return request
        return {**request, "profile": self._changed.get(profile, profile)}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _jsonable(value: Any) -> Any:
    """What json does not know: NumPy's arrays and numbers, and times."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InvalidArgument(f"a value of type {type(value).__name__} cannot be written as JSON")


def _stopped(stop: StopSource | None) -> bool:
    return stop is not None and stop.stop_requested


class HttpEngine:
    """JSON-RPC over HTTP/1.1, a connection for each thread that is calling."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix"):
            raise InvalidArgument(f"the address must begin with http://, https:// or unix:, got {url!r}")
        self._parts = parts
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._ids = itertools.count(1)
        self._closed = False
        self._profiles = _Profiles()
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        parts, timeout = self._parts, self._timeout
        if parts.scheme == "unix":
            return _UnixConnection(parts.path, timeout)
        host = parts.hostname or "localhost"
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                host, parts.port, timeout=timeout, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(host, parts.port or 27243, timeout=timeout)

    def _exchange(
        self, connection: http.client.HTTPConnection, body: bytes, stop: StopSource | None,
        to: str, headers: dict[str, str],
    ) -> tuple[int, bytes]:
        path = to if self._parts.scheme == "unix" else self._parts.path.rstrip("/") + to
        if connection.sock is None:
            connection.connect()
        line = connection.sock
        assert line is not None
        with stop.over(line) if isinstance(stop, Cancel) else nullcontext():
            connection.request("POST", path, body, {**self._headers, **headers})
            response = connection.getresponse()
            return response.status, response.read()

    def _post(
        self, body: bytes, fresh: bool, stop: StopSource | None, to: str = "/rpc", **headers: str
    ) -> tuple[int, bytes]:
        """Over an idle connection, if there is one. The server may have closed that, which cannot be
        told from a server that stopped half-way: reads are sent again, writes go over a fresh one."""
        if self._process != os.getpid():  # the connections are the parent's, who goes on with them
            for inherited in self._idle:
                inherited.close()
            self._begin()
        with self._lock:
            if self._closed:
                raise Unavailable("this database is closed")
            connection = self._idle.pop() if self._idle and not fresh else None
        reused = connection is not None
        connection = connection or self._connect()
        try:
            try:
                status, data = self._exchange(connection, body, stop, to, headers)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if not reused or _stopped(stop):
                    raise
                connection.close()
                connection = self._connect()
                status, data = self._exchange(connection, body, stop, to, headers)
        except TimeoutError as error:
            connection.close()
            raise DeadlineExceeded(f"{self._parts.geturl()} did not answer in {self._timeout} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if _stopped(stop):
                raise Cancelled("the call was cancelled") from error
            raise Unavailable(f"{self._parts.geturl()}: {error}") from error
        except BaseException:  # Ctrl-C: the server sees the connection go, and cancels
            connection.close()
            raise
        with self._lock:
            if not self._closed and len(self._idle) < 16:
                self._idle.append(connection)
                return status, data
        connection.close()
        return status, data

    def _rpc(
        self, method: str, params: dict[str, Any], principal: Principal,
        stop: StopSource | None = None,
    ) -> Any:
        if principal != Principal():
            raise Unsupported("a server takes the principal from the API key: connect() with the key of that principal")
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": params}
        try:
            text = json.dumps(message, default=_jsonable, allow_nan=False, ensure_ascii=False)
            body = text.encode()
        except ValueError as wrong:
            raise InvalidArgument(f"a value cannot be written as JSON: {wrong}") from wrong
        answer, status = self._parsed(*self._post(body, method in _WRITES, stop))
        if "result" in answer:
            return answer["result"]
        if "error" in answer:
            error = answer["error"]
            code = (error.get("data") or {}).get("code", "")
            raise by_name(code, error.get("message", "")) if code else Error(error.get("message", ""))
        raise self._problem(answer, status)

    def _parsed(self, status: int, data: bytes) -> tuple[dict[str, Any], int]:
        try:
            return json.loads(data), status
        except ValueError:
            raise Unavailable(f"{self._parts.geturl()} answered {status} without JSON") from None

    @staticmethod
    def _problem(answer: dict[str, Any], status: int) -> Error:
        code = _BY_STATUS.get(status) or str(answer.get("code", "unavailable"))
        return by_name(code, str(answer.get("detail", status)))

    def call(
        self, operation: str, params: dict[str, Any], principal: Principal,
        stop: StopSource | None = None,
    ) -> Any:
        if operation in _REQUESTS:
            params = self._profiles.over(params)
        elif operation == "eval":
            params = {**params, "request": self._profiles.over(params.get("request") or {})}
        return self._rpc("braid." + operation, params, principal, stop)

    def retrieve(
        self, request: dict[str, Any], principal: Principal, stop: StopSource | None = None
    ) -> Answer:
        own = self._profiles.over(request)
        return Answer.from_dict(self._rpc("braid.retrieve", own, principal, stop))

    def retrieve_batch(
        self, shared: dict[str, Any], queries: list[Any], embeddings: Any, principal: Principal,
        stop: StopSource | None = None,
    ) -> list[Answer | Error]:
        requests = []
        for place, query in enumerate(queries):
            own = {"query": query} if isinstance(query, str) else query or {}
            vector = {} if embeddings is None else {"query_embedding": embeddings[place]}
            requests.append(self._profiles.over({**shared, **own, **vector}))
        out: list[Answer | Error] = []
        for start in range(0, len(requests), _BATCH):
            params = {"requests": requests[start : start + _BATCH]}
            for answer in self._rpc("braid.retrieve_batch", params, principal, stop)["answers"]:
                error = answer.get("error")
                out.append(
                    by_name(error["code"], error["message"]) if error else Answer.from_dict(answer)
                )
        return out

    def backup(self, path: str, stop: StopSource | None = None) -> dict[str, Any]:
        raise Unsupported("backups cannot be made over HTTP; `braid backup` copies a database that is being served")

    def hybrid_search(
        self, params: dict[str, Any], principal: Principal, stop: StopSource | None = None
    ) -> tuple[dict[str, Any], str]:
        found: dict[str, Any] = self._rpc("braid.hybrid_search", params, principal, stop)
        return found, hybrid_search_text(found["results"])

    def add(
        self, collection: str, namespace: str, chunks: list[Any], vectors: Any,
        schema: dict[str, Any] | None, if_version: int | None, principal: Principal,
        stop: StopSource | None = None,
        replace_documents: bool = False,
    ) -> dict[str, Any]:
        listed = [{"text": chunk} if isinstance(chunk, str) else dict(chunk) for chunk in chunks]
        if vectors is not None:
            for chunk, vector in zip(listed, vectors, strict=True):
                chunk["vector"] = vector
        params = {
            "collection": collection, "namespace": namespace, "chunks": listed, "schema": schema,
            "if_version": if_version, "replace_documents": replace_documents,
        }
        report: dict[str, Any] = self._rpc("braid.add", params, principal, stop)
        return report

    def _exists(self, collection: str, principal: Principal, stop: StopSource | None) -> bool:
        try:
            self._rpc("braid.describe", {"collection": collection}, principal, stop)
        except NotFound:
            return False
        return True

    def ingest_paths(
        self, collection: str, namespace: str, paths: list[str], options: dict[str, Any],
        principal: Principal, stop: StopSource | None = None,
    ) -> dict[str, Any]:
        def send(name: str, content: bytes, id: str, metadata: dict[str, Any]) -> dict[str, Any]:
            return self.ingest_bytes(
                collection, namespace, name, content, id, None, metadata, {}, principal, stop
            )

        there = self._exists(collection, principal, stop)

        def first(id: str) -> Chunk | None:
            if not there:
                return None
            return self.get(collection, namespace, [id + "#0"], False, principal, stop)[0]

        def stored(root: str, after: str) -> list[Chunk]:
            if not there:
                return []
            filter = {"source_root": root, "chunk_index": 0}
            return self.scan(collection, namespace, filter, after, PAGE, False, principal)

        def remove(ids: list[str]) -> int:
            params = {"collection": collection, "namespace": namespace, "document_ids": ids}
            return int(self._rpc("braid.delete", params, principal, stop)["deleted"])

        return Sending(send, first, stored, remove).run(paths, options, stop)

    def ingest_bytes(
        self, collection: str, namespace: str, name: str, content: bytes, document_id: str,
        title: str | None, metadata: dict[str, Any], options: dict[str, Any], principal: Principal,
        stop: StopSource | None = None,
    ) -> dict[str, Any]:
        if principal != Principal():
            raise Unsupported("a server takes the principal from the API key: connect() with the key of that principal")
        if options:
            raise Unsupported(f"the server cuts files itself: {', '.join(options)} works only on a "
                              "database in this process, or with `braid ingest`")
        fields = {"collection": collection, "namespace": namespace, "document_id": document_id or name,
                  "metadata": json.dumps(metadata, default=_jsonable)}
        if title is not None:
            fields["title"] = title
        created = not self._exists(collection, principal, stop)
        kind, body = form_of(fields, name, content)
        answer, status = self._parsed(
            *self._post(body, True, stop, "/v1/documents", **{"Content-Type": kind})
        )
        if "documents" not in answer:
            raise self._problem(answer, status)
        return report_of(answer, collection, created)

    def get(
        self, collection: str, namespace: str, chunk_ids: list[str], vectors: bool,
        principal: Principal, stop: StopSource | None = None,
    ) -> list[Chunk | None]:
        params = {
            "collection": collection, "namespace": namespace, "chunk_ids": chunk_ids,
            "vectors": vectors,
        }
        found = self._rpc("braid.get", params, principal, stop)["chunks"]
        return [None if chunk is None else Chunk.from_dict(chunk) for chunk in found]

    def scan(
        self, collection: str, namespace: str, filter: dict[str, Any] | None, after: str,
        limit: int, vectors: bool, principal: Principal,
    ) -> list[Chunk]:
        params = {
            "collection": collection, "namespace": namespace, "filter": filter, "after": after,
            "limit": limit, "vectors": vectors,
        }
        found = self._rpc("braid.scan", params, principal)["chunks"]
        return [Chunk.from_dict(chunk) for chunk in found]

    def neighbors(
        self, collection: str, namespace: str, chunk_id: str, count: int, principal: Principal
    ) -> list[Chunk]:
        params = {
            "collection": collection, "namespace": namespace, "chunk_id": chunk_id, "count": count
        }
        found = self._rpc("braid.neighbors", params, principal)["chunks"]
        return [Chunk.from_dict(chunk) for chunk in found]


def connect(url: str, *, key: str | None = None, timeout: float = 60.0) -> Database:
    """A database behind `braid serve`: "http://localhost:27243", or "unix:/path/of/its.socket".
    `key` is an API key (`braid keys add`); it says who asks. The variables BRAID_PROFILE and
    RETRIEVAL_* hold as for `open`: they go with the requests."""
    return Database(HttpEngine(url, key, timeout), url)
