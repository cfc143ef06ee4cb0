"""Tests of bench/harness: reports, figures and pinned rivals."""

import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from stand_ins import BENCH, WithFolder  # noqa: I001  (finds the harness)

from harness import answers, contestants, environment, html, plots, table


def sample_report():
    def entry(name, qps, **more):
        spread = {"median": qps, "min": qps * 0.9, "max": qps * 1.1, "q1": qps, "q3": qps}
        return {"name": name, "version": "1.0", "qps": spread, "p50_us": 10.0, "p99_us": 20.0,
                "build_seconds": 1.5, "index_bytes": 12_000_000, "params": {}, **more}

    def group(docs):
        curve = [{"setting": 10, "recall": 0.8, "qps": 900.0},
                 {"setting": 20, "recall": 0.96, "qps": 500.0}]
        return {
            "task": "dense", "title": "recall 0.95 at 10", "docs": docs, "queries": 100,
            "metric": "qps", "failed": {"zvec": "not installed: <no wheel>"},
            "contestants": [
                entry("braid", 1000.0, recall=0.99, braid_ratio=1.0),
                entry("hnswlib", 500.0, recall=0.96, reached=True, curve=curve, braid_ratio=2.0,
                      params={"ef": 20}, note="M 16 & <more>"),
                entry("usearch", 400.0, recall=0.91, reached=False, curve=curve[:1],
                      braid_ratio=2.5, params={"ef": 640}),
            ],
        }  # fmt: skip

    return {
        "schema": 1, "bench": "dense", "quick": False, "date": "2030-01-02T03:04:05Z",
        "commit": "abcdef123456", "changed": False, "command": "bench/run dense",
        "machine": {"cpu": "A <CPU>", "cores": 2, "memory_bytes": 2**34, "system": "S",
                    "kernel": "1", "load_at_start": 0.1},
        "settings": {"threads": 1, "rounds": 5, "warmups": 2, "top_k": 10, "recall": 0.95},
        "absent": {}, "groups": [group(100_000), group(50_000)],
    }  # fmt: skip


class Report(unittest.TestCase):
    def test_the_table_leaves_out_empty_columns_and_names_who_is_missing(self):
        text = table.text(sample_report()["groups"][0])
        self.assertIn("0.910 (best)", text)
        self.assertIn("not measured: zvec: not installed", text)
        self.assertNotIn("same hits", text)
        self.assertNotIn("memory MB", text)

    def test_answers_that_differ_much_are_pointed_out(self):
        group = sample_report()["groups"][0]
        group["contestants"][1] |= {"overlap": 0.4, "overlap_with": "braid"}
        self.assertIn("hnswlib shares only 0.40", table.text(group))
        self.assertIn("hnswlib shares only 0.40", html.section(group, 0.95, [group]))

    def test_a_curve_without_settings_has_a_point_for_each_recall_asked(self):
        first, other_size = sample_report()["groups"]
        second = sample_report()["groups"][0]
        second["contestants"][0] |= {"recall": 0.999, "qps": {"median": 700.0}}
        series = html.curves(first, [first, second, other_size])
        self.assertEqual(series["braid"], [(0.99, 1000.0), (0.999, 700.0)])
        self.assertEqual(series["hnswlib"], [(0.8, 900.0), (0.96, 500.0)])

    def test_whole_answers_stand_in_the_table_and_on_the_page(self):
        entries = [
            {"title": "plain", "qps": 1234.0, "p50_us": 1500.0, "p95_us": 2500.0, "fusion_share": 0.03},
            {"title": "broken", "error": "no model"},
        ]
        printed = answers.text(entries)
        self.assertIn("1,234", printed)
        self.assertIn("2.50", printed)
        self.assertIn("broken: no model", printed)
        page = html.page(sample_report() | {"answers": entries})
        self.assertIn("broken: no model", page)

    def test_the_page_is_self_contained_and_escaped(self):
        page = html.page(sample_report())
        for address in ("http://", "https://", "src=", "<link"):
            self.assertNotIn(address, page)
        self.assertIn("A &lt;CPU&gt;", page)
        self.assertIn("M 16 &amp; &lt;more&gt;", page)
        self.assertIn("abcdef123456", page)
        self.assertIn("cost growth", page)

    def test_plots_are_well_formed(self):
        page = html.page(sample_report())
        drawn = page.split("<svg")[1:]
        self.assertEqual(len(drawn), 2 + 2 + 1)
        for plot in drawn:
            xml.etree.ElementTree.fromstring("<svg" + plot.split("</svg>")[0] + "</svg>")

    def test_plots_bear_single_points_equal_values_and_nothing(self):
        self.assertEqual(plots.bars([], "x"), "")
        self.assertEqual(plots.lines({}, "x", "y"), "")
        self.assertEqual(plots.lines({"a": [(0.1, 5)]}, "x", "y", x_from=0.5), "")
        for points in ([(1.0, 5.0)], [(1.0, 5.0), (1.0, 5.0)], [(1.0, 5.0), (2.0, 5.0)]):
            for log in (False, True):
                plot = plots.lines({"a": points, "braid": points}, "x", "y", x_log=log, y_log=log)
                self.assertNotIn("nan", plot)
                xml.etree.ElementTree.fromstring(plot)

    def test_labels_do_not_overlap_and_stay_inside(self):
        placed = plots.spread_apart([10, 11, 12, 95, 96], 15, 0, 100)
        placed.sort()
        self.assertTrue(all(b - a >= 15 for a, b in zip(placed, placed[1:])))
        self.assertLessEqual(placed[-1], 100)


