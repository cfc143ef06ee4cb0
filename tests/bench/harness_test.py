"""Tests of bench/harness on stand-ins for contestants: measuring and comparing."""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from stand_ins import BENCH, WithFolder  # noqa: I001  (finds the harness)

from harness import compare, contestants, data, kept, measure
from harness.paths import ROOT, UsageError, cache_dir, fresh_folder, speed_data
from harness.worker import Worker, WorkerError, pinned_cores


class Statistics(unittest.TestCase):
    def test_spread_holds_median_extremes_and_quartiles(self):
        self.assertEqual(
            measure.spread([5, 1, 3, 2, 4]),
            {"median": 3, "min": 1, "max": 5, "q1": 2.0, "q3": 4.0},
        )

    def test_spread_of_one_round_is_that_round(self):
        self.assertEqual(
            measure.spread([7.0]), {"median": 7.0, "min": 7.0, "max": 7.0, "q1": 7.0, "q3": 7.0}
        )


class SettingSearch(unittest.TestCase):
    def test_finds_the_smallest_setting_within_five_percent(self):
        for needed in (10, 11, 37, 100, 641, 5000):
            with self.subTest(needed=needed):
                found = measure.smallest_setting(
                    lambda value: 0.95 if value >= needed else 0.9, 0.95, 10, 5120
                )
                self.assertTrue(found.reached)
                self.assertGreaterEqual(found.value, needed)
                self.assertLessEqual(found.value, needed * 1.06 + 1)

    def test_says_so_when_the_recall_is_never_reached(self):
        found = measure.smallest_setting(lambda value: min(0.9, value / 100), 0.95, 10, 1000)
        self.assertFalse(found.reached)
        self.assertEqual((found.value, found.recall), (160, 0.9))
        self.assertEqual(found.doubled, (10, 20, 40, 80, 160, 320, 640, 1000))

    def test_the_answer_has_itself_reached_the_target_though_recall_wavers(self):
        rng = np.random.default_rng(1)
        noise = rng.normal(0, 0.02, 6000)
        found = measure.smallest_setting(
            lambda value: 1 - 1 / value**0.5 + noise[value], 0.9, 10, 5120
        )
        self.assertGreaterEqual(found.tried[found.value], 0.9)
        self.assertEqual(found.recall, found.tried[found.value])

    def test_each_setting_is_tried_once(self):
        asked = []

        def recall_at(value):
            asked.append(value)
            return float(value >= 77)

        measure.smallest_setting(recall_at, 1.0, 10, 1000)
        self.assertEqual(len(asked), len(set(asked)))


class Protocol(WithFolder):
    def test_the_worker_is_pinned_and_told_its_threads(self):
        cores = pinned_cores(1)
        with self.worker("plain", cores=cores) as worker:
            self.assertEqual(worker.facts["affinity"], cores)
            self.assertEqual(worker.facts["threads"], "1")

    def test_parameters_travel_as_json(self):
        with self.worker("plain") as worker:
            self.assertEqual(worker.ids({"ef": 3}), [[9, 8, 7]] * 2)
        self.assertEqual(self.journal.read_text(), 'plain ids {"ef": 3}\n')

    def test_every_way_to_fail_is_a_worker_error_that_names_the_reason(self):
        expected = {
            "dies": "ended early: no memory left",
            "babbles": "not JSON",
            "list": "not a JSON object",
            "unready": "should be ready",
            "silent": "silent for 1 s",
        }
        for kind, reason in expected.items():
            with self.subTest(kind=kind), self.assertRaisesRegex(WorkerError, reason):
                with self.worker(kind, timeout=1.0 if kind == "silent" else 20.0):
                    pass

    def test_a_refusal_is_an_error_with_its_text(self):
        with self.worker("refuses") as worker, self.assertRaisesRegex(WorkerError, "not today"):
            worker.round()

    def test_a_program_that_is_not_there_is_an_error(self):
        worker = Worker("ghost", [self.folder / "ghost"], pinned_cores(1), self.folder / "log")
        with self.assertRaisesRegex(WorkerError, "cannot start"), worker:
            pass

    def test_more_threads_than_cores_are_refused(self):
        with self.assertRaises(ValueError):
            pinned_cores(4096)


