from __future__ import annotations

import copy
import datetime
import importlib.util
import os
import pathlib
import pickle
import tempfile
import threading
import unittest
from typing import Any
from unittest import mock

import numpy
from support import ANIMALS, DatabaseTest, letters

import braid


class Searching(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.report = self.notes.add(ANIMALS)

    def test_a_write_makes_the_collection_and_says_what_it_did(self) -> None:
        self.assertEqual(self.report.written, 3)
        self.assertTrue(self.report.created)
        self.assertEqual(self.report.chunk_ids, ["fox", "owl", "carp"])
        self.assertEqual(self.notes.describe().schema["embedder"], "letters")
        self.assertIn("notes", self.db)

    def test_answers_are_sequences_of_hits(self) -> None:
        answer = self.notes.retrieve("red foxes hunt at dusk", top_k=2)
        self.assertEqual(len(answer), 2)
        self.assertEqual(answer[0].chunk_id, "fox")
        self.assertEqual(answer.ids, [hit.chunk_id for hit in answer])
        self.assertEqual(answer[-1], answer.hits[1])
        self.assertEqual(answer[:1], [answer[0]])
        with self.assertRaises(IndexError):
            answer[2]
        self.assertEqual([hit.rank for hit in answer], [1, 2])
        self.assertEqual(answer.strategy_used, "hybrid")

    def test_a_receipt_adds_up(self) -> None:
        for hit in self.notes.retrieve("owls at night"):
            total = 0.0
            for source in hit.receipt.sources:
                total += source.contribution
            self.assertEqual(total, hit.receipt.fused)
            self.assertEqual(hit.receipt.score, hit.score)

    def test_an_answer_survives_its_database_and_its_neighbours(self) -> None:
        hit = self.notes.retrieve("ponds", strategy="sparse")[0]
        receipt, chunk = hit.receipt, hit.chunk
        del hit
        self.db.close()
        self.assertEqual(chunk.content, "Carp live in ponds.")
        self.assertEqual(receipt.sources[0].source, "sparse")

    def test_dicts_and_pickles_give_the_answer_back(self) -> None:
        answer = self.notes.retrieve("hunt", explain=True)
        self.assertEqual(braid.Answer.from_dict(answer.to_dict()), answer)
        self.assertEqual(pickle.loads(pickle.dumps(answer)), answer)
        self.assertEqual(answer.to_dict()["chunks"][0], answer[0].to_dict())

    def test_answers_can_be_read_by_people(self) -> None:
        self.notes.add({"chunk_id": "<b>", "content": "<script>fox</script> & co"})
        answer = self.notes.retrieve("fox script")
        self.assertIn("<Answer 'fox script'", repr(answer))
        html = answer._repr_html_()
        self.assertIn("&lt;script&gt;", html)
        self.assertNotIn("<script>", html)
        self.assertIn("background:#4c78a8", html)
        self.assertIn("rrf", answer[0].receipt._repr_html_())

    def test_answers_are_tables_where_pandas_is(self) -> None:
        answer = self.notes.retrieve("hunt ponds")
        if importlib.util.find_spec("pandas") is None:
            with self.assertRaises(ImportError):
                answer.to_pandas()
            self.skipTest("pandas is not installed")
        table = answer.to_pandas()
        self.assertEqual(list(table["chunk_id"]), answer.ids)
        self.assertEqual(list(table["rank"]), [1, 2, 3])
        self.assertEqual(list(table["score"]), [hit.score for hit in answer])
        self.assertEqual(table.loc[0, "metadata"], answer[0].metadata)
        self.assertEqual(table["dense_score"].dtype, numpy.float64)
        empty = self.notes.retrieve("nothing", strategy="sparse").to_pandas()
        self.assertEqual((len(empty), list(empty.columns)), (0, list(table.columns)))

    def test_filters_and_profiles_are_those_of_json(self) -> None:
        self.assertEqual(
            set(self.notes.retrieve("hunt", filter={"legs": {"$gte": 2}}).ids), {"fox", "owl"}
        )
        with self.assertRaisesRegex(braid.InvalidArgument, "legs"):
            self.notes.retrieve("hunt", filter={"legs": {"$gt": []}})
        self.assertEqual(self.notes.retrieve("hunt", profile="topic").profile, "topic")

    def test_variables_choose_and_change_the_profile(self) -> None:
        def asked(variables: dict[str, str], **options: Any) -> braid.Answer:
            with mock.patch.dict(os.environ, variables), braid.open(
                None, embedder="none", **options
            ) as db:
                db["notes"].add([f"fox {i}" for i in range(30)])
                return db["notes"].retrieve("fox")

        plain = asked({})
        self.assertEqual((plain.profile, len(plain)), ("default", 10))
        service = asked({"RETRIEVAL_BM25_WEIGHT": "0.25"})
        self.assertEqual((service.profile, len(service)), ("service", 20))
        self.assertEqual(len(asked({"RETRIEVAL_TOP_K": "7"})), 7)
        mine = asked({"BRAID_PROFILE": "mine"}, profiles={"mine": {"top_k": 3}})
        self.assertEqual((mine.profile, len(mine)), ("mine", 3))
        with self.assertRaisesRegex(braid.InvalidArgument, "RETRIEVAL_TOP_K"):
            asked({"RETRIEVAL_TOP_K": "many"})
        with self.assertRaisesRegex(braid.InvalidArgument, "BRAID_PROFILE"):
            asked({"BRAID_PROFILE": "nope"})

    def test_a_request_can_bring_its_profile(self) -> None:
        answer = self.notes.retrieve("hunt", profile={"name": "own", "base": "topic", "top_k": 1})
        self.assertEqual((answer.profile, len(answer)), ("own", 1))

    def test_vectors_come_in_and_go_out_as_arrays(self) -> None:
        vectors = numpy.eye(3, dtype=numpy.float32)
        own = self.db["own"]
        own.add(ANIMALS, vectors=vectors)
        self.assertEqual(own.describe().schema["embedder"], "external")
        found = own.retrieve(query_embedding=vectors[1], strategy="dense")
        self.assertEqual(found[0].chunk_id, "owl")
        chunk = own.get("carp", vectors=True)[0]
        assert chunk is not None and chunk.vector is not None
        numpy.testing.assert_array_equal(chunk.vector, vectors[2])
        self.assertFalse(chunk.vector.flags.owndata)
        self.assertFalse(chunk.vector.flags.writeable)
        view = chunk.vector
        del chunk
        numpy.testing.assert_array_equal(view, vectors[2])
        own.add({"chunk_id": "list", "content": "x", "vector": [0.0, 1.0, 0.0]})
        own.add({"chunk_id": "double", "content": "x", "embedding": numpy.array([0.0, 1.0, 0.0])})
        found = own.retrieve(query_embedding=[0, 1, 0], strategy="dense", top_k=3)
        self.assertEqual({hit.score for hit in found}, {1.0})

    def test_wrong_vectors_are_refused(self) -> None:
        bad = numpy.array([numpy.nan] * 8, dtype=numpy.float32)
        with self.assertRaisesRegex(braid.InvalidArgument, "finite"):
            self.notes.retrieve(query_embedding=bad)
        with self.assertRaises(braid.InvalidArgument):
            self.notes.retrieve(query_embedding=numpy.zeros(3, dtype=numpy.float32))
        with self.assertRaisesRegex(braid.InvalidArgument, "row for each chunk"):
            self.notes.add(ANIMALS, vectors=numpy.zeros((2, 8), dtype=numpy.float32))

    def test_a_batch_is_the_single_requests(self) -> None:
        queries: list[str | dict[str, object]] = ["hunt", "ponds", {"query": "owls", "top_k": 1}]
        batch = self.notes.retrieve_batch(queries, top_k=2)
        self.assertEqual([len(answer) for answer in batch], [2, 2, 1])
        self.assertEqual(batch[0].ids, self.notes.retrieve("hunt", top_k=2).ids)
        rows = numpy.array(letters(["hunt", "ponds"]), dtype=numpy.float32)
        dense = self.notes.retrieve_batch(query_embeddings=rows, strategy="dense")
        self.assertEqual(dense[1].ids, self.notes.retrieve("ponds", strategy="dense").ids)
        self.assertEqual(self.notes.retrieve_batch([]), [])

    def test_a_failing_request_of_a_batch_is_raised_or_stands_in_its_place(self) -> None:
        queries = ["hunt", ""]
        with self.assertRaises(braid.InvalidArgument):
            self.notes.retrieve_batch(queries)
        good, bad = self.notes.retrieve_batch(queries, return_errors=True)
        self.assertIsInstance(good, braid.Answer)
        self.assertIsInstance(bad, braid.InvalidArgument)

    def test_pages_follow_each_other(self) -> None:
        first = self.notes.retrieve("hunt at", top_k=1)
        assert first.cursor is not None
        second = self.notes.retrieve("hunt at", top_k=1, cursor=first.cursor)
        self.assertEqual(second[0].rank, 2)

    def test_explanations(self) -> None:
        why = self.notes.why_not("dusk", "carp", top_k=1)
        self.assertEqual(why.lost_at, "cut")
        assert why.change is not None
        self.assertEqual(why.change["key"], "top_k")
        explanation = self.notes.explain("dusk", "carp")
        self.assertEqual({leg.source for leg in explanation.legs}, {"dense", "sparse"})

    def test_explanations_and_contexts_say_what_had_no_effect(self) -> None:
        explanation = self.notes.explain("dusk", "carp", strategy="sparse", use_hyde=True)
        self.assertEqual(explanation.unused, ["use_hyde"])
        self.assertEqual((explanation.phrasings, explanation.hypothetical_answer), ([], None))
        why = self.notes.why_not("dusk", "carp", strategy="sparse", use_hyde=True)
        self.assertEqual(why.explanation.unused, ["use_hyde"])
        context = self.notes.context("dusk", strategy="sparse", use_hyde=True)
        self.assertEqual(context.unused, ["use_hyde"])

    def test_contexts_fit_their_budget(self) -> None:
        context = self.notes.context("hunt", budget=20)
        self.assertLessEqual(context.tokens, 20)
        self.assertIn(context.passages[0].text, str(context))

    def test_agents_get_text(self) -> None:
        self.db["artifacts"].add({"chunk_id": "a1", "content": "Minutes of the fox meeting"})
        found = self.db.hybrid_search("fox meeting", limit=3)
        self.assertEqual(found.results[0]["id"], "a1")
        self.assertTrue(str(found).startswith("Found 1 results (searched: artifacts):"))

    def test_agents_search_any_collection(self) -> None:
        found = self.db.hybrid_search("ponds", collections=["notes"], across="scores")
        self.assertEqual(found.results[0]["id"], "carp")
        self.assertIn("receipt", found.results[0])
        self.assertEqual(found.searched, ["notes"])

    def test_topics_and_doctrine_in_their_own_words(self) -> None:
        papers = self.db["papers"].namespace("arcnet_doctrine")
        papers.add([
            {"chunk_id": "a", "content": "cross the river", "metadata": {"mos_code": "12B"}},
            {"chunk_id": "b", "content": "cross the ridge", "metadata": {"mos_code": "11B"}},
        ])
        topic = self.db.retrieve(
            "cross", collection="papers", profile="topic", topicId="arcnet_doctrine", alpha=0.5,
            kSemantic=7, kLexical=9, kContext=1,
        )
        self.assertEqual(len(topic), 1)
        found = self.db.find_relevant_doctrine("cross the river", ["11B"], collection="papers")
        self.assertEqual(found.ids, ["b"])
        self.assertEqual(
            len(self.db.find_relevant_doctrine("cross the river", collection="papers")), 2
        )

    def test_evaluation_of_ones_own_questions(self) -> None:
        result = self.notes.evaluate(
            {"q1": "dusk", "q2": "ponds"}, {"q1": {"fox": 1}, "q2": {"carp": 1}},
            measures=["RR@10"], strategy="sparse",
        )
        self.assertEqual(result["runs"][0]["measures"]["RR@10"], 1.0)


class ReadingAndWriting(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.notes.add(ANIMALS)

    def test_get_neighbors_scan_facets_count_stats(self) -> None:
        found = self.notes.get(["owl", "unicorn"])
        self.assertEqual(found[0].to_dict()["content"], "Owls hunt at night.")  # type: ignore[union-attr]
        self.assertIsNone(found[1])
        self.notes.add([
            {"chunk_id": f"d{i}", "document_id": "d", "chunk_index": i, "content": f"part {i}"}
            for i in range(4)
        ])
        self.assertEqual([c.chunk_id for c in self.notes.neighbors("d1")], ["d0", "d1", "d2"])
        self.assertEqual([c.chunk_id for c in self.notes.scan(page=2)],
                         ["carp", "d0", "d1", "d2", "d3", "fox", "owl"])
        self.assertEqual(self.notes.facets("legs", filter={"legs": {"$gt": 0}}),
                         [braid.FacetCount(2, 1), braid.FacetCount(4, 1)])
        self.assertEqual(self.notes.facets(), [braid.FacetCount("legs", 3)])
        self.assertEqual(self.notes.count(), 7)
        self.assertEqual(self.notes.stats().chunks, 7)

    def test_updates_and_deletes(self) -> None:
        when = datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)
        self.notes.update({"chunk_id": "fox", "metadata": {"legs": None}, "created_at": when})
        fox = self.notes.get("fox")[0]
        assert fox is not None
        self.assertEqual(fox.metadata, {})
        self.assertEqual(fox.created_at, when)
        with self.assertRaises(braid.NotFound):
            self.notes.update({"chunk_id": "unicorn", "metadata": {}})
        self.assertEqual(self.notes.delete("fox").written, 1)
        self.assertEqual(self.notes.delete(filter={"legs": 2}).written, 1)
        with self.assertRaisesRegex(braid.InvalidArgument, "everything"):
            self.notes.delete(filter={})
        self.assertEqual(self.notes.delete(filter={}, everything=True).written, 1)

    def test_versions_guard_writes(self) -> None:
        with self.assertRaises(braid.Conflict):
            self.notes.add({"chunk_id": "fox", "content": "new"}, if_version=0)

    def test_documents_are_replaced_whole(self) -> None:
        self.notes.add([{"chunk_id": "x1", "document_id": "x", "content": "one"},
                        {"chunk_id": "x2", "document_id": "x", "content": "two"}])
        report = self.notes.add({"chunk_id": "x3", "document_id": "x", "content": "three"},
                                replace_documents=True)
        self.assertEqual((report.written, report.removed), (1, 2))
        self.assertEqual(self.notes.count(filter={"document_id": "x"}), 1)

    def test_texts_and_single_chunks_can_be_added(self) -> None:
        self.assertEqual(self.notes.add("A text alone.").written, 1)
        self.assertEqual(self.notes.add(["One.", "Two."]).written, 2)
        with self.assertRaisesRegex(braid.InvalidArgument, r"chunks\[1\]"):
            self.notes.add(["fine", {"chunk_id": "x"}])
        with self.assertRaises(braid.InvalidArgument):
            self.notes.add([5])  # type: ignore[list-item]

    def test_namespaces_are_apart(self) -> None:
        tenant = self.notes.namespace("tenant")
        tenant.add("Only here.")
        self.assertEqual(tenant.count(), 1)
        self.assertEqual(self.notes.count(), 3)
        self.assertEqual(len(tenant.retrieve("here", strategy="sparse")), 1)

    def test_principals_see_what_they_may(self) -> None:
        self.notes.add({"chunk_id": "secret", "content": "hunt", "sensitivity": "restricted"})
        guest = self.db.on_behalf_of(braid.Principal("guest", clearance="normal"))
        self.assertNotIn("secret", guest["notes"].retrieve("hunt").ids)
        self.assertEqual(guest["notes"].get("secret"), [None])
        self.assertEqual(guest["notes"].count(), 3)
        self.assertEqual(self.notes.count(), 4)

    def test_dropping(self) -> None:
        self.notes.drop()
        with self.assertRaises(braid.NotFound):
            self.notes.count()
        self.assertEqual(self.db.collections(), [])

    def test_schemas(self) -> None:
        made = self.db.create_collection("plain", embedder="none", language="german")
        self.assertEqual(made.describe().schema["language"], "german")
        with self.assertRaises(braid.AlreadyExists):
            self.db.create_collection("plain")
        self.db["other"].add("x y z", schema={"embedder": "none"})
        self.assertEqual(self.db["other"].describe().schema["embedder"], "none")


class Mistakes(DatabaseTest):
    def test_every_error_is_a_braid_error_with_the_engines_code(self) -> None:
        with self.assertRaises(braid.NotFound) as caught:
            self.db["nowhere"].retrieve("x")
        self.assertIsInstance(caught.exception, braid.Error)
        self.assertIsInstance(caught.exception, LookupError)
        self.assertEqual(caught.exception.code, "not_found")
        self.assertIn("nowhere", str(caught.exception))

    def test_unknown_words_name_the_nearest(self) -> None:
        self.notes.add("x")
        with self.assertRaisesRegex(ValueError, "top_k"):
            self.notes.retrieve("x", topk=3)  # type: ignore[call-arg]

    def test_values_that_are_no_json(self) -> None:
        self.notes.add("x")
        deep: list[object] = []
        for _ in range(100):
            deep = [deep]
        for value in (object(), {1: 2}, float("nan"), b"bytes", {1}, "\ud800", deep,
                      datetime.datetime(2024, 1, 1), 10**400):
            with self.assertRaises(braid.InvalidArgument):
                self.notes.retrieve("x", filter={"field": value})
            with self.assertRaises(braid.InvalidArgument):
                self.notes.add({"text": "y", "metadata": {"field": value}})
        self.notes.add({"text": "y", "metadata": {"n": numpy.int64(3), "v": numpy.arange(3), "t": (1, 2)}})

    def test_a_closed_database_says_so(self) -> None:
        self.db.close()
        self.assertTrue(self.db.closed)
        self.assertIn("closed", repr(self.db))
        with self.assertRaisesRegex(braid.Unavailable, "closed"):
            self.notes.count()
        self.db.close()

    def test_databases_cannot_be_pickled_or_copied(self) -> None:
        for thing in (self.db, self.notes):
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(thing)
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                copy.copy(thing)

    def test_options_that_make_no_sense(self) -> None:
        with self.assertRaises(braid.InvalidArgument):
            braid.open(None, durability="none")  # type: ignore[arg-type]
        with self.assertRaises(braid.InvalidArgument):
            braid.open(None, profiles={"mine": {"topk": 3}})
        with self.assertRaises(braid.InvalidArgument):
            braid.open(None, llm={"base_url": "http://localhost"})
        with self.assertRaises(braid.NotFound):
            braid.open("/nonexistent/place", create=False)
        with self.assertRaises(braid.NotFound):
            braid.open(None, embedder="no-such-model")["a"].add("text")


class OnDisk(unittest.TestCase):
    def test_what_was_written_is_there_again(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with braid.open(folder, embedder="none") as db:
                db["notes"].add(ANIMALS)
                with self.assertRaises(braid.Locked):
                    braid.open(folder)
            with braid.open(folder, create=False, read_only=True) as db:
                self.assertEqual(db["notes"].retrieve("ponds").ids, ["carp"])
                with self.assertRaises(braid.ReadOnly):
                    db["notes"].add("x")

    def test_a_snapshot_is_a_database(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with braid.open(f"{folder}/data", embedder="none") as db:
                db["notes"].add(ANIMALS)
                copied = db.snapshot(pathlib.Path(folder, "copy"))
                self.assertEqual((copied.clean, copied.collections, copied.chunks), (True, 1, 3))
                db["notes"].delete("fox")
                with self.assertRaises(braid.AlreadyExists):
                    db.snapshot(f"{folder}/copy")
            with braid.open(f"{folder}/copy") as copy:
                self.assertEqual(copy["notes"].count(), 3)
                self.assertTrue(copy.check().clean)

    def test_damage_is_found(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with braid.open(folder, embedder="none") as db:
                db["notes"].add(ANIMALS)
                self.assertEqual(db.check().problems, [])
                log = next(pathlib.Path(folder).rglob("log-*"))
                damaged = bytearray(log.read_bytes())
                damaged[len(damaged) // 2] ^= 0xFF
                log.write_bytes(damaged)
                report = db.check()
                self.assertFalse(report.clean)
                self.assertIn("notes", report.problems[0])

    def test_own_profiles(self) -> None:
        with braid.open(None, embedder="none", profiles={"mine": {"base": "default", "top_k": 1}}) as db:
            db["notes"].add(ANIMALS)
            self.assertEqual(len(db["notes"].retrieve("hunt", profile="mine")), 1)


WORDS = ["apple", "birch", "cedar", "daisy", "elder", "ferns", "grass", "hazel"]


class Threads(DatabaseTest):
    def test_many_threads_read_and_write_at_once(self) -> None:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                for i in range(20):
                    self.notes.add({"chunk_id": f"{number}-{i}", "content": f"{WORDS[number]} fox"})
                    answer = self.notes.retrieve(WORDS[number], strategy="sparse", top_k=50)
                    self.assertEqual(len(answer), i + 1)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(self.notes.count(), 160)

    def test_closing_while_others_search(self) -> None:
        self.notes.add(ANIMALS)
        ended = []

        def work() -> None:
            try:
                while True:
                    self.notes.retrieve("hunt")
            except braid.Unavailable:
                ended.append(True)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        self.db.close()
        for thread in threads:
            thread.join()
        self.assertEqual(len(ended), 4)


if __name__ == "__main__":
    unittest.main()
