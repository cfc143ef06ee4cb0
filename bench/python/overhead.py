"""What calling from Python costs over the library: `python bench/python/overhead.py`.

Each call's time in Python, less the time it spent in the engine. One line of JSON."""

from __future__ import annotations

import json
import statistics
import threading
import time

import numpy

import braid
from braid._braid import engine_seconds

DIMENSION, CHUNKS, CALLS, BATCH = 384, 2_000, 2_000, 1_000


def over(call) -> tuple[float, float]:
    """Seconds over the engine's, and the engine's. Giving the answer back is not counted: every user
    of the library does that, at a time of its own."""
    begun = time.perf_counter()
    answer = call()
    wall = time.perf_counter() - begun
    del answer
    return wall - engine_seconds(), engine_seconds()


def queries_per_second(notes: braid.Collection, rows: numpy.ndarray, threads: int) -> float:
    def work() -> None:
        for row in rows[:300]:
            notes.retrieve(query_embedding=row, strategy="dense", top_k=10)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    begun = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return threads * 300 / (time.perf_counter() - begun)


def main() -> None:
    random = numpy.random.default_rng(1)
    rows = random.standard_normal((CHUNKS, DIMENSION), dtype=numpy.float32)
    with braid.open(None) as db:
        notes = db["notes"]
        notes.add([f"chunk {i} word{i % 97}" for i in range(CHUNKS)], vectors=rows)
        kinds = {
            "vector": lambda i: notes.retrieve(query_embedding=rows[i], strategy="dense", top_k=10),
            "words": lambda i: notes.retrieve("chunk word5", strategy="sparse", top_k=10),
            "hybrid": lambda i: notes.retrieve("chunk", query_embedding=rows[i], top_k=10,
                                               filter={"missing": {"$exists": False}}),
        }
        result: dict[str, object] = {}
        for name, call in kinds.items():
            for i in range(100):
                call(i)
            seen = [over(lambda i=i: call(i % CHUNKS)) for i in range(CALLS)]
            result[name] = {
                "over_us": round(statistics.median(s[0] for s in seen) * 1e6, 2),
                "engine_us": round(statistics.median(s[1] for s in seen) * 1e6, 2),
            }
        batches = [
            over(lambda: notes.retrieve_batch(query_embeddings=rows[:BATCH], strategy="dense", top_k=10))
            for _ in range(5)
        ]
        result["batch_of_1000"] = {
            "over_percent": round(100 * statistics.median(s[0] / s[1] for s in batches), 2),
            "engine_ms": round(statistics.median(s[1] for s in batches) * 1e3, 1),
        }
        result["queries_per_second"] = {
            threads: round(queries_per_second(notes, rows, threads)) for threads in (1, 2, 8)
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
