"""Databases made, searched and dropped over and over: memory stays where it is. BRAID_LEAK_CYCLES says
how often (500)."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import tempfile
import tracemalloc
import unittest

import numpy
from support import ANIMALS, letters

import braid

CYCLES = int(os.environ.get("BRAID_LEAK_CYCLES", "500"))
READINGS = 10


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def search(notes: braid.Collection) -> None:
    """Every way in which memory goes from one side to the other."""
    answers = notes.retrieve_batch(["hunt", "ponds", ""], return_errors=True)
    answers[0].to_dict()
    repr(answers[0])
    answers[0]._repr_html_()
    answers[0][0].receipt.to_dict()
    pickle.loads(pickle.dumps(answers[0]))
    vector = numpy.array(letters(["hunt"])[0], dtype=numpy.float32)
    notes.retrieve("hunt", query_embedding=vector, filter={"legs": {"$gte": 2}}, stages=["twice"])
    notes.context("hunt")
    notes.why_not("hunt", "carp", top_k=1)
    kept = [chunk.vector for chunk in notes.scan(vectors=True)]
    notes.update({"chunk_id": "owl", "metadata": {"legs": 3}})
    notes.delete("owl")
    del kept


def mistakes(db: braid.Database) -> None:
    for wrong in (
        lambda: db["nowhere"].retrieve("x"),
        lambda: db["notes"].retrieve("x", filter={"a": object()}),
        lambda: db["notes"].add([{"chunk_id": "x"}]),
        lambda: db["notes"].retrieve("x", stages=["broken"]),
    ):
        try:
            wrong()
        except braid.Error:
            pass


def cycle(path: str | None) -> None:
    def broken(*_: object) -> list[None]:
        raise KeyError("on purpose")

    db = braid.open(
        path, embedder=braid.Embedder(letters, model="letters"), durability="relaxed",
        stages={"broken": broken, "twice": lambda query, hits, _: [2 * hit.score for hit in hits]},
    )
    with db:
        db["notes"].add(ANIMALS)
        search(db["notes"])
        mistakes(db)
        db["notes"].drop()


async def asynchronous() -> None:
    with braid.open(None, embedder="none") as db:
        await db["notes"].aadd(ANIMALS)
        await asyncio.gather(*(db["notes"].aretrieve("hunt") for _ in range(4)))


def all_kinds(folder: str, number: int) -> None:
    cycle(folder if number % 10 == 0 else None)
    if number % 10 == 5:
        asyncio.run(asynchronous())


class Leaks(unittest.TestCase):
    def test_create_search_drop_does_not_grow(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(CYCLES // 5):
                all_kinds(folder, number)
            tracemalloc.start()
            self.addCleanup(tracemalloc.stop)
            readings: list[tuple[int, int]] = []
            for number in range(CYCLES):
                if number % max(CYCLES // READINGS, 1) == 0:
                    gc.collect()
                    readings.append((tracemalloc.get_traced_memory()[0], resident_bytes()))
                all_kinds(folder, number)
            gc.collect()
            readings.append((tracemalloc.get_traced_memory()[0], resident_bytes()))
        shown = ", ".join(f"{traced / 1e3:.0f} kB of {resident / 1e6:.1f} MB" for traced, resident in readings)
        if "BRAID_LEAK_CYCLES" in os.environ:
            print(f"{CYCLES} cycles: {shown}")
        # The first reading comes before tracemalloc's own tables are there.
        traced, resident = (last - first for first, last in zip(readings[1], readings[-1], strict=True))
        self.assertLess(traced, 100_000, shown)
        self.assertLess(resident, 8_000_000, shown)


if __name__ == "__main__":
    unittest.main()
