"""Chunks out of other databases, with their vectors: Chroma, LanceDB, Qdrant.

    python -m braid.importers chroma ./chroma-data --collection docs | braid ingest - --collection docs
    notes.add(braid.importers.chroma("./chroma-data", "docs"))

Each needs the package that wrote the data, and says so where it is missing. Documents of LangChain
and LlamaIndex need none: `braid ingest FILE --from langchain` (or llamaindex) reads their JSON.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._errors import Error, InvalidArgument, NotFound, Unsupported

__all__ = ["chroma", "lancedb", "qdrant"]

_PAGE = 500
_TEXTS = ("text", "content", "page_content", "document", "chunk", "body")
_IDS = ("chunk_id", "_id", "id", "doc_id")
_VECTORS = ("vector", "embedding")


def _package(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        raise Unsupported(
            f"to read {what}, Python needs its package: pip install {name.replace('_', '-')} ({missing})"
        ) from missing


def _plain(value: Any) -> Any:
    """What JSON can hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [_plain(item) for item in value]
    return str(value)


def _chunk(id: Any, text: Any, metadata: Mapping[str, Any] | None, vector: Any) -> dict[str, Any]:
    chunk: dict[str, Any] = {"_id": str(id), "text": text if isinstance(text, str) else ""}
    kept = {key: value for key, value in _plain(metadata or {}).items() if value is not None}
    if kept:
        chunk["metadata"] = kept
    if vector is not None:
        chunk["vector"] = [float(number) for number in vector]
    return chunk


def _one_of(names: Sequence[str], asked: str | None, what: str, path: str) -> str:
    if asked is not None:
        if asked not in names:
            raise NotFound(f"{path} has no {what} {asked!r}; it has {', '.join(names) or 'none'}")
        return asked
    if len(names) != 1:
        raise InvalidArgument(f"name a {what}: {path} has {', '.join(names) or 'none'}")
    return names[0]


def _folder(path: str | os.PathLike[str], marks: Sequence[str], what: str) -> str:
    place = os.fspath(path)
    if not any(os.path.exists(os.path.join(place, mark)) for mark in marks):
        raise NotFound(f"{place} is not a {what} folder: {' or '.join(marks)} is missing")
    return place


def chroma(path: str | os.PathLike[str], collection: str | None = None) -> Iterator[dict[str, Any]]:
    """The records of a collection in a Chroma folder; without a name, of its only collection."""
    package = _package("chromadb", "Chroma")
    place = _folder(path, ["chroma.sqlite3"], "Chroma")
    client = package.PersistentClient(path=place)
    names = sorted(getattr(found, "name", found) for found in client.list_collections())
    source = client.get_collection(_one_of(names, collection, "collection", place))
    for offset in range(0, source.count(), _PAGE):
        page = source.get(
            include=["documents", "metadatas", "embeddings"], limit=_PAGE, offset=offset
        )
        empty = [None] * len(page["ids"])
        vectors = page["embeddings"] if page["embeddings"] is not None else empty
        for id, text, metadata, vector in zip(
            page["ids"], page["documents"] or empty, page["metadatas"] or empty, vectors, strict=True
        ):
            yield _chunk(id, text, metadata, vector)


def _first(names: Sequence[str], columns: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def lancedb(
    path: str | os.PathLike[str], table: str | None = None, *, text: str | None = None,
    id: str | None = None, vector: str | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of a table of a LanceDB folder. The columns of text, id and vector are found by their
    usual names unless they are given; all others become metadata."""
    package = _package("lancedb", "LanceDB")
    place = os.fspath(path)
    if not os.path.isdir(place):
        raise NotFound(f"{place} is not a LanceDB folder")
    database = package.connect(place)
    source = database.open_table(_one_of(sorted(database.table_names()), table, "table", place))
    columns = source.schema.names
    for given in (text, id, vector):
        if given is not None and given not in columns:
            raise NotFound(f"the table has no column {given!r}; it has {', '.join(columns)}")
    text = text or _first(_TEXTS, columns)
    if text is None:
        raise InvalidArgument(f"name the column with the text, one of {', '.join(columns)}")
    id, vector = id or _first(_IDS, columns), vector or _first(_VECTORS, columns)
    number = 0
    for batch in source.to_arrow().to_batches(max_chunksize=_PAGE):
        for row in batch.to_pylist():
            rest = {key: value for key, value in row.items() if key not in (text, id, vector)}
            nested = rest.pop("metadata", None)
            metadata = {**nested, **rest} if isinstance(nested, Mapping) else (
                rest if nested is None else {**rest, "metadata": nested})
            yield _chunk(row[id] if id else number, row[text], metadata, row[vector] if vector else None)
            number += 1


def _payload(payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Text and metadata, however LangChain, LlamaIndex, fastembed or a user laid them out."""
    rest = dict(payload)
    node = rest.pop("_node_content", None)
    if isinstance(node, str):
        inner = json.loads(node)
        text = inner.get("text") or (inner.get("text_resource") or {}).get("text") or ""
        return str(text or rest.get("text", "")), dict(inner.get("metadata") or {})
    key = _first(_TEXTS, list(rest))
    text = rest.pop(key) if key else ""
    nested = rest.pop("metadata", None)
    if isinstance(nested, Mapping):
        rest = {**nested, **rest}
    return str(text), rest


def qdrant(
    place: str | os.PathLike[str], collection: str | None = None, *, vector: str | None = None,
    api_key: str | None = None,
) -> Iterator[dict[str, Any]]:
    """The points of a collection: of a folder that qdrant-client keeps, or of a server ("http://…").
    `vector` names one of several vectors; sparse ones are left out."""
    package = _package("qdrant_client", "Qdrant")
    where = os.fspath(place)
    if where.startswith(("http://", "https://")):
        client = package.QdrantClient(url=where, api_key=api_key)
    else:
        client = package.QdrantClient(path=_folder(where, ["meta.json"], "qdrant-client"))
    names = sorted(found.name for found in client.get_collections().collections)
    name = _one_of(names, collection, "collection", where)
    after = None
    while True:
        points, after = client.scroll(
            name, limit=_PAGE, offset=after, with_payload=True, with_vectors=True
        )
        for point in points:
            found = point.vector
            if isinstance(found, Mapping):
                dense = {key: item for key, item in found.items() if isinstance(item, Sequence)}
                chosen = _one_of(sorted(dense), vector, "vector", name) if dense else None
                found = dense[chosen] if chosen else None
            text, metadata = _payload(point.payload or {})
            yield _chunk(point.id, text, metadata, found)
        if after is None:
            break
    client.close()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m braid.importers", description="Writes chunks as JSON lines, for `braid ingest -`."
    )
    parser.add_argument("source", choices=["chroma", "lancedb", "qdrant"])
    parser.add_argument("path", help="the folder; Qdrant: or the address of a server")
    parser.add_argument("--collection", help="the collection or table (default: the only one)")
    parser.add_argument("--no-vectors", action="store_true", help="leave the vectors out")
    options = parser.parse_args(arguments)
    try:
        for chunk in globals()[options.source](options.path, options.collection):
            if options.no_vectors:
                chunk.pop("vector", None)
            print(json.dumps(chunk, ensure_ascii=False, allow_nan=False))
    except Error as wrong:
        print(f"braid.importers: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
