"""The scenarios of tests/scenarios through Python, in the process and over HTTP."""

from __future__ import annotations

import json
import pathlib
import unittest
from collections.abc import Iterator
from typing import Any

from server import served

import braid

FOLDER = pathlib.Path(__file__).parent.parent / "scenarios"
ON_A_COLLECTION = {"create", "add", "update", "delete", "count", "facets"}


class Step:
    def __init__(self, line: int, text: str) -> None:
        self.line = line
        self.verb, _, rest = text.partition(" ")
        self.collection = ""
        if self.verb in ON_A_COLLECTION:
            self.collection, _, rest = rest.partition(" ")
        self.params: dict[str, Any] = json.loads(rest or "{}")
        self.expected: dict[str, Any] = {}


def steps(path: pathlib.Path) -> Iterator[Step]:
    step: Step | None = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        if line.startswith(" "):
            assert step is not None
            name, _, value = line.strip().partition(" ")
            step.expected[name] = json.loads(value)
            continue
        if step is not None:
            yield step
        step = Step(number, line)
    if step is not None:
        yield step


def run(db: braid.Database, step: Step) -> dict[str, Any]:
    params = dict(step.params)
    collection = db[step.collection]
    if step.verb == "create":
        db.create_collection(step.collection, **params)
    elif step.verb == "add":
        collection.namespace(params.pop("namespace", "default")).add(params)
    elif step.verb == "update":
        collection.update(params)
    elif step.verb == "delete":
        collection.delete(**params)
    elif step.verb == "count":
        return {"count": collection.count(**params)}
    elif step.verb == "retrieve":
        return db.retrieve(**params).to_dict()
    elif step.verb == "hybrid_search":
        return db.hybrid_search(**params).to_dict()
    elif step.verb == "facets":
        return {"values": [value.to_dict() for value in collection.facets(**params)]}
    elif step.verb in ("context", "explain", "why_not"):
        asked = getattr(db[params.pop("collection")], step.verb)
        return dict(asked(**params).to_dict())
    else:
        raise AssertionError(f"unknown verb {step.verb}")
    return {}


def at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value[int(name)] if isinstance(value, list) else value.get(name)
    return value


def without_times(value: Any) -> Any:
    if isinstance(value, list):
        return [without_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    times = {"timings", "latency_ms", "time_ms", "query_embedding_time_ms", "cursor"}
    times.add("version")  # each database has its own
    if "results" in value:
        times.add("text")  # which a server leaves to its agents' door
    return {key: without_times(item) for key, item in value.items() if key not in times}


class Scenarios(unittest.TestCase):
    def check(self, step: Step, db: braid.Database) -> Any:
        if "error" in step.expected:
            with self.assertRaises(braid.Error) as caught:
                run(db, step)
            self.assertEqual(caught.exception.code, step.expected["error"])
            return caught.exception.code
        outcome = run(db, step)
        hits = outcome.get("chunks", outcome.get("results", []))
        key = "id" if "results" in outcome else "chunk_id"
        for name, value in step.expected.items():
            if name == "needs":  # the embedded engine lacks nothing
                continue
            if name == "ids":
                self.assertEqual([hit[key] for hit in hits], value)
            elif name in ("scores", "live_scores"):  # the embedded engine's statistics are live
                self.assertEqual(len(hits), len(value))
                for hit, score in zip(hits, value):
                    self.assertAlmostEqual(hit["score"], score, delta=1e-12)
            else:
                self.assertEqual(at(outcome, name), value)
        return without_times(outcome)

    def replay(self, db: braid.Database, path: pathlib.Path) -> list[Any]:
        outcomes = []
        for step in steps(path):
            with self.subTest(scenario=path.name, line=step.line):
                outcomes.append(self.check(step, db))
        return outcomes

    def test_python_gives_what_is_expected_and_the_same_over_http(self) -> None:
        paths = sorted(FOLDER.glob("*.scn"))
        self.assertTrue(paths)
        for path in paths:
            with braid.open(None, embedder="none") as here:
                mine = self.replay(here, path)
            with served(self) as url, braid.connect(url) as there:
                self.assertEqual(self.replay(there, path), mine)


if __name__ == "__main__":
    unittest.main()
