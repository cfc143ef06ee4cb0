"""One call of bench/run: which groups are measured, and what is written about them."""

import argparse
import fcntl
import io
import json
import os
import shlex
import sys
from pathlib import Path

from . import answers, compare, data, html, table
from .compare import Group, Options
from .contestants import ABSENT, taking_part
from .machine import identity, machine, program
from .paths import RESULTS, UsageError, braid_program, cache_dir

# Documents and queries, in full and with --quick; None: all there are.
SIZES = {
    "sparse": ((None, 2000), (20_000, 500)),
    "dense": ((100_000, 2000), (20_000, 500)),
    "hybrid": ((100_000, 2000), (20_000, 500)),
    "store": ((100_000, 200), (2_000, 50)),
}
QUERY_SETS = (("natural questions", True), ("stop words dropped", False))
JOINT_WORDS = (2, 3)  # of queries whose words a hit must all hold
FILTERED_QUERIES = 500  # a filter in Python makes one rival very slow
RECENT = 1024  # questions that braid may have seen before: as many as a collection remembers
DEPTH = 50  # candidates per leg of a hybrid query, braid's own default
USUAL_HITS = 10  # asked for unless --top-k says otherwise


class Session:
    """The input of one run, prepared as groups ask for it."""

    def __init__(self, given: argparse.Namespace):
        self.given = given
        docs, queries = SIZES[given.bench][1 if given.quick else 0]
        self.docs = given.docs or docs
        self.queries = given.queries or queries
        self.only = [name for name in given.only.split(",") if name]
        self.sources = data.Sources(
            given.corpus, given.queries_file, given.base, given.query_vectors
        )

    def groups(self):
        """Yields the groups, largest input first."""
        yield from getattr(self, self.given.bench)(self.docs, True)
        for docs in self.growth_sizes():
            yield from getattr(self, self.given.bench)(docs, False)

    def growth_sizes(self) -> list[int]:
        if self.given.growth is None:
            return []
        if self.given.growth:
            try:
                return [int(size) for size in self.given.growth.split(",")]
            except ValueError:
                raise UsageError(f"--growth: not numbers: {self.given.growth}") from None
        full = self.docs or data.count_lines(data.corpus(self.sources, None))
        return [full // 4, full // 2]

    def word_queries(self):
        for terms in self.given.terms:
            yield f"{terms} terms", data.long_queries(self.sources, self.queries, terms)
        for title, stop_words in () if self.given.terms else QUERY_SETS:
            yield title, data.queries(self.sources, self.queries, stop_words)

    def joint_queries(self, corpus: Path):
        """Queries that not every contestant understands: title, the kind, the file."""
        if self.given.terms:
            return
        for words in JOINT_WORDS:
            if "all" in self.given.match:
                queries = data.drawn_words(self.sources, self.queries, words)
                yield f"all of {words} words", "all", queries
            if "phrase" in self.given.match:
                queries = data.phrases(corpus, self.queries, words)
                yield f"phrases of {words} words", "phrase", queries

    def sparse(self, docs: int | None, main: bool):
        corpus = data.corpus(self.sources, docs)

        def group(task: str, title: str, queries: Path, more: dict) -> Group:
            hits = self.given.top_k
            return Group(
                task,
                title if hits == USUAL_HITS else f"{title}, top {hits}",
                data.count_lines(corpus),
                data.count_lines(queries),
                {"corpus": corpus, "queries": queries} | more,
                taking_part(task, self.only),
                compare_answers=True,
            )

        for title, queries in self.word_queries() if "any" in self.given.match else ():
            yield group("sparse", title, queries, {})
            if not main:
                return
        for title, match, queries in self.joint_queries(corpus) if main else ():
            yield group("joint", title, queries, {"match": match})

    def questions(self) -> tuple[Path, Path | None]:
        """The query vectors to be measured with, and others of their kind that are not."""
        given = self.given
        total = len(data.load(data.query_vectors(self.sources, None)))
        count = min(self.queries or total, max(1, total - min(RECENT, total // 3)))
        recent = min(RECENT, total - count)
        measured = data.query_vectors(self.sources, count, given.wide)
        if recent == 0:
            return measured, None
        return measured, data.query_vectors(self.sources, recent, given.wide, last=True)

    def dense(self, docs: int | None, main: bool):
        given = self.given
        base = data.base_vectors(self.sources, docs, given.wide)
        rows = len(data.load(base))
        queries, recent = self.questions()
        truth = data.Truth(base, queries, given.top_k)
        for target in () if given.filtered and main else given.recall:
            yield Group(
                "dense",
                f"recall {target:g} at {given.top_k}, {data.load(base).shape[1]} dimensions",
                rows,
                len(data.load(queries)),
                {"base": base, "queries": queries, "recent": recent},
                taking_part("dense", self.only),
                truth=truth,
                recall=target,
            )
        if main:
            yield from self.filtered(base, queries, recent)

    def filtered(self, base: Path, queries: Path, recent: Path | None):
        given = self.given
        few = min(FILTERED_QUERIES, len(data.load(queries)))
        queries = data.query_vectors(self.sources, few, given.wide)
        shares = ",".join(f"{share:g}" for share in given.selectivity)
        for share in given.selectivity:
            target = given.recall[0]
            yield Group(
                "filtered",
                f"recall {target:g} at {given.top_k}, filter lets {share:.3g} of the rows through",
                len(data.load(base)),
                len(data.load(queries)),
                {"base": base, "queries": queries, "selectivity": share, "shares": shares,
                 "recent": recent},
                taking_part("filtered", self.only),
                truth=data.Truth(base, queries, given.top_k, share),
                recall=target,
            )  # fmt: skip

    def both(self, docs: int | None) -> dict:
        base = data.base_vectors(self.sources, docs)
        corpus = data.corpus(self.sources, docs)
        if data.count_lines(corpus) != len(data.load(base)):
            raise UsageError("there must be one vector for each document; --docs takes the first")
        return {"corpus": corpus, "base": base}

    def hybrid_input(self) -> dict:
        """Of the first of the hybrid groups."""
        return next(self.hybrid(self.docs, True)).inputs

    def hybrid(self, docs: int | None, main: bool):
        inputs = self.both(docs)
        vectors, recent = self.questions()
        count = len(data.load(vectors))
        truth = data.Truth(inputs["base"], vectors, DEPTH)
        target = self.given.recall[0]
        for title, stop_words in QUERY_SETS:
            queries = data.queries(self.sources, count, stop_words)
            yield Group(
                "hybrid",
                f"{title}, {DEPTH} of each leg, recall {target:g} of the dense leg",
                len(data.load(inputs["base"])),
                count,
                inputs | {"queries": queries, "query_vectors": vectors, "depth": DEPTH,
                          "recent": recent},
                taking_part("hybrid", self.only),
                truth=truth,
                recall=target,
                compare_answers=True,
                leg="dense",
            )  # fmt: skip

    def store(self, docs: int | None, main: bool):
        inputs = self.both(docs)
        queries = data.query_vectors(self.sources, self.queries)
        for precision in self.given.precision:
            yield Group(
                "store",
                f"text and vectors of {precision[1:]} bits, indexed, durable on disk",
                len(data.load(inputs["base"])),
                len(data.load(queries)),
                inputs | {"queries": queries, "precision": precision},
                taking_part("store", self.only, precision),
                truth=data.Truth(inputs["base"], queries, self.given.top_k),
                metric="docs_per_second",
            )


def options_of(given: argparse.Namespace, python: Path, missing: dict) -> Options:
    rounds = given.rounds or (3 if given.quick else 5)
    return Options(
        python, missing, given.threads, rounds, given.warmups, given.top_k,
        given.build_threads or len(os.sched_getaffinity(0)), given.prepare, given.curves,
    )  # fmt: skip


def only_one() -> io.TextIOBase:
    """Holds the cache for this run: two at once would spoil each other's figures."""
    handle = (cache_dir() / "lock").open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError("another run is going on; two at once would measure each other") from None
    return handle


def versions(groups: list[dict]) -> dict[str, str]:
    return {
        entry["name"]: entry.get("version") or "unknown"
        for group in groups
        for entry in group["contestants"]
    }


def run(given: argparse.Namespace, python: Path, missing: dict) -> int:
    with only_one():
        return run_alone(given, python, missing)


def run_alone(given: argparse.Namespace, python: Path, missing: dict) -> int:
    session, options = Session(given), options_of(given, python, missing)
    report = identity() | {
        "schema": 1,
        "bench": given.bench,
        "quick": given.quick,
        "command": shlex.join(["bench/run", *sys.argv[1:]]),
        "machine": machine(),
        "program": program(braid_program()),
        "settings": {
            "threads": options.threads,
            "rounds": options.rounds,
            "warmups": options.warmups,
            "top_k": options.top_k,
            "recall": given.recall[0],
            "build_threads": options.build_threads,
        },
        "absent": ABSENT.get(given.bench, {}),
        "groups": [],
    }
    if report["machine"]["load_at_start"] > 0.5:
        compare.say(f"the machine is busy (load {report['machine']['load_at_start']})")
    for group in session.groups():
        figures = compare.run(group, options)
        if options.prepare:
            continue
        report["groups"].append(figures)
        print(table.text(report["groups"][-1]), flush=True)
    if options.prepare:
        return 0
    if given.answers and braid_program():
        report["answers"] = answers.measure(braid_program(), session.hybrid_input())
        print(answers.text(report["answers"]), flush=True)
    for name, reason in report["absent"].items():
        print(f"{name}: {reason}")
    report["versions"] = versions(report["groups"])
    folder = given.out or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{given.bench}-{report['date'].replace(':', '')}-{report['commit']}"
    (folder / f"{stem}.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / f"{stem}.html").write_text(html.page(report))
    print(f"\n{folder / stem}.json\n{folder / stem}.html")
    measured = [entry for group in report["groups"] for entry in group["contestants"]]
    return 0 if measured else 1
