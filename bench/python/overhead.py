"""What calling from Python costs over the library: `python bench/python/overhead.py`.

The same requests in turns by Python and by a loop in C++ in the same process, on the same database.
On both sides the time runs until the answer is freed; the loop has its requests ready. Each request
counts with its best round, and the time of the processor stands beside that of the clock, so that
what else the machine does counts little. One line of JSON."""

from __future__ import annotations

import json
import statistics
import threading
import time
from typing import Any

import numpy

import braid
from braid._braid import library_batch_seconds, library_seconds

DIMENSION, CHUNKS, CALLS, ROUNDS, BATCH = 384, 2_000, 500, 8, 1_000
THREADS = (1, 2, 4, 8)


Spent = tuple[float, float]  # by the clock, and of the processor


def timed(notes: braid.Collection, requests: list[dict[str, Any]]) -> list[Spent]:
    """Of each call; the answer is freed before the clocks are read."""
    seen, clock, processor = [], time.perf_counter, time.thread_time
    for request in requests:
        spent, begun = processor(), clock()
        notes.retrieve(**request)
        ended = clock()
        seen.append((ended - begun, processor() - spent))
    return seen


def best(rounds: list[list[Spent]], which: int) -> list[float]:
    return [min(spent[which] for spent in seen) for seen in zip(*rounds, strict=True)]


def single(notes: braid.Collection, engine: Any, requests: list[dict[str, Any]]) -> dict[str, float]:
    """Microseconds: medians over the requests."""
    named = [{"collection": notes.name, **request} for request in requests]
    mine, theirs = [], []
    for _ in range(ROUNDS):
        mine.append(timed(notes, requests))
        theirs.append(library_seconds(engine, named, 1)[1])
    result = {"library_us": round(statistics.median(best(theirs, 0)) * 1e6, 2)}
    for which, name in enumerate(("over_us", "over_processor_us")):
        over = [m - t for m, t in zip(best(mine, which), best(theirs, which), strict=True)]
        result[name] = round(statistics.median(over) * 1e6, 2)
    return result


def batch(notes: braid.Collection, engine: Any, rows: numpy.ndarray) -> dict[str, float]:
    """Per cent, of the best rounds. All answers are kept until the last is there."""
    wanted = {"strategy": "dense", "top_k": 10}
    shared = {"collection": notes.name, **wanted}
    mine, theirs = [], []
    for _ in range(4 * ROUNDS):
        spent, begun = time.process_time(), time.perf_counter()
        notes.retrieve_batch(query_embeddings=rows, **wanted)
        ended = time.perf_counter()
        mine.append((ended - begun, time.process_time() - spent))
        theirs.append(library_batch_seconds(engine, shared, [None] * len(rows), rows))
    (clock, processor), (their_clock, their_processor) = (
        [min(spent[which] for spent in side) for which in (0, 1)] for side in (mine, theirs)
    )
    return {
        "library_ms": round(their_clock * 1e3, 1),
        "over_percent": round(100 * (clock / their_clock - 1), 2),
        "over_processor_percent": round(100 * (processor / their_processor - 1), 2),
    }


def python_seconds(notes: braid.Collection, requests: list[dict[str, Any]], threads: int) -> float:
    def work() -> None:
        for request in requests:
            notes.retrieve(**request)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return time.perf_counter() - begun


def scaling(notes: braid.Collection, engine: Any, requests: list[dict[str, Any]]) -> dict[int, dict[str, float]]:
    """Queries a second of so many threads, each making all requests, and how many times those of one."""
    named = [{"collection": notes.name, **request} for request in requests]
    rates: dict[int, tuple[float, float]] = {}
    for threads in THREADS:
        count = threads * len(requests)
        rates[threads] = (
            count / min(python_seconds(notes, requests, threads) for _ in range(ROUNDS // 2)),
            count / min(library_seconds(engine, named, threads)[0] for _ in range(ROUNDS // 2)),
        )
    return {
        threads: {
            "python_per_s": round(python), "library_per_s": round(library),
            "python_times": round(python / rates[1][0], 2),
            "library_times": round(library / rates[1][1], 2),
            "ratio": round(python / library, 3),
        }
        for threads, (python, library) in rates.items()
    }


def main() -> None:
    rows = numpy.random.default_rng(1).standard_normal((CHUNKS, DIMENSION), dtype=numpy.float32)
    with braid.open(None) as db:
        notes, engine = db["notes"], db._engine
        notes.add([f"chunk {i} word{i % 97}" for i in range(CHUNKS)], vectors=rows)
        kinds: dict[str, list[dict[str, Any]]] = {
            "vector": [{"query_embedding": row, "strategy": "dense", "top_k": 10} for row in rows[:CALLS]],
            "words": [{"query": f"chunk word{i % 97}", "strategy": "sparse", "top_k": 10} for i in range(CALLS)],
            "hybrid": [{"query": "chunk", "query_embedding": row, "top_k": 10,
                        "filter": {"missing": {"$exists": False}}} for row in rows[:CALLS]],
        }
        result: dict[str, Any] = {name: single(notes, engine, requests) for name, requests in kinds.items()}
        result["batch_of_1000"] = batch(notes, engine, rows[:BATCH])
        result["threads"] = scaling(notes, engine, kinds["vector"])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
