from __future__ import annotations

import asyncio
import threading
import time
import unittest

import numpy
from support import ANIMALS, DatabaseTest, letters

import braid


class Preprocessors(unittest.TestCase):
    def test_a_function_gives_other_phrasings(self) -> None:
        asked = []

        def expand(query: str) -> list[str]:
            asked.append(query)
            return [query, "ponds", "ponds", "  ", "night"]

        with braid.open(None, embedder="none", preprocessor=expand) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("dusk", expand_query=True)
            self.assertEqual(asked, ["dusk"])
            self.assertEqual(answer.phrasings, ["ponds", "night"])
            self.assertEqual(sorted(answer.ids), ["carp", "fox", "owl"])
            self.assertEqual(db["notes"].retrieve("dusk").phrasings, [])

    def test_an_answer_is_embedded_instead_of_the_query(self) -> None:
        model = braid.Preprocessor(answer=lambda query: f"All about {query}.")
        with braid.open(None, embedder=letters, preprocessor=model) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("owls", use_hyde=True)
            self.assertEqual(answer.hypothetical_answer, "All about owls.")
            self.assertEqual(answer.to_dict()["hypothetical_answer"], "All about owls.")
            unable = db["notes"].retrieve("owls", expand_query=True)
            self.assertEqual(unable.phrasings, [])
            self.assertIn("makes no phrasings", unable.warnings[0])

    def test_what_it_raises_is_a_warning(self) -> None:
        def expand(query: str) -> list[str]:
            raise RuntimeError("no words left")

        with braid.open(None, embedder="none", preprocessor=expand) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("dusk", expand_query=True)
            self.assertEqual(answer.ids, ["fox"])
            self.assertIn("no words left", answer.warnings[0])

    def test_two_models_are_one_too_many(self) -> None:
        with self.assertRaises(braid.InvalidArgument):
            braid.open(None, llm={"model": "m"}, preprocessor=lambda query: [query])


class Embedders(unittest.TestCase):
    def test_arrays_and_lists_are_the_same(self) -> None:
        answers = []
        for embed in (letters, lambda texts: numpy.array(letters(texts), dtype=numpy.float32),
                      lambda texts: numpy.array(letters(texts))):
            with braid.open(None, embedder=braid.Embedder(embed, model="m")) as db:
                db["notes"].add(ANIMALS)
                answers.append([hit.dense_score for hit in db["notes"].retrieve("fox")])
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def test_a_function_alone_will_do(self) -> None:
        with braid.open(None, embedder=letters) as db:
            db["notes"].add("x")
            self.assertEqual(db["notes"].describe().schema["dimension"], 8)

    def test_queries_may_be_embedded_otherwise(self) -> None:
        roles = []

        def passage(texts: list[str]) -> list[list[float]]:
            roles.append("passage")
            return letters(texts)

        def query(texts: list[str]) -> list[list[float]]:
            roles.append("query")
            return letters(texts)

        mine = braid.Embedder(passage, query=query, dimension=8)
        with braid.open(None, embedders={"mine": mine}, embedder="mine") as db:
            db["notes"].add("x")
            db["notes"].retrieve("y")
        self.assertEqual(roles[-1], "query")
        self.assertIn("passage", roles)

    def test_words_do_not_wait_for_an_embedder_that_hangs(self) -> None:
        hanging, let_go = False, threading.Event()

        def embed(texts: list[str]) -> list[list[float]]:
            if hanging:
                let_go.wait(60)
            return letters(texts)

        with braid.open(None, embedder=embed) as db:
            db["notes"].add(ANIMALS)
            hanging = True
            try:
                answer = db["notes"].retrieve("ponds", deadline_ms=300)
            finally:
                let_go.set()  # closing waits for what still runs
            self.assertEqual(answer.ids, ["carp"])
            self.assertFalse(answer.complete)
            self.assertIn("the deadline passed", answer.sources[0].error)

    def test_an_exception_is_a_warning_and_words_answer(self) -> None:
        broken = False

        def embed(texts: list[str]) -> list[list[float]]:
            if broken:
                raise RuntimeError("the model is tired")
            return letters(texts)

        with braid.open(None, embedder=embed) as db:
            db["notes"].add(ANIMALS)
            broken = True
            answer = db["notes"].retrieve("ponds")
            self.assertEqual(answer.ids, ["carp"])
            self.assertFalse(answer.complete)
            said = " ".join(answer.warnings + [source.error for source in answer.sources])
            self.assertIn("RuntimeError: the model is tired", said)
            with self.assertRaisesRegex(braid.Unavailable, "tired"):
                db["notes"].add("another text")

    def test_wrong_numbers_of_vectors_are_errors(self) -> None:
        with braid.open(None, embedder=braid.Embedder(lambda texts: [], dimension=8)) as db:
            with self.assertRaisesRegex(braid.Unavailable, "0 vectors for"):
                db["notes"].add("x")
        with braid.open(None, embedder=braid.Embedder(lambda texts: [[1.0]], dimension=8)) as db:
            with self.assertRaisesRegex(braid.Unavailable, "not 8"):
                db["notes"].add("x")


