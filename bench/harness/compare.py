"""One group of contestants on one input: build, find settings, measure in turn."""

import statistics
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from . import data, measure
from .contestants import Contestant, command
from .kept import Kept
from .paths import UsageError, cache_dir, fresh_folder
from .worker import Worker, WorkerError, pinned_cores


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


@dataclass
class Options:
    """How everything in one run is measured."""

    python: Path
    missing: dict[str, str] = field(default_factory=dict)
    threads: int = 1
    rounds: int = 5
    warmups: int = 2
    top_k: int = 10
    build_threads: int = 1
    prepare: bool = False  # build and find settings, measure nothing
    curves: bool = False  # also measure every setting that was tried


@dataclass
class Group:
    """A fair field: one task, one input, everybody in the same run."""

    task: str
    title: str
    docs: int
    queries: int
    inputs: dict
    contestants: list[Contestant]
    truth: data.Truth | None = None
    recall: float = 0.95
    metric: str = "qps"
    compare_answers: bool = False
    leg: str | None = None  # whose recall counts, where several are fused


def setting_for(
    worker: Worker, contestant: Contestant, group: Group, options: Options, kept: Kept | None
) -> dict:
    """The contestant's parameters for the asked recall, with what was tried on the way."""
    knob = contestant.knob
    if group.truth is None or group.task == "store":  # stores are asked after each round
        return {"params": {}}
    leg = {"leg": group.leg} if group.leg else {}
    if knob is None:
        recall = group.truth.recall(worker.ids(leg))
        return {"params": {}, "recall": recall, "reached": recall >= group.recall}

    def recall_at(value: int) -> float:
        return group.truth.recall(worker.ids({knob.name: value} | leg))

    asked = f"{group.truth.name} {options.top_k}"
    known = kept.recalls(asked) if kept else None
    found = measure.smallest_setting(
        lambda value: known.at(value, recall_at) if known else recall_at(value),
        group.recall,
        knob.start,
        min(knob.limit, max(knob.start, group.docs)),
    )
    setting = {
        "params": {knob.name: found.value},
        "recall": found.recall,
        "reached": found.reached,
    }
    if options.curves:
        setting["curve"] = curve_of(worker, knob.name, found)
    return setting


def curve_of(worker: Worker, knob: str, found: measure.Setting) -> list[dict]:
    return [
        {"setting": value, "recall": recall, "qps": second_round(worker, {knob: value})["qps"]}
        for value, recall in sorted(found.tried.items())
        if value in found.doubled or value == found.value
    ]


def second_round(worker: Worker, params: dict) -> dict:
    """A changed setting is warm after one round."""
    worker.round(params)
    return worker.round(params)


def start(
    stack: ExitStack, contestant: Contestant, group: Group, options: Options
) -> tuple[Worker, Kept | None]:
    """The contestant, ready to be asked: one that keeps its index is built by another process."""
    scratch = fresh_folder(cache_dir() / "scratch" / contestant.name)
    stack.callback(fresh_folder, scratch)
    log = cache_dir() / "logs" / f"{group.task}-{contestant.name}.log"
    inputs = group.inputs | {"top_k": options.top_k, "scratch": scratch}
    if group.truth is not None and group.task != "store":
        inputs["recall"] = group.recall

    def words(more: dict) -> list:
        given = inputs | {"threads": options.threads} | more
        return command(contestant, group.task, given, options.python, options.missing)

    facts: dict = {}
    kept, place = None, {}
    if group.task in contestant.keeps:
        kept = Kept(contestant, group.task, inputs, options.build_threads)
        facts = kept.build(contestant.name, words, options.build_threads, log)
        place = {"index": kept.folder, "built": True}
    worker = stack.enter_context(
        Worker(contestant.name, words(place), pinned_cores(options.threads), log)
    )
    worker.facts |= facts
    return worker, kept


def run(group: Group, options: Options) -> dict:
    """Measures the group; a contestant that fails is in `failed`, with the reason."""
    say(f"{group.title}, {group.docs:,} documents")
    failed: dict[str, str] = {}
    ready: list[tuple[Worker, dict]] = []
    entries: dict[str, dict] = {}
    answers: dict[str, list] = {}
    with ExitStack() as stack:
        for contestant in group.contestants:
            name = contestant.name
            try:
                say(f"  {name}: building")
                worker, kept = start(stack, contestant, group, options)
                entry = {"name": name} | worker.facts
                entry |= setting_for(worker, contestant, group, options, kept)
                params = entry["params"]
                if options.prepare:
                    say(f"  {name}: {params} {entry.get('recall', '')}")
                    stack.close()
                    continue
                if group.metric == "qps":
                    batch, single = measure.faster_by_batch(worker, params)
                    entry |= {"batch": batch, "single": single}
                    params = params | {"batch": True} if batch else params
                if group.compare_answers:
                    answers[name] = worker.ids(entry["params"])
                entries[name] = entry
                ready.append((worker, params))
            except (UsageError, WorkerError) as error:
                failed[name] = str(error).removeprefix(name + ": ")
                say(f"  {name}: {failed[name]}")
        results, broken = measure.interleaved(
            ready, options.warmups, options.rounds, group.metric, lambda text: say("  " + text)
        )
        for worker, _ in ready:
            entries[worker.name] |= worker.serving_memory()
    if group.task == "store":
        for name, rounds in results.items():
            found = [group.truth.recall(figures.pop("ids")) for figures in rounds]
            entries[name] |= {"recall": min(found), "reached": min(found) >= group.recall}
    failed |= {name: reason.removeprefix(name + ": ") for name, reason in broken.items()}
    listed = [summarise(entries[name], rounds, group.metric) for name, rounds in results.items()]
    relate(listed, answers, group.metric)
    return {
        "task": group.task,
        "title": group.title,
        "docs": group.docs,
        "queries": group.queries,
        "metric": group.metric,
        "contestants": sorted(listed, key=lambda entry: -entry[group.metric]["median"]),
        "failed": failed,
    }


def summarise(entry: dict, rounds: list[dict], metric: str) -> dict:
    """The contestant's facts with its rounds; latencies are those of single queries."""
    single = entry.pop("single", {})
    entry = {n: v for n, v in entry.items() if n not in ("ready", "resident_before")}
    entry |= {name: single[name] for name in ("p50_us", "p99_us") if name in single}
    entry["rounds"] = rounds
    entry[metric] = measure.spread(figures[metric] for figures in rounds)
    for name in ("p50_us", "p99_us", "disk_bytes", "reopen_seconds", "write_seconds"):
        values = [figures[name] for figures in rounds if name in figures]
        if values:
            entry[name] = statistics.median(values)
    return entry


def relate(entries: list[dict], answers: dict[str, list], metric: str) -> None:
    """Adds how many times faster braid is, and how far answers agree with braid's.

    Without braid, answers are compared with those of the first contestant.
    """
    braid = next((entry for entry in entries if entry["name"] == "braid"), None)
    reference = "braid" if "braid" in answers else next(iter(answers), None)
    for entry in entries:
        if braid is not None:
            entry["braid_ratio"] = braid[metric]["median"] / entry[metric]["median"]
        if entry["name"] in answers:
            entry["overlap"] = data.overlap(answers[reference], answers[entry["name"]])
            entry["overlap_with"] = reference
