"""Files, bytes and texts to chunks."""

from __future__ import annotations

import asyncio
import pathlib
import tempfile
import unittest

import braid
from support import DatabaseTest


class Ingest(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_folder_is_stored_once(self) -> None:
        (self.folder / "a.md").write_text("# Foxes\n\nThey hunt at dusk.\n")
        (self.folder / "b.html").write_text("<title>Owls</title><p>They hunt at night.</p>")
        (self.folder / "c.png").write_bytes(b"\x89PNG\r\n")
        report = self.notes.ingest(self.folder)
        self.assertEqual((report["stored"], report["chunks"], report["skipped"]), (2, 2, 1))
        self.assertEqual({file["state"] for file in report["files"]}, {"stored", "skipped"})
        [chunk] = self.notes.get(["b.html#0"])
        assert chunk is not None
        self.assertEqual(chunk.title, "Owls")
        self.assertEqual(chunk.metadata["source_line"], 1)
        self.assertEqual(self.notes.ingest(str(self.folder))["unchanged"], 2)
        (self.folder / "a.md").unlink()
        self.assertEqual(self.notes.ingest([self.folder], prune=True)["gone"], ["a.md"])
        self.assertEqual(self.notes.count(), 1)

    def test_bytes_and_texts_are_documents(self) -> None:
        report = self.notes.ingest(b"name,note\nfox,dusk\n", name="t.csv", metadata={"team": "a"})
        self.assertEqual(report["files"][0]["format"], "csv")
        [chunk] = self.notes.get(["t.csv#0"])
        assert chunk is not None
        self.assertEqual(chunk.content, "name: fox\nnote: dusk")
        self.assertEqual(chunk.metadata["team"], "a")
        self.notes.ingest(text="# T\n\nWords.", document_id="d")
        self.assertEqual(asyncio.run(self.notes.aingest(text="Others.", document_id="d"))["chunks"], 1)
        self.assertEqual(self.notes.count(), 2)
        self.assertEqual(self.notes.ingest(text="x " * 500, document_id="e", dry_run=True)["stored"], 1)
        self.assertEqual(self.notes.count(), 2)

    def test_what_cannot_be_read_is_said(self) -> None:
        with self.assertRaises(braid.InvalidArgument):
            self.notes.ingest(b"\x89PNG\r\n", name="a.png")
        with self.assertRaises(braid.InvalidArgument):
            self.notes.ingest(b"x")
        with self.assertRaises(braid.InvalidArgument):
            self.notes.ingest()
        with self.assertRaises(braid.InvalidArgument):
            self.notes.ingest(self.folder, chunker="none")
        with self.assertRaises(braid.NotFound):
            self.notes.ingest(self.folder / "nothing")


if __name__ == "__main__":
    unittest.main()
