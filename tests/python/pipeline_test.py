from __future__ import annotations

import asyncio
import unittest
from typing import Any

from support import ANIMALS

import braid


class Pipelines(unittest.TestCase):
    def setUp(self) -> None:
        self.db = braid.open(None, embedder="none")
        self.addCleanup(self.db.close)
        self.notes = self.db["notes"]
        self.notes.add(ANIMALS)

    def test_stages_run_over_what_was_retrieved(self) -> None:
        def by_length(query: str, texts: list[str]) -> list[float]:
            self.assertEqual(query, "hunt")
            return [float(len(text)) for text in texts]

        plain = self.notes.retrieve("hunt")
        self.assertGreater(len(plain.hits), 1)
        answer = braid.Pipeline().add_stage(braid.Reranker(by_length)).execute("hunt", self.notes)
        lengths = [len(hit.content) for hit in answer.hits]
        self.assertEqual(lengths, sorted(lengths, reverse=True))
        self.assertEqual([hit.rank for hit in answer.hits], list(range(1, len(lengths) + 1)))
        self.assertEqual(answer.hits[0].score, lengths[0])
        self.assertEqual(answer.hits[0].receipt.stages[-1].stage, "reranker")
        self.assertEqual(sorted(answer.ids), sorted(plain.ids))

    def test_parameters_reach_a_stage_and_its_failure_is_a_warning(self) -> None:
        def best_only(query: str, hits: list[Any], parameters: dict[str, Any]) -> list[Any]:
            keep = parameters["keep"]
            return [None if i < keep else braid.Effect("drop") for i in range(len(hits))]

        stage = braid.Stage(best_only)
        cut = braid.Pipeline().add_stage(stage, name="cut", keep=1).execute("hunt", self.notes)
        self.assertEqual(len(cut.hits), 1)
        whole = braid.Pipeline().add_stage(stage, name="cut").execute("hunt", self.notes)
        self.assertGreater(len(whole.hits), 1)
        self.assertFalse(whole.complete)
        self.assertIn('the stage "cut" failed and was skipped', whole.warnings[-1])

    def test_any_retriever_and_any_function_will_do(self) -> None:
        class Own:
            def retrieve(self, query: str, top_k: int = 3) -> list[str]:
                return [query] * top_k

        pipeline = braid.Pipeline().add_stage(lambda found: [*found, "end"]).add_stage(len)
        self.assertEqual(pipeline.execute("x", Own()), 4)
        self.assertEqual(pipeline.execute({"query": "x", "top_k": 1}, Own()), 2)
        with self.assertRaises(TypeError):
            braid.Pipeline().add_stage(len, much=1)

    def test_what_is_awaited_may_be_part_of_it(self) -> None:
        async def first(answer: braid.Answer) -> str:
            return answer.ids[0]

        pipeline = braid.Pipeline().add_stage(first)
        expected = self.notes.retrieve("dusk").ids[0]
        self.assertEqual(asyncio.run(pipeline.aexecute("dusk", self.notes)), expected)


if __name__ == "__main__":
    unittest.main()
