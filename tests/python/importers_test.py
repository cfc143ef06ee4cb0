"""Chunks out of other databases, by their own packages where these are installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest
from typing import Any
from unittest import mock

import braid
from braid import importers

RECORDS = 1203  # more than two pages


class Importers(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def package(self, name: str) -> Any:
        if importlib.util.find_spec(name) is None:
            self.skipTest(f"{name} is not installed")
        return importlib.import_module(name)

    def test_a_missing_package_is_named(self) -> None:
        with mock.patch.dict("sys.modules", {"chromadb": None}):
            with self.assertRaisesRegex(braid.Unsupported, "pip install chromadb"):
                next(importers.chroma(self.folder))
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                self.assertEqual(importers.main(["chroma", str(self.folder)]), 1)
            self.assertIn("pip install chromadb", said.getvalue())

    def test_payloads_of_every_layout(self) -> None:
        read = importers._payload
        self.assertEqual(read({"page_content": "a", "metadata": {"k": 1}}), ("a", {"k": 1}))
        self.assertEqual(read({"document": "a", "k": 1}), ("a", {"k": 1}))
        node = json.dumps({"text": "a", "metadata": {"k": 1}})
        self.assertEqual(read({"_node_content": node, "_node_type": "TextNode"}), ("a", {"k": 1}))
        self.assertEqual(read({"k": 1}), ("", {"k": 1}))

    def check(self, chunks: list[dict[str, Any]]) -> None:
        self.assertEqual(len({chunk["_id"] for chunk in chunks}), RECORDS)
        self.assertEqual({chunk["text"] for chunk in chunks}, {f"text {k}" for k in range(RECORDS)})
        self.assertEqual({len(chunk["vector"]) for chunk in chunks}, {2})
        self.assertEqual({chunk["metadata"]["k"] for chunk in chunks}, set(range(RECORDS)))
        with braid.open(None, embedder="external") as database:
            self.assertEqual(database["notes"].add(chunks).written, RECORDS)

    def test_chroma(self) -> None:
        source = self.package("chromadb").PersistentClient(path=str(self.folder)).create_collection("docs")
        source.add(
            ids=[f"i{k}" for k in range(RECORDS)], documents=[f"text {k}" for k in range(RECORDS)],
            metadatas=[{"k": k} for k in range(RECORDS)],
            embeddings=[[k / RECORDS, 1.0] for k in range(RECORDS)],
        )
        self.check(list(importers.chroma(self.folder)))
        with self.assertRaises(braid.NotFound):
            next(importers.chroma(self.folder, "others"))

    def test_lancedb(self) -> None:
        self.package("lancedb").connect(str(self.folder)).create_table(
            "docs", [{"id": k, "text": f"text {k}", "vector": [k / RECORDS, 1.0], "k": k}
                     for k in range(RECORDS)],
        )
        self.check(list(importers.lancedb(self.folder, "docs")))

    def test_qdrant(self) -> None:
        package = self.package("qdrant_client")
        models = package.models
        client = package.QdrantClient(path=str(self.folder))
        client.create_collection(
            "docs", vectors_config=models.VectorParams(size=2, distance=models.Distance.DOT)
        )
        client.upsert("docs", [
            models.PointStruct(id=k, vector=[k / RECORDS, 1.0],
                               payload={"page_content": f"text {k}", "metadata": {"k": k}})
            for k in range(RECORDS)
        ])
        client.close()
        self.check(list(importers.qdrant(self.folder)))


if __name__ == "__main__":
    unittest.main()
