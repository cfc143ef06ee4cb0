from __future__ import annotations

import threading
import unittest

import numpy
from server import served
from support import ANIMALS

import braid


class Remote(unittest.TestCase):
    def setUp(self) -> None:
        url = self.enterContext(served(self))
        self.db = self.enterContext(braid.connect(url))
        self.notes = self.db["notes"]

    def test_the_same_objects_come_back(self) -> None:
        self.assertTrue(self.notes.add(ANIMALS).created)
        answer = self.notes.retrieve("ponds")
        self.assertIsInstance(answer, braid.Answer)
        self.assertEqual(answer.ids, ["carp"])
        self.assertEqual(answer[0].receipt.score, answer[0].score)
        self.assertEqual([chunk.chunk_id for chunk in self.notes.scan(page=2)], ["carp", "fox", "owl"])
        self.assertEqual(self.notes.get(["fox", "x"])[1], None)
        self.assertEqual([chunk.chunk_id for chunk in self.notes.neighbors("fox")], ["fox"])
        self.assertEqual(self.notes.facets("legs", limit=1)[0].count, 1)
        self.assertEqual(self.notes.stats().chunks, 3)
        self.assertEqual(self.notes.update({"chunk_id": "fox", "metadata": {"a": 1}}).written, 1)
        self.assertEqual(self.notes.delete("fox").written, 1)
        self.assertEqual(len(self.notes.context("owls").passages), 1)
        self.assertEqual([info.name for info in self.db.collections()], ["notes"])

    def test_vectors_and_batches(self) -> None:
        rows = numpy.eye(3, dtype=numpy.float32)
        self.notes.add(ANIMALS, vectors=rows)
        found = self.notes.retrieve_batch(query_embeddings=numpy.tile(rows, (50, 1)), strategy="dense", top_k=1)
        self.assertEqual([answer.ids[0] for answer in found], ["fox", "owl", "carp"] * 50)
        chunk = self.notes.get("owl", vectors=True)[0]
        assert chunk is not None
        numpy.testing.assert_array_equal(chunk.vector, rows[1])

    def test_errors_have_the_same_names(self) -> None:
        with self.assertRaises(braid.NotFound):
            self.notes.retrieve("x")
        self.notes.add("x")
        with self.assertRaisesRegex(braid.InvalidArgument, "top_k"):
            self.notes.retrieve("x", topk=1)  # type: ignore[call-arg]
        with self.assertRaises(braid.InvalidArgument):
            self.notes.retrieve("x", filter={"a": object()})
        for value in (float("nan"), "\ud800"):
            with self.assertRaises(braid.InvalidArgument):
                self.notes.retrieve("x", filter={"a": value})
        with self.assertRaises(braid.Unsupported):
            self.db.on_behalf_of(braid.Principal(clearance="public"))["notes"].count()
        good, bad = self.notes.retrieve_batch(["x", ""], return_errors=True)
        self.assertIsInstance(bad, braid.InvalidArgument)

    def test_many_threads(self) -> None:
        self.notes.add(ANIMALS)
        failures: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(20):
                    self.assertEqual(self.notes.retrieve("ponds").ids, ["carp"])
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Unreachable(unittest.TestCase):
    def test_nobody_there(self) -> None:
        with self.assertRaises(braid.Unavailable):
            braid.connect("http://127.0.0.1:9")["a"].count()
        with self.assertRaises(braid.InvalidArgument):
            braid.connect("ftp://somewhere")


if __name__ == "__main__":
    unittest.main()