class Rounds(WithFolder):
    def test_rounds_are_interleaved_after_the_warm_ups(self):
        with self.worker("plain") as plain, self.worker("other") as other:
            results, failed = measure.interleaved([(plain, {}), (other, {})], 2, 3, "qps")
        self.assertEqual(failed, {})
        self.assertEqual({name: len(rounds) for name, rounds in results.items()},
                         {"plain": 3, "other": 3})
        order = [line.split()[0] for line in self.journal.read_text().splitlines()]
        self.assertEqual(order, ["plain"] * 2 + ["other"] * 2 + ["plain", "other"] * 3)

    def test_a_contestant_that_still_gets_faster_is_warmed_longer(self):
        with self.worker("warms") as worker:
            results, _ = measure.interleaved([(worker, {})], 2, 5, "qps")
        self.assertEqual([figures["qps"] for figures in results["warms"]], [500.0] * 5)

    def test_a_contestant_is_warmed_for_a_while_even_if_it_gets_no_faster(self):
        with mock.patch.object(measure, "WARM_SECONDS", 0.2), self.worker("plain") as worker:
            measure.interleaved([(worker, {})], 2, 1, "qps")
        self.assertGreater(len(self.journal.read_text().splitlines()), 3)

    def test_one_that_breaks_is_reported_and_the_others_go_on(self):
        with self.worker("plain") as plain, self.worker("breaks") as breaks:
            results, failed = measure.interleaved([(breaks, {}), (plain, {})], 2, 5, "qps")
        self.assertEqual(list(results), ["plain"])
        self.assertEqual(len(results["plain"]), 5)
        self.assertIn("ended early", failed["breaks"])

    def test_one_without_the_figure_is_reported(self):
        with self.worker("plain") as plain:
            results, failed = measure.interleaved([(plain, {})], 2, 5, "docs_per_second")
        self.assertEqual((results, failed), ({}, {"plain": "no docs_per_second"}))

    def test_many_queries_in_one_call_are_used_where_that_is_faster(self):
        with self.worker("batch") as worker:
            faster, single = measure.faster_by_batch(worker, {})
            self.assertTrue(faster)
            self.assertEqual(single["qps"], 100.0)
        with self.worker("plain") as worker:
            self.assertEqual(measure.faster_by_batch(worker, {}), (False, {}))


