"""Files, bytes and texts to chunks."""

from __future__ import annotations

import asyncio
import pathlib
import tempfile
import unittest

import braid
from server import served
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


class Sent(unittest.TestCase):
    """The same over a server."""

    def setUp(self) -> None:
        self.db = self.enterContext(braid.connect(self.enterContext(served(self))))
        self.notes = self.db["notes"]
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()

    def test_bytes_and_texts(self) -> None:
        report = self.notes.ingest(b"name,note\nfox,dusk\n", name="t.csv", metadata={"team": "a"})
        self.assertEqual((report["stored"], report["chunks"], report["created"]), (1, 1, True))
        [chunk] = self.notes.get(["t.csv#0"])
        assert chunk is not None
        self.assertEqual((chunk.content, chunk.metadata["team"]), ("name: fox\nnote: dusk", "a"))
        self.notes.ingest(text="# T\n\nWords.", document_id="d", title="Other")
        [chunk] = self.notes.get(["d#0"])
        assert chunk is not None
        self.assertEqual(chunk.title, "Other")
        empty = self.notes.ingest(b"", name="t.csv")
        self.assertEqual((empty["stored"], empty["skipped"], empty["removed"]), (0, 1, 1))
        with self.assertRaises(braid.InvalidArgument):
            self.notes.ingest(b"\x89PNG\r\n", name="a.png")
        with self.assertRaisesRegex(braid.Unsupported, "max_tokens"):
            self.notes.ingest(text="x", document_id="d", max_tokens=100)

    def test_a_folder(self) -> None:
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "a.md").write_text("# Foxes\n\nThey hunt at dusk.\n")
        (self.folder / "b.html").write_text("<title>Owls</title><p>They hunt at night.</p>")
        (self.folder / "c.png").write_bytes(b"\x89PNG\r\n")
        report = self.notes.ingest(self.folder)
        self.assertEqual((report["stored"], report["chunks"], report["skipped"]), (2, 2, 1))
        [chunk] = self.notes.get(["sub/a.md#0"])
        assert chunk is not None
        self.assertEqual(chunk.metadata["source"], str(self.folder / "sub" / "a.md"))
        again = self.notes.ingest(str(self.folder))
        self.assertEqual((again["stored"], again["unchanged"]), (0, 2))
        (self.folder / "b.html").write_text("<p>Changed.</p>")
        (self.folder / "sub" / "a.md").unlink()
        seen = self.notes.ingest(self.folder, dry_run=True, prune=True)
        self.assertEqual((seen["stored"], seen["gone"], self.notes.count()), (1, ["sub/a.md"], 2))
        pruned = self.notes.ingest(self.folder, prune=True)
        self.assertEqual((pruned["stored"], pruned["removed"], self.notes.count()), (1, 1, 1))

    def test_files_of_one_name_do_not_overwrite_each_other(self) -> None:
        for name in ("p1", "p2"):
            (self.folder / name).mkdir()
            (self.folder / name / "README.md").write_text(f"Of {name}.")
        self.notes.ingest(self.folder / "p1")
        report = self.notes.ingest(self.folder / "p2")
        self.assertEqual(len(report["failed"]), 1)
        self.assertIn("another file", report["failed"][0])
        self.assertEqual(self.notes.ingest(self.folder / "p2", replace=True)["stored"], 1)


if __name__ == "__main__":
    unittest.main()
