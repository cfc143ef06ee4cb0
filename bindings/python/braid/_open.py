"""Opening databases in this process."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._braid import Engine
from ._callables import (
    Embedder,
    Preprocessor,
    Reranker,
    Stage,
    as_embedders,
    as_preprocessor,
    as_stages,
)
from ._database import Database
from ._errors import InvalidArgument

if TYPE_CHECKING:
    from ._callables import EmbedFunction, ExpandFunction, RerankFunction, StageFunction

# Closed before the interpreter goes, because embedders and stages are its objects.
_open: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for engine in list(_open):
        engine.close()


def open(
    path: str | os.PathLike[str] | None,
    *,
    create: bool = True,
    read_only: bool = False,
    durability: Literal["full", "relaxed"] = "full",
    relaxed_ms: int = 100,
    write_memory_mb: int = 256,
    embedder: str | Embedder | EmbedFunction = "bge-small-en-v1.5",
    embedders: Mapping[str, Embedder | EmbedFunction] | None = None,
    stages: Mapping[str, Stage | StageFunction] | None = None,
    reranker: str | os.PathLike[str] | Reranker | RerankFunction | None = None,
    profiles: Mapping[str, Mapping[str, Any]] | None = None,
    openai: Mapping[str, Any] | None = None,
    llm: Mapping[str, Any] | None = None,
    preprocessor: Preprocessor | ExpandFunction | None = None,
    offline: bool = False,
    cluster: str | Sequence[str] | Mapping[str, Any] | None = None,
    log: Callable[[str, str, str], object] | None = None,
) -> Database:
    """Opens a database: a directory, or None for one that lives in memory, or in a cluster.

    write_memory_mb  MiB for chunks in no file yet, merges, and graphs being built
    embedder    of collections that a write creates: a built-in model's name, "openai", "external"
                (you bring vectors), "none", a name of `embedders`, or a function
    embedders   functions from texts to vectors, by the name that collections keep
    stages      steps after fusion, by the name that requests use
    reranker    the stage "rerank": an ONNX cross-encoder's path, or a function (query, texts)
    profiles    named request defaults: {"mine": {"base": "default", "top_k": 5}}
    openai      of the embedder "openai": base_url, api_key, model, dimensions
    llm         for expand_query and use_hyde: model, base_url, api_key, timeout_ms
    preprocessor  the same by functions, instead of llm: one from a query to other phrasings, or a
                braid.Preprocessor
    offline     forbids every outgoing call
    cluster     with the path None: a search cluster that holds the collections. Addresses of its
                nodes, or a dict: url (one, several, or with commas between), key ("user:password"
                or a token, else the variable BRAID_CLUSTER_KEY), ca_file, prefix, shards, replicas
    log         is called with (level, name, message)

    Requests without a profile use that of the variable BRAID_PROFILE, else "service" if a variable
    RETRIEVAL_* is set, else "default"; the variables change the profiles as for the program.

    Locked if another process writes to it: share it through `braid serve` and braid.connect().
    """
    if llm is not None and preprocessor is not None:
        raise InvalidArgument("give llm or preprocessor, not both")
    own = as_embedders(embedders)
    if not isinstance(embedder, str):
        made = as_embedders({"python": embedder})["python"]
        own[made.model] = made
        embedder = made.model
    steps = as_stages(stages)
    model: str | None = None
    if isinstance(reranker, (str, os.PathLike)):
        model = os.fspath(reranker)
    elif reranker is not None:
        steps["rerank"] = reranker if isinstance(reranker, Reranker) else Reranker(reranker)
    options = {
        "create": create, "read_only": read_only, "durability": durability,
        "relaxed_ms": relaxed_ms, "write_memory_mb": write_memory_mb, "embedder": embedder,
        "embedders": own, "stages": steps, "reranker": model, "profiles": _dict(profiles),
        "openai": _dict(openai), "llm": _dict(llm),
        "preprocessor": as_preprocessor(preprocessor), "offline": offline, "log": log,
        "cluster": _endpoint(cluster),
    }
    if cluster is not None and path is not None:
        raise InvalidArgument("a database is in a directory or in a cluster: give one of both")
    place = None if path is None else os.fspath(path)
    engine = Engine(place, options)
    _open.add(engine)
    return Database(engine, place or ("memory" if cluster is None else "cluster"))


def _endpoint(cluster: str | Sequence[str] | Mapping[str, Any] | None) -> dict[str, Any] | None:
    if cluster is None:
        return None
    given = dict(cluster) if isinstance(cluster, Mapping) else {"url": cluster}
    urls = given.get("url")
    if isinstance(urls, str):
        given["url"] = [url for url in urls.split(",") if url]
    elif urls is not None:
        given["url"] = list(urls)
    given.setdefault("key", os.environ.get("BRAID_CLUSTER_KEY", ""))
    return given


def _dict(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if given is None else {
        key: dict(value) if isinstance(value, Mapping) else value for key, value in given.items()
    }
