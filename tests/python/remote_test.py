from __future__ import annotations

import asyncio
import http.server
import json
import os
import pickle
import threading
import unittest
from collections.abc import Awaitable, Callable
from typing import Any
from unittest import mock

import numpy
from server import served
from support import ANIMALS, letters

import braid
from braid._cancel import Cancel


def steady(value: Any) -> Any:
    """Without versions: each database has its own."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, list):
        return [steady(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: steady(item) for key, item in value.items() if key != "version"}


class Remote(unittest.TestCase):
    def setUp(self) -> None:
        self.url = self.enterContext(served(self))
        self.db = self.enterContext(braid.connect(self.url))
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

    def test_the_variables_of_the_caller_go_with_its_requests(self) -> None:
        self.notes.add([f"fox {i}" for i in range(30)])

        def asked(variables: dict[str, str], **request: Any) -> braid.Answer:
            with mock.patch.dict(os.environ, variables), braid.connect(self.url) as db:
                answer = db["notes"].retrieve("fox", **request)
                batch = db["notes"].retrieve_batch(["fox"], **request)
                self.assertEqual(batch[0].ids, answer.ids)
                return answer

        plain = asked({})
        self.assertEqual((plain.profile, len(plain)), ("default", 10))
        service = asked({"RETRIEVAL_BM25_WEIGHT": "0.25"})
        self.assertEqual((service.profile, len(service)), ("service", 20))
        self.assertEqual(len(asked({"RETRIEVAL_TOP_K": "7"})), 7)
        self.assertEqual(len(asked({"RETRIEVAL_TOP_K": "7"}, profile="service")), 7)
        self.assertEqual(len(asked({"RETRIEVAL_TOP_K": "7"}, top_k=2)), 2)
        topic = asked({"BRAID_PROFILE": "topic", "RETRIEVAL_TOP_K": "7"})
        self.assertEqual((topic.profile, len(topic)), ("topic", 30))
        with self.assertRaisesRegex(braid.InvalidArgument, "RETRIEVAL_TOP_K"):
            asked({"RETRIEVAL_TOP_K": "many"})
        with self.assertRaisesRegex(braid.Error, "nope"):
            asked({"BRAID_PROFILE": "nope"})

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


    def test_every_word_of_a_collection_is_there(self) -> None:
        with braid.open(None, embedder="none") as local:
            for notes in (self.notes, local["notes"]):
                notes.add(ANIMALS)
            for said in (
                lambda notes: notes.retrieve("hunt", profile="topic").ids,
                lambda notes: notes.retrieve("hunt", filter={"legs": {"$gte": 4}}).ids,
                lambda notes: [a.ids for a in notes.retrieve_batch(["hunt", "ponds"], top_k=1)],
                lambda notes: notes.hybrid_search("hunt", strategy="sparse").ids,
                lambda notes: str(notes.context("hunt", budget=40)),
                lambda notes: notes.explain("hunt", "owl"),
                lambda notes: notes.why_not("hunt", "carp"),
                lambda notes: notes.evaluate({"q": "hunt"}, {"q": {"owl": 1}}, measures=["RR@10"])["runs"],
                lambda notes: notes.get(["owl", "none"]),
                lambda notes: notes.neighbors("owl"),
                lambda notes: list(notes.scan(filter={"legs": 0})),
                lambda notes: notes.facets("legs"),
                lambda notes: notes.count(filter={"legs": {"$lt": 4}}),
                lambda notes: notes.describe().schema["embedder"],
                lambda notes: notes.update({"chunk_id": "owl", "metadata": {"legs": 3}}).written,
                lambda notes: notes.namespace("other").add("x").created,
                lambda notes: notes.namespace("other").count(),
                lambda notes: notes.delete(filter={"legs": 3}).written,
            ):
                self.assertEqual(steady(said(self.notes)), steady(said(local["notes"])))
            self.assertEqual(self.db.retrieve("hunt", collections=["notes"]).ids,
                             local.retrieve("hunt", collections=["notes"]).ids)
            self.db.create_collection("more", embedder="none", language="german")
            self.assertIn("more", self.db)
            self.db.drop_collection("more")
            self.assertNotIn("more", self.db)

    def test_agents_get_the_same_text(self) -> None:
        texts: list[dict[str, object]] = [
            {"chunk_id": "a1", "content": "Minutes of the\nfox meeting " + "and so on " * 40,
             "metadata": {"artifact_type": "minutes", "source_system": "drive", "title": "Foxes",
                          "source_url": "https://example.com/minutes"}},
            {"chunk_id": "a2", "title": "Owls", "content": "A fox and an owl", "sensitivity": "normal"},
        ]
        with braid.open(None, embedder="none") as local:
            said = []
            for db in (self.db, local):
                db["artifacts"].add(texts)
                db["artifact_chunks"].add(texts[1])
                found = db.hybrid_search("fox meeting")
                self.assertEqual({result["id"] for result in found.results}, {"a1", "a2"})
                said.append([str(found), str(db.hybrid_search("unicorns"))])
        self.assertIn("Type: chunk | ID: a2", said[0][0])
        self.assertEqual(said[0], said[1])

    def test_a_server_checks_but_does_not_copy(self) -> None:
        self.notes.add(ANIMALS)
        report = self.db.check()
        self.assertEqual((report.clean, report.chunks), (True, 3))
        with self.assertRaisesRegex(braid.Unsupported, "braid backup"):
            self.db.snapshot("copy")

    def test_a_forked_child_has_connections_of_its_own(self) -> None:
        self.notes.add(ANIMALS)
        self.assertEqual(self.notes.count(), 3)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, str([self.notes.count() for _ in range(20)]).encode())
            os._exit(0)
        os.close(write)
        self.assertEqual([self.notes.count() for _ in range(20)], [3] * 20)
        with os.fdopen(read) as pipe:
            self.assertEqual(pipe.read(), str([3] * 20))
        os.waitpid(child, 0)

    def test_databases_cannot_be_pickled(self) -> None:
        for thing in (self.db, self.notes):
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(thing)


class SlowEndpoint:
    """Embeds like OpenAI's endpoint, until it is told to be slow: then it never answers, and says
    when the one who asked has gone."""

    def __init__(self) -> None:
        self.slow, self.asked, self.left = False, threading.Event(), threading.Event()
        endpoint = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                texts = json.loads(self.rfile.read(size))["input"]
                if endpoint.slow:
                    endpoint.asked.set()
                    self.close_connection = True
                    if not self.connection.recv(1):
                        endpoint.left.set()
                    return
                data = [{"index": i, "embedding": row} for i, row in enumerate(letters(texts))]
                body = json.dumps({"data": data, "model": "letters"}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class Cancelling(unittest.TestCase):
    def setUp(self) -> None:
        self.endpoint = SlowEndpoint()
        self.addCleanup(self.endpoint.close)
        url = self.enterContext(served(
            self, BRAID_EMBEDDER="openai", BRAID_OPENAI_BASE_URL=self.endpoint.url,
            BRAID_OPENAI_EMBEDDING_MODEL="letters", OPENAI_API_KEY="none",
        ))
        self.db = self.enterContext(braid.connect(url))
        self.notes = self.db["notes"]
        self.notes.add(ANIMALS)
        self.endpoint.slow = True

    def check(self, call: Callable[[], Awaitable[object]]) -> None:
        async def work() -> None:
            task = asyncio.ensure_future(call())
            await asyncio.to_thread(self.endpoint.asked.wait, 30)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(work())
        self.assertTrue(self.endpoint.asked.is_set())
        self.assertTrue(self.endpoint.left.wait(30), "the server went on")
        self.assertEqual(self.notes.count(), 3)

    def test_cancelling_a_search_stops_the_server(self) -> None:
        self.check(lambda: self.notes.aretrieve("something else"))

    def test_cancelling_a_write_stops_the_server(self) -> None:
        self.check(lambda: self.notes.aadd("something new"))

    def test_a_call_that_was_stopped_before_is_not_sent(self) -> None:
        stop = Cancel()
        stop.request_stop()
        with self.assertRaises(braid.Cancelled):
            self.db._retrieve({"query": "x", "collection": "notes"}, stop)


class Unreachable(unittest.TestCase):
    def test_nobody_there(self) -> None:
        with self.assertRaises(braid.Unavailable):
            braid.connect("http://127.0.0.1:9")["a"].count()
        with self.assertRaises(braid.InvalidArgument):
            braid.connect("ftp://somewhere")


if __name__ == "__main__":
    unittest.main()
