"""What every rival's worker has in common: arguments, the line protocol, timing.

A worker builds its index, prints one JSON line `{"ready": true, ...}`, then answers each line of
standard input with one JSON line:

    ids [PARAMS]      {"ids": [[row, ...], ...]}                     best first, one list per query
    round [PARAMS]    {"qps": ..., "p50_us": ..., "p99_us": ...}     all queries once

PARAMS is a JSON object: the rival's own search parameters, "batch": true to hand over all queries
in one call where the rival has such a call, and "leg": "dense" to see what that leg of a hybrid
search hands to fusion.
"""

import argparse
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import numpy as np


class Rival:
    """One search engine that has been built. A subclass sets `version` and answers queries."""

    version = ""
    index_bytes = None
    note = ""
    queries = 0
    has_batch = False

    def prepare(self, params):
        """Takes search parameters; called before the queries, outside the timing."""

    def search(self, query):
        """Answers query number `query`; timed. What it returns is given to `rows`."""
        raise NotImplementedError

    def search_all(self, threads):
        """Answers all queries in one call; timed. Only if `has_batch`."""
        raise NotImplementedError

    def rows(self, answer):
        """Row numbers of the corpus, best first; not timed."""
        return [int(row) for row in answer]

    def round(self, threads, batch):
        """All queries once; the figures of the round."""
        if batch:
            start = time.perf_counter()
            self.search_all(threads)
            return {"qps": self.queries / (time.perf_counter() - start)}
        seconds, times = timed_queries(self, threads)
        p50, p99 = np.percentile(times * 1e6, [50, 99])
        return {"qps": self.queries / seconds, "p50_us": float(p50), "p99_us": float(p99)}


class Store(Rival):
    """An engine whose rounds write the whole corpus into a new folder, and open it again."""

    def __init__(self, given, count):
        self.scratch = Path(given.scratch)
        self.count = count
        self.questions = vectors(given.queries)
        self.top_k = given.top_k

    def write(self, folder):
        """Writes everything, indexes it and closes; the round then waits until it is on disk."""
        raise NotImplementedError

    def reopen(self, folder):
        """Opens the folder and answers one query; returns the rows found, then closes."""
        raise NotImplementedError

    def ask(self, folder):
        """Rows for each of `questions` by vectors, best first; not timed."""
        raise NotImplementedError

    def round(self, threads, batch):
        folder = self.scratch / "store"
        shutil.rmtree(folder, ignore_errors=True)
        start = time.perf_counter()
        self.write(folder)
        sync_folder(folder)
        written = time.perf_counter() - start
        start = time.perf_counter()
        found = self.reopen(folder)
        reopened = time.perf_counter() - start
        if not found:
            raise RuntimeError("the store found nothing after it was opened again")
        size = folder_bytes(folder)
        rows = self.ask(folder)
        shutil.rmtree(folder, ignore_errors=True)
        return {"ids": rows, "docs_per_second": self.count / written, "write_seconds": written,
                "disk_bytes": size, "reopen_seconds": reopened}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=["sparse", "dense", "hybrid", "store"])
    parser.add_argument("--corpus", help="one document per line")
    parser.add_argument("--queries", help="one query per line; for dense a .npy file")
    parser.add_argument("--base", help=".npy, one vector per document")
    parser.add_argument("--query-vectors", help=".npy, one vector per query")
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--match", choices=["any", "all", "phrase"], default="any",
                        help="what a hit holds of a query's words")
    parser.add_argument("--depth", type=int, default=50, help="candidates per leg of a hybrid")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--selectivity", type=float, help="share of rows a filter lets through")
    parser.add_argument("--shares", default="", help="shares the index must know filters for: A,B")
    parser.add_argument("--precision", default="f32", choices=["f32", "f16"])
    parser.add_argument("--kind", default="", help="variant of the rival's index")
    parser.add_argument("--scratch", help="an empty folder for files")
    parser.add_argument("--index", help="the folder the index is left in, to be opened again")
    parser.add_argument("--built", action="store_true", help="it is there: open it")
    given = parser.parse_args()
    given.folder = Path(given.index or given.scratch or ".")
    given.shares = [float(share) for share in given.shares.split(",") if share]
    return given


