"""What the tests share."""

from __future__ import annotations

import unittest

import braid

ANIMALS = [
    {"chunk_id": "fox", "content": "Red foxes hunt at dusk.", "metadata": {"legs": 4}},
    {"chunk_id": "owl", "content": "Owls hunt at night.", "metadata": {"legs": 2}},
    {"chunk_id": "carp", "content": "Carp live in ponds.", "metadata": {"legs": 0}},
]


def letters(texts: list[str]) -> list[list[float]]:
    """A model of eight numbers: how often some letters occur."""
    return [[float(text.lower().count(letter)) + 0.01 for letter in "aeioufhp"] for text in texts]


class DatabaseTest(unittest.TestCase):
    """Has an empty database in memory that embeds with `letters`."""

    def setUp(self) -> None:
        self.db = braid.open(None, embedder=braid.Embedder(letters, model="letters"))
        self.addCleanup(self.db.close)
        self.notes = self.db["notes"]