class Figures(WithFolder):
    def setUp(self):
        super().setUp()
        self.result = self.folder / "result.json"
        self.write(sample_report())
        self.document = self.folder / "benchmarks.md"
        self.summary = self.folder / "README.md"
        for file in (self.document, self.summary):
            file.write_text("Before\n<!-- figures:begin -->\n\n<!-- figures:end -->\nAfter\n")

    def write(self, report):
        self.result.write_text(json.dumps(report))

    def run_script(self, *more):
        words = [sys.executable, BENCH / "figures", self.result, "--into", self.document,
                 "--summary", self.summary, *more]  # fmt: skip
        return subprocess.run(words, capture_output=True, text=True)

    def test_figures_are_copied_with_date_and_commit(self):
        self.assertEqual(self.run_script().returncode, 0)
        text = self.document.read_text()
        self.assertTrue(text.startswith("Before\n") and text.endswith("\nAfter\n"))
        self.assertIn("| hnswlib | 0.960 | 500 |", text)
        self.assertIn("2030-01-02, commit abcdef123456", text)
        self.assertNotIn("50,000", text)

    def test_the_summary_has_the_fastest_rival_that_finds_what_was_asked(self):
        report = sample_report()
        contestants = report["groups"][0]["contestants"]
        contestants[2]["qps"]["median"] = 5000.0  # it never found .95
        for no_rival in ("braid-f16", "braid-int8", "numpy-exact"):
            contestants.append(contestants[0] | {"name": no_rival})
        self.write(report)
        self.assertEqual(self.run_script().returncode, 0)
        self.assertIn(
            "| dense: recall 0.95 at 10 (100,000 documents, 100 queries) | 1,000/s | hnswlib, 500/s | 2.00 |",
            self.summary.read_text(),
        )

    def test_a_run_replaces_its_own_tables_and_leaves_the_others(self):
        self.run_script()
        other = sample_report() | {"date": "2031-01-01T00:00:00Z", "commit": "fedcba654321"}
        other["groups"][0]["title"] = "recall 0.99 at 10"
        self.write(other)
        self.run_script()
        both = self.document.read_text()
        self.assertLess(both.index("2030-01-02"), both.index("2031-01-01"))
        self.assertEqual(self.summary.read_text().count("| dense: "), 2)

        self.write(sample_report() | {"date": "2032-01-01T00:00:00Z"})
        self.run_script()
        text = self.document.read_text()
        self.assertNotIn("2030-01-02", text)
        self.assertLess(text.index("2032-01-01"), text.index("2031-01-01"))
        self.assertEqual(text.count("recall 0.95 at 10"), 1)

    def test_a_second_copy_changes_nothing_and_check_agrees(self):
        self.assertEqual(self.run_script("--check").returncode, 1)
        self.run_script()
        once = self.document.read_text(), self.summary.read_text()
        self.run_script()
        self.assertEqual((self.document.read_text(), self.summary.read_text()), once)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_quick_runs_changed_trees_and_missing_markers_are_refused(self):
        for change in ({"quick": True}, {"changed": True}):
            self.write(sample_report() | change)
            self.assertEqual(self.run_script().returncode, 1)
        self.write(sample_report())
        self.document.write_text("nothing marked")
        self.assertIn("figures:begin", self.run_script().stderr)
        self.assertEqual(self.document.read_text(), "nothing marked")

    def test_the_projects_own_summary_is_that_of_its_figures(self):
        done = subprocess.run([sys.executable, BENCH / "figures", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


class Pins(unittest.TestCase):
    def test_every_requirement_has_a_version_and_hashes(self):
        for file in (environment.WHEELS, environment.SOURCES):
            blocks = environment.requirement_blocks(file.read_text())
            self.assertTrue(blocks)
            for block in blocks:
                self.assertRegex(block, r"^[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}")

    def test_every_rival_is_pinned(self):
        blocks = environment.requirement_blocks(
            environment.WHEELS.read_text() + environment.SOURCES.read_text()
        )
        pinned = {block.split("==")[0] for block in blocks}
        for rival in contestants.CONTESTANTS:
            self.assertTrue(not rival.package or rival.package in pinned, rival.name)


if __name__ == "__main__":
    unittest.main()