class Stages(unittest.TestCase):
    def test_a_stage_of_ones_own_shows_in_the_receipt(self) -> None:
        def by_legs(query: str, hits: list[braid.StageHit], parameters: dict[str, float]) -> list[braid.Effect]:
            self.assertEqual(query, "hunt")
            return [
                braid.Effect("multiply", 1 + parameters["per_leg"] * hit.metadata["legs"])
                for hit in hits
            ]

        with braid.open(None, embedder="none", stages={"by_legs": by_legs}) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("hunt", stages=[{"by_legs": {"per_leg": 0.5}}])
            self.assertEqual(answer[0].chunk_id, "fox")
            stage = answer[0].receipt.stages[0]
            self.assertEqual((stage.stage, stage.operation, stage.value), ("by_legs", "multiply", 3.0))

    def test_none_passes_numbers_replace_and_drop_drops(self) -> None:
        def mixed(query: str, hits: list[braid.StageHit], parameters: object) -> list[braid.Effect | float | None]:
            effects: dict[str, braid.Effect | float | None] = {
                "fox": None, "owl": 5.0, "carp": braid.Effect("drop")}
            return [effects[hit.chunk_id] for hit in hits]

        with braid.open(None, embedder=letters, stages={"mixed": mixed}) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("hunt", stages=["mixed"])
            self.assertEqual(answer.ids, ["owl", "fox"])
            self.assertEqual(answer[0].score, 5.0)

    def test_an_exception_skips_the_stage_with_a_warning(self) -> None:
        def broken(*_: object) -> list[None]:
            raise KeyError("no such thing")

        with braid.open(None, embedder="none", stages={"broken": broken}) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("hunt", stages=["broken"])
            self.assertEqual(len(answer), 2)
            self.assertIn("no such thing", " ".join(answer.warnings))

    def test_a_reranker_orders_the_best(self) -> None:
        def shortest_first(query: str, texts: list[str]) -> list[float]:
            return [-float(len(text)) for text in texts]

        with braid.open(None, embedder=letters, reranker=shortest_first) as db:
            db["notes"].add(ANIMALS)
            answer = db["notes"].retrieve("hunt", stages=["rerank"])
            self.assertEqual(answer.ids[2], "fox")
            self.assertEqual(answer[0].score, -19.0)
            two = db["notes"].retrieve("hunt", stages=[{"rerank": {"candidates": 2}}])
            self.assertEqual(two.ids[2], db["notes"].retrieve("hunt").ids[2])

    def test_a_stage_may_search_itself(self) -> None:
        def nested(query: str, hits: list[braid.StageHit], parameters: object) -> list[float]:
            inner = db["notes"].retrieve(query, strategy="sparse")
            return [float(hit.chunk_id in inner.ids) for hit in hits]

        db = braid.open(None, embedder=letters, stages={"nested": nested})
        self.addCleanup(db.close)
        db["notes"].add(ANIMALS)
        self.assertEqual(db["notes"].retrieve("ponds", stages=["nested"])[0].chunk_id, "carp")


class Async(DatabaseTest):
    def test_the_twins_give_the_same(self) -> None:
        async def work() -> None:
            await self.notes.aadd(ANIMALS)
            answers = await asyncio.gather(*(self.notes.aretrieve("hunt") for _ in range(10)))
            self.assertEqual({tuple(a.ids) for a in answers}, {tuple(self.notes.retrieve("hunt").ids)})
            self.assertEqual(len(await self.notes.aretrieve_batch(["a", "b"])), 2)
            self.assertEqual((await self.notes.acontext("hunt")).query, "hunt")
            self.assertIsNotNone((await self.notes.aget("fox"))[0])
            with self.assertRaises(braid.NotFound):
                await self.db["nowhere"].aretrieve("x")

        asyncio.run(work())

    def test_cancelling_stops_the_work(self) -> None:
        batches = 0

        def slow(texts: list[str]) -> list[list[float]]:
            nonlocal batches
            batches += 1
            time.sleep(0.02)
            return letters(texts)

        async def work() -> None:
            task = asyncio.create_task(notes.aadd([f"text number {i}" for i in range(20_000)]))
            while batches < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        db = braid.open(None, embedder=braid.Embedder(slow, dimension=8))
        self.addCleanup(db.close)
        notes = db["notes"]
        asyncio.run(work())
        seen = batches
        time.sleep(0.1)
        self.assertEqual(batches, seen)
        self.assertEqual(notes.count(), 0)


if __name__ == "__main__":
    unittest.main()