def lines(path):
    return Path(path).read_text(encoding="utf-8").splitlines()


def vectors(path):
    return np.ascontiguousarray(np.load(path), dtype=np.float32)


def base_of(given):
    """The vectors to be built from; nothing where the index is only opened."""
    return None if given.built else vectors(given.base)


def field_of(share):
    """The field that says whether a row belongs to the share."""
    return f"allowed_{share:g}".replace(".", "_")


def marks(given, count):
    """For each share the index must know: its field, and which rows belong to it."""
    return {field_of(share): allowed_rows(count, share) for share in given.shares}


def allowed_rows(count, selectivity):
    """Which rows the filter of this share lets through: the rule all contestants and the truth use."""
    hashes = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)
    return hashes < selectivity * 2.0**32


def folder_bytes(path):
    """Bytes on disk of all files below `path`, holes not counted."""
    return sum(
        os.lstat(os.path.join(folder, name)).st_blocks * 512
        for folder, _, names in os.walk(path)
        for name in names
    )


def sync_folder(path):
    """Waits until every file below `path` is on disk: the same promise from every store."""
    for folder, _, names in os.walk(path):
        for name in ["", *names]:
            handle = os.open(os.path.join(folder, name), os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def timed_queries(rival, threads):
    """Each query by itself, `threads` at a time: seconds in all and per query."""
    times = np.zeros(rival.queries)
    clock = time.perf_counter
    errors = []

    def work(numbers):
        try:
            for query in numbers:
                start = clock()
                rival.search(query)
                times[query] = clock() - start
        except Exception as error:  # reported by the thread that waits
            errors.append(error)

    numbers = iter(range(rival.queries))
    start = clock()
    if threads == 1:
        work(numbers)
    else:
        # next() of a range iterator is one step for the interpreter: no number is taken twice.
        workers = [threading.Thread(target=work, args=(numbers,)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    seconds = clock() - start
    if errors:
        raise errors[0]
    return seconds, times


def answer(rival, threads, line):
    command, _, rest = line.strip().partition(" ")
    params = json.loads(rest) if rest else {}
    batch = bool(params.pop("batch", False))
    if command not in ("ids", "round"):
        return {"error": f'expected "round" or "ids", got "{command}"'}
    if batch and not rival.has_batch:
        return {"error": "this contestant has no call for many queries at once"}
    rival.prepare(params)
    if command == "ids":
        return {"ids": [rival.rows(rival.search(query)) for query in range(rival.queries)]}
    return rival.round(threads, batch)


def say(line):
    print(json.dumps(line), file=PIPE, flush=True)


# The protocol's pipe is kept apart: what a package prints goes to the log.
PIPE = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def serve(build):
    """Answers for the Rival that the generator function `build(arguments)` makes.

    `build` yields twice: nothing once its input is read (build time and memory count from there),
    then the Rival.
    """
    given = arguments()
    steps = build(given)
    next(steps)
    before, start, cpu = resident_bytes(), time.perf_counter(), time.process_time()
    rival = next(steps)
    say(
        {
            "ready": True,
            "version": rival.version,
            "build_seconds": time.perf_counter() - start,
            "build_cpu_seconds": time.process_time() - cpu,
            "index_bytes": rival.index_bytes,
            "resident_before": before,
            "memory_bytes": max(0, resident_bytes() - before),
            "batch": rival.has_batch,
            "note": rival.note,
        }
    )
    for line in sys.stdin:
        if line.strip():
            try:
                say(answer(rival, given.threads, line))
            except Exception as error:  # the harness decides what a failure means
                say({"error": f"{type(error).__name__}: {error}"})
    # Some packages crash while the interpreter takes them down; nothing is left to lose.
    sys.stderr.flush()
    os._exit(0)

