"""python_test.py PACKAGES: the Python package in this process over a cluster (BRAID_CLUSTER_URL)."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent
URL = os.environ.get("BRAID_CLUSTER_URL", "")
sys.path[:0] = [sys.argv.pop(1) if len(sys.argv) > 1 else "", str(HERE.parent / "python")]

import braid  # noqa: E402
import scenarios_test  # noqa: E402

NUMBER = [0]
# Steps that need what a cluster does not promise are left out.
LACKS = {"live_df", "scoped_statistics"}


def opened(test: unittest.TestCase, **more: object) -> braid.Database:
    NUMBER[0] += 1
    cluster = {"url": URL.split(","), "prefix": f"pt{os.getpid()}-{NUMBER[0]}-", "shards": 3} | more
    db = braid.open(None, embedder="none", cluster=cluster)

    def clean() -> None:
        for one in db.collections():
            db.drop_collection(one.name)
        db.close()
    test.addCleanup(clean)
    return db


class OverACluster(unittest.TestCase):
    def test_writes_searches_and_pages(self) -> None:
        db = opened(self)
        notes = db["notes"]
        notes.add([{"chunk_id": "fox", "content": "Red foxes hunt at dusk."},
                   {"chunk_id": "owl", "content": "A brown owl and a fox hunt at night.", "metadata": {"year": 2020}},
                   {"chunk_id": "carp", "content": "Carp live in ponds."}])
        self.assertEqual(notes.retrieve("foxes", strategy="sparse").ids, ["fox", "owl"])
        self.assertEqual(notes.retrieve('+fox -"brown owl"', query_syntax=True, strategy="sparse").ids, ["fox"])
        misspelt = notes.retrieve("huntign", strategy="sparse")
        self.assertEqual(sorted(misspelt.ids), ["fox", "owl"])
        self.assertEqual(misspelt.corrections[0].instead, "hunting")
        self.assertEqual(notes.retrieve("fox", strategy="sparse", filter={"year": {"$gte": 2000}}).ids, ["owl"])
        self.assertEqual([value.value for value in notes.facets("year")], [2020])
        self.assertEqual(notes.count(), 3)
        self.assertEqual(notes.get(["carp"])[0].content, "Carp live in ponds.")
        notes.update({"chunk_id": "carp", "metadata": {"year": 1999}})
        notes.delete(["fox"])
        self.assertEqual(notes.retrieve("fox hunt", strategy="sparse").ids, ["owl"])
        self.assertEqual(notes.stats().chunks, 2)
        self.assertTrue(db.check().clean)
        with self.assertRaises(braid.Unsupported):
            db.backup("/tmp/nowhere")

    def test_says_what_is_wrong(self) -> None:
        for cluster in ("localhost:9200", "http://ann:secret@127.0.0.1:1", {"url": []}, {"key": "x"}, {"url": URL, "shards": 0},
                        {"url": URL, "prefix": "UPPER"}, {"url": URL, "colour": "red"}):
            with self.subTest(cluster), self.assertRaises(braid.InvalidArgument) as caught:
                braid.open(None, cluster=cluster)
            self.assertNotIn("secret", str(caught.exception))
        with self.assertRaises(braid.InvalidArgument):
            braid.open("data", cluster=URL)
        with braid.open(None, cluster="http://127.0.0.1:1") as nobody, self.assertRaises(braid.Unavailable) as caught:
            nobody.collections()
        self.assertIn("no node of the cluster answers", str(caught.exception))


class Scenarios(scenarios_test.Scenarios):
    def test_python_gives_what_is_expected_and_the_same_over_http(self) -> None:
        """Of the cluster, what the scenarios expect of any database."""
        for path in sorted(scenarios_test.FOLDER.glob("*.scn")):
            db = opened(self)
            for step in scenarios_test.steps(path):
                with self.subTest(scenario=path.name, line=step.line):
                    if step.expected.pop("needs", "") in LACKS:
                        continue
                    for name in ("scores", "live_scores"):  # floats, and of all chunks
                        step.expected.pop(name, None)
                    self.check(step, db)


if __name__ == "__main__":
    if not URL:
        sys.exit("usage: BRAID_CLUSTER_URL=… python_test.py PACKAGES")
    unittest.main(verbosity=1)
