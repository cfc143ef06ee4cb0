"""What the tests of bench/harness share: a stand-in for a contestant, and a folder for each test."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from harness import measure  # noqa: E402
from harness.worker import Worker, pinned_cores  # noqa: E402

# A worker that does what its first argument says, and notes in a file when it was asked.
STAND_IN = r"""
import json, os, sys, time
kind, journal = sys.argv[1], sys.argv[2]
def say(x): print(json.dumps(x), flush=True)
if kind == "dies": sys.exit("no memory left")
if kind == "babbles": print("hello"); sys.exit()
if kind == "list": print("[1]"); sys.exit()
if kind == "silent": time.sleep(30)
say({"ready": kind != "unready", "version": "1", "build_seconds": 0.5, "batch": kind == "batch",
     "affinity": sorted(os.sched_getaffinity(0)), "threads": os.environ["OMP_NUM_THREADS"]})
rounds = 0
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    params = json.loads(rest) if rest else {}
    open(journal, "a").write(f"{kind} {line}")
    if kind == "breaks" and word == "round" and rounds == 4: os._exit(3)
    if kind == "refuses": say({"error": "not today"}); continue
    if word == "ids":
        # Row 9 - i is the i-th best; the first `ef` of ten are found.
        say({"ids": [list(range(9, 9 - min(10, params.get("ef", 10)), -1))] * 2})
    elif word == "round":
        rounds += 1
        speed = {"warms": min(rounds, 5) * 100.0, "batch": 300.0 if params.get("batch") else 100.0}
        say({"qps": speed.get(kind, 200.0), "p50_us": 5.0, "p99_us": 9.0})
"""


class WithFolder(unittest.TestCase):
    def setUp(self):
        at_once = mock.patch.object(measure, "WARM_SECONDS", 0.0)
        at_once.start()
        self.addCleanup(at_once.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        cache = mock.patch.dict(os.environ, {"BRAID_BENCH_CACHE": str(self.folder / "cache")})
        cache.start()
        self.addCleanup(cache.stop)
        self.journal = self.folder / "journal"
        (self.folder / "stand_in.py").write_text(STAND_IN)

    def command(self, kind):
        return [sys.executable, self.folder / "stand_in.py", kind, self.journal]

    def worker(self, kind, timeout=20.0, cores=None):
        return Worker(kind, self.command(kind), cores or pinned_cores(1),
                      self.folder / f"{kind}.log", timeout)