class Input(WithFolder):
    def test_words_are_lower_case_runs_of_letters_and_digits(self):
        self.assertEqual(data.words("Don't PANIC, 42-times; naïve"),
                         ["don", "t", "panic", "42", "times", "na", "ve"])

    def test_lines_are_the_same_for_every_reader_and_none_is_empty(self):
        source = self.folder / "docs.jsonl"
        source.write_text('{"title": "The Fox", "text": "hunts."}\n{"text": "…"}\n{"text": "c d"}\n')
        path = data.corpus(data.Sources(corpus=source), 2)
        self.assertEqual(path.read_text(), "the fox hunts\nempty\n")

    def test_a_corpus_larger_than_its_source_goes_on_with_mixed_texts(self):
        source = self.folder / "docs.txt"
        source.write_text("a b c d e f\ng h i j\n")
        lines = data.corpus(data.Sources(corpus=source), 50).read_text().splitlines()
        self.assertEqual(lines[:2], ["a b c d e f", "g h i j"])
        self.assertEqual(len(lines), 50)
        self.assertTrue(all(line and set(line.split()) <= set("abcdefghij") for line in lines))
        self.assertEqual(lines, [*lines[:2], *data.mixed(lines[:2], 48)])

    def test_stop_words_are_dropped_unless_nothing_would_be_left(self):
        source = self.folder / "questions.txt"
        source.write_text("What is the fox?\nto be or not to be\n")
        sources = data.Sources(queries=source)
        self.assertEqual(data.queries(sources, None, True).read_text(),
                         "what is the fox\nto be or not to be\n")
        self.assertEqual(data.queries(sources, None, False).read_text(),
                         "what fox\nto be or not to be\n")

    def test_a_changed_source_is_prepared_anew(self):
        source = self.folder / "docs.txt"
        source.write_text("one\n")
        first = data.corpus(data.Sources(corpus=source), None)
        source.write_text("one two\n")
        self.assertNotEqual(first, data.corpus(data.Sources(corpus=source), None))

    def test_vectors_have_length_one_and_zero_stays_zero(self):
        rows = data.normalised(np.array([[3, 4], [0, 0]]))
        np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0]], rtol=1e-6)

    def test_what_is_no_matrix_is_refused(self):
        for name, content in (("text.npy", b"hello"), ("empty.npy", b"")):
            (self.folder / name).write_bytes(content)
            with self.subTest(name=name), self.assertRaises(UsageError):
                data.load(self.folder / name)
        np.save(self.folder / "flat.npy", np.zeros(3))
        with self.assertRaises(UsageError):
            data.load(self.folder / "flat.npy")

    def test_missing_measuring_data_are_explained(self):
        with mock.patch.dict(os.environ, {"BRAID_SHARED": str(self.folder / "nowhere")}):
            with self.assertRaisesRegex(UsageError, "--corpus"):
                speed_data()

    def test_the_program_says_so_and_leaves_with_2(self):
        changed = os.environ | {"BRAID_SHARED": str(self.folder / "nowhere")}
        done = subprocess.run([sys.executable, BENCH / "run", "dense"], env=changed,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("BRAID_SHARED", done.stderr)

    def test_the_cache_is_never_in_the_source_tree(self):
        with mock.patch.dict(os.environ, {"BRAID_BENCH_CACHE": str(ROOT / "build" / "cache")}):
            with self.assertRaises(UsageError):
                cache_dir()

    def test_only_folders_of_the_cache_are_emptied(self):
        kept = self.folder / "kept"
        kept.mkdir()
        with self.assertRaises(ValueError):
            fresh_folder(kept)
        self.assertTrue(kept.is_dir())


class TruthTest(WithFolder):
    def truth(self, base, queries, top_k, selectivity=None):
        for name, rows in (("base", base), ("queries", queries)):
            np.save(self.folder / f"{name}.npy", np.asarray(rows, dtype=np.float32))
        return data.Truth(self.folder / "base.npy", self.folder / "queries.npy", top_k, selectivity)

    def test_recall_agrees_with_sorting_everything(self):
        rng = np.random.default_rng(7)
        base, queries = rng.normal(size=(300, 8)), rng.normal(size=(70, 8))
        best = np.argsort(-(queries @ base.T), axis=1)
        truth = self.truth(base, queries, 10)
        self.assertEqual(truth.recall(best[:, :10].tolist()), 1.0)
        self.assertEqual(truth.recall(best[:, 10:20].tolist()), 0.0)
        self.assertAlmostEqual(truth.recall(best[:, 3:13].tolist()), 0.7)

    def test_equal_scores_count_alike_and_repeated_or_unknown_rows_do_not_count(self):
        truth = self.truth([[1, 0], [1, 0], [1, 0], [0, 1]], [[1, 0]], 2)
        self.assertEqual(truth.recall([[0, 2]]), 1.0)
        self.assertEqual(truth.recall([[1, 1]]), 0.5)
        self.assertEqual(truth.recall([[3, 99]]), 0.0)
        self.assertEqual(truth.recall([[0, -1]]), 0.5)
        self.assertEqual(truth.recall([[]]), 0.0)

    def test_only_the_first_k_count(self):
        truth = self.truth([[1, 0], [0.9, 0], [0, 1]], [[1, 0]], 1)
        self.assertEqual(truth.recall([[2, 0]]), 0.0)

    def test_a_filter_lets_the_same_rows_through_as_the_program_does(self):
        allowed = data.allowed_rows(100_000, 0.01)
        slow = [(row * 2654435761) % 2**32 < 0.01 * 2**32 for row in range(2000)]
        self.assertEqual(allowed[:2000].tolist(), slow)
        self.assertAlmostEqual(allowed.mean(), 0.01, places=3)

    def test_forbidden_rows_count_as_missed(self):
        rng = np.random.default_rng(3)
        base, query = rng.normal(size=(400, 4)), rng.normal(size=(1, 4))
        allowed = np.flatnonzero(data.allowed_rows(400, 0.2))
        truth = self.truth(base, query, 5, 0.2)
        best = allowed[np.argsort(-(base[allowed] @ query[0]))][:5]
        self.assertEqual(truth.recall([best.tolist()]), 1.0)
        forbidden = np.flatnonzero(~data.allowed_rows(400, 0.2))
        top = forbidden[np.argsort(-(base[forbidden] @ query[0]))][:5]
        self.assertEqual(truth.recall([top.tolist()]), 0.0)

    def test_a_wrong_number_of_answers_is_refused(self):
        with self.assertRaises(UsageError):
            self.truth([[1, 0]], [[1, 0]], 1).recall([])

    def test_overlap_is_the_mean_share_in_common(self):
        self.assertEqual(data.overlap([[1, 2], [3, 4]], [[2, 1], [3, 9]]), 0.75)
        self.assertEqual(data.overlap([[]], [[]]), 1.0)


class RivalSide(WithFolder):
    """bench/rivals/protocol.py through the one rival that needs NumPy only."""

    def exact(self, *more):
        rng = np.random.default_rng(11)
        for name, shape in (("base", (500, 8)), ("queries", (20, 8))):
            np.save(self.folder / f"{name}.npy", rng.normal(size=shape).astype(np.float32))
        files = ["--base", self.folder / "base.npy", "--queries", self.folder / "queries.npy"]
        words = [sys.executable, BENCH / "rivals/numpy_rival.py", "dense", *files, *more]
        return Worker("exact", words, pinned_cores(1), self.folder / "log")

    def truth(self, top_k, share=None):
        return data.Truth(self.folder / "base.npy", self.folder / "queries.npy", top_k, share)

    def test_exact_search_finds_the_truth_with_and_without_a_filter(self):
        for more, share in (([], None), (["--selectivity", "0.1"], 0.1)):
            with self.subTest(share=share), self.exact("--top-k", "7", *more) as worker:
                self.assertEqual(self.truth(7, share).recall(worker.ids()), 1.0)

    def test_rounds_time_single_queries_batches_and_threads(self):
        for threads in ("1", "2"):
            with self.subTest(threads=threads), self.exact("--threads", threads) as worker:
                single, batch = worker.round(), worker.round({"batch": True})
                self.assertGreater(single["qps"], 0)
                self.assertLessEqual(single["p50_us"], single["p99_us"])
                self.assertEqual(list(batch), ["qps"])

    def test_what_it_does_not_understand_is_an_error_and_it_goes_on(self):
        with self.exact() as worker:
            for line in ("dance", "round {", 'round {"batch": 1} x'):
                with self.subTest(line=line), self.assertRaises(WorkerError):
                    worker._ask(line, None)
            self.assertEqual(len(worker.ids()), 20)


class Comparison(WithFolder):
    def field(self, kinds, **changes):
        """Runs a group of stand-ins and returns what the report will hold."""
        taking_part = [contestants.Contestant(kind, ("dense",), knob=contestants.BEAM)
                       for kind in kinds]
        group = compare.Group("dense", "stand-ins", 10, 2, {}, taking_part, recall=0.7, **changes)
        with (
            mock.patch.object(compare, "command", lambda c, *_: self.command(c.name)),
            mock.patch.object(compare, "say"),
        ):
            return compare.run(group, compare.Options(Path(sys.executable)))

    def truth(self):
        np.save(self.folder / "base.npy", np.arange(10, dtype=np.float32).reshape(-1, 1))
        np.save(self.folder / "queries.npy", np.ones((2, 1), dtype=np.float32))
        return data.Truth(self.folder / "base.npy", self.folder / "queries.npy", 10)

    def test_a_group_holds_settings_rounds_ratios_and_failures(self):
        result = self.field(["braid", "batch", "dies"], truth=self.truth())
        by_name = {entry["name"]: entry for entry in result["contestants"]}
        self.assertEqual(list(by_name), ["batch", "braid"])
        self.assertEqual(by_name["batch"]["qps"]["median"], 300.0)
        self.assertTrue(by_name["batch"]["batch"])
        self.assertEqual(by_name["batch"]["p50_us"], 5.0)
        self.assertEqual(by_name["batch"]["braid_ratio"], 200 / 300)
        self.assertEqual(by_name["braid"]["recall"], 1.0)
        self.assertEqual(len(by_name["braid"]["rounds"]), 5)
        self.assertEqual(result["failed"], {"dies": "ended early: no memory left"})

    def test_the_setting_is_that_of_a_leg_and_the_rounds_are_whole(self):
        result = self.field(["other"], truth=self.truth(), leg="dense")
        self.assertEqual(result["contestants"][0]["params"], {"ef": 10})
        asked = self.journal.read_text().splitlines()
        self.assertIn('other ids {"ef": 10, "leg": "dense"}', asked)
        self.assertIn('other round {"ef": 10}', asked)

    def test_answers_are_compared_with_those_of_braid(self):
        result = self.field(["other", "braid"], compare_answers=True)
        self.assertEqual([entry["overlap"] for entry in result["contestants"]], [1.0, 1.0])
        self.assertEqual(result["contestants"][0]["overlap_with"], "braid")

    def test_a_contestant_that_cannot_be_had_is_named_with_the_reason(self):
        with self.assertRaisesRegex(UsageError, "not installed: no wheel"):
            rival = contestants.taking_part("dense", ["zvec"])[0]
            contestants.command(rival, "dense", {}, Path("v/bin/python"), {"zvec": "no wheel"})
        with self.assertRaisesRegex(UsageError, "unknown contestant"):
            contestants.taking_part("dense", ["zvek"])

    def test_the_program_is_called_as_it_documents(self):
        with mock.patch.object(contestants, "braid_program", lambda: Path(sys.executable)):
            words = contestants.braid_command(
                "filtered",
                {"base": "b.npy", "queries": "q.npy", "top_k": 10, "selectivity": 0.01,
                 "kind": None},
                Path("python"),
            )
        self.assertEqual(
            [str(word) for word in words[1:]],
            "bench dense --base b.npy --queries q.npy --top-k 10 --selectivity 0.01 --wait --json"
            .split(),
        )


class KeptIndexes(WithFolder):
    """What a run leaves behind: the next one builds nothing, and tries no setting again."""

    def kept(self, **inputs):
        rival = contestants.Contestant("other", ("dense",), keeps=("dense",))
        given = {"base": "b.npy", "queries": "q.npy", "top_k": 10} | inputs
        with mock.patch.dict("os.environ", {"BRAID_BENCH_CACHE": str(self.folder / "cache")}):
            return kept.Kept(rival, "dense", given, 1)

    def build(self, index, kind="other"):
        with mock.patch.dict("os.environ", {"BRAID_BENCH_CACHE": str(self.folder / "cache")}):
            return index.build(kind, lambda more: self.command(kind), 1, self.folder / "log")

    def test_an_index_is_built_once(self):
        index = self.kept()
        self.assertIsNone(index.facts)
        facts = self.build(index)
        self.assertEqual(facts["build_threads"], 1)
        self.assertEqual(self.build(self.kept(), "dies"), facts)

    def test_one_that_was_not_built_to_the_end_is_built_anew(self):
        index = self.kept()
        with self.assertRaises(WorkerError):
            self.build(index, "dies")
        (index.folder / "half").write_text("")
        self.build(index)
        self.assertFalse((index.folder / "half").exists())

    def test_what_it_is_made_of_tells_indexes_apart_and_what_is_asked_does_not(self):
        self.assertNotEqual(self.kept().folder, self.kept(base="c.npy").folder)
        self.assertNotEqual(self.kept().folder, self.kept(shares="0.1").folder)
        self.assertEqual(self.kept().folder, self.kept(top_k=50, queries="r.npy").folder)

    def test_a_setting_is_tried_once(self):
        index, asked = self.kept(), []
        index.folder.mkdir(parents=True)

        def recall_at(value):
            asked.append(value)
            return value / 100

        for _ in range(2):
            self.assertEqual(index.recalls("truth 10").at(20, recall_at), 0.2)
        self.assertEqual(index.recalls("truth 50").at(20, recall_at), 0.2)
        self.assertEqual(asked, [20, 20])


class MadeVectors(unittest.TestCase):
    def test_more_dimensions_keep_the_neighbours(self):
        rows = data.normalised(np.random.default_rng(1).normal(size=(500, 16)))
        wide = data.widened(rows, 64, 1)
        self.assertEqual(wide.shape, (500, 64))
        np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(wide @ wide.T, rows @ rows.T, atol=0.12)
        np.testing.assert_array_equal(wide, data.widened(rows, 64, 1))

    def test_more_vectors_are_as_far_apart_as_those_there_are(self):
        rows = data.normalised(np.random.default_rng(1).normal(size=(500, 16)))
        more = data.extended(rows, 2000)
        self.assertEqual(more.shape, (2000, 16))
        np.testing.assert_array_equal(more[:500], rows)
        np.testing.assert_allclose(np.linalg.norm(more, axis=1), 1, rtol=1e-5)
        near = (more[500:] * rows[np.arange(500, 2000) % 500]).sum(axis=1)
        self.assertAlmostEqual(near.mean(), data.nearest_cosine(rows), delta=0.01)


if __name__ == "__main__":
    unittest.main()
