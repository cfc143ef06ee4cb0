"""A database as a container of its collections, in the process and over a server."""

from __future__ import annotations

import asyncio
import unittest
from typing import Any

from server import served
from support import ANIMALS, DatabaseTest

import braid


class Container:
    """What holds for every database; mixed into tests that have one."""

    db: braid.Database

    def check(self, test: unittest.TestCase) -> None:
        db = self.db
        test.assertEqual(list(db), [])
        test.assertEqual(len(db), 0)
        test.assertTrue(db)
        for name in ("notes", "animals"):
            db[name].add(ANIMALS)
        test.assertEqual([collection.name for collection in db], ["animals", "notes"])
        test.assertIsInstance(next(iter(db)), braid.Collection)
        test.assertEqual([collection.count() for collection in db], [3, 3])
        test.assertEqual(len(db), 2)
        test.assertIn("notes", db)
        test.assertTrue(all(collection in db for collection in db))
        test.assertNotIn("none", db)
        test.assertNotIn(db["none"], db)
        test.assertNotIn(1, db)
        del db["notes"]
        test.assertEqual([collection.name for collection in db], ["animals"])
        with test.assertRaises(braid.NotFound) as caught:
            del db["notes"]
        test.assertIsInstance(caught.exception, KeyError)  # as a dict raises
        test.assertTrue(str(caught.exception).startswith("there is no collection"))

    def check_async(self, test: unittest.TestCase) -> None:
        self.db["notes"].add(ANIMALS)

        async def names() -> list[str]:
            test.assertEqual([info.chunks for info in await self.db.acollections()], [3])
            return [collection.name async for collection in self.db]

        test.assertEqual(asyncio.run(names()), ["notes"])

    def check_names(self, test: unittest.TestCase) -> None:
        wrong: Any
        for wrong in (0, 1.5, None, b"notes", slice(1), ("a", "b")):
            with test.subTest(name=wrong):
                with test.assertRaisesRegex(TypeError, "name must be a str"):
                    self.db[wrong]
                with test.assertRaises(TypeError):
                    del self.db[wrong]
                with test.assertRaises(TypeError):
                    self.db.create_collection(wrong)
                with test.assertRaises(TypeError):
                    self.db["notes"].namespace(wrong)
        test.assertEqual(len(self.db), 0)


class InProcess(DatabaseTest, Container):
    def test_iterating_gives_the_collections(self) -> None:
        self.check(self)

    def test_so_does_iterating_asynchronously(self) -> None:
        self.check_async(self)

    def test_names_are_strings(self) -> None:
        self.check_names(self)

    def test_a_handle_of_another_database_is_not_in_it(self) -> None:
        self.notes.add(ANIMALS)
        with braid.open(None, embedder="none") as other:
            self.assertNotIn(self.notes, other)

    def test_nothing_else_of_the_package_iterates_without_end(self) -> None:
        self.notes.add(ANIMALS)
        for thing in (self.notes, braid.Principal(), self.notes.stats(), self.notes.context("fox")):
            with self.assertRaises(TypeError):
                iter(thing)  # type: ignore[call-overload]
        answer = self.notes.retrieve("hunt")
        self.assertEqual(len(list(answer)), len(answer))


class OverAServer(unittest.TestCase, Container):
    def setUp(self) -> None:
        url = self.enterContext(served(self))
        self.db = self.enterContext(braid.connect(url))

    def test_iterating_gives_the_collections(self) -> None:
        self.check(self)

    def test_so_does_iterating_asynchronously(self) -> None:
        self.check_async(self)

    def test_names_are_strings(self) -> None:
        self.check_names(self)


if __name__ == "__main__":
    unittest.main()
