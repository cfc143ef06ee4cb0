"""Statistics, the search for a contestant's setting, and the interleaved rounds."""

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .worker import Worker, WorkerError

WARM_SECONDS = 4.0  # a virtual machine compiles what it has seen often
STILL_WARMING = 1.05  # a round this much faster than the one before: not warm yet
MAX_WARMUPS = 50


def spread(values: Iterable[float]) -> dict:
    """Median, extremes and quartiles."""
    values = sorted(values)
    if len(values) == 1:
        low = high = values[0]
    else:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return {
        "median": statistics.median(values),
        "min": values[0],
        "max": values[-1],
        "q1": low,
        "q3": high,
    }


@dataclass
class Setting:
    """The outcome of a search: the smallest value that reaches the target, or the best tried."""

    value: int
    recall: float
    reached: bool
    tried: dict[int, float] = field(default_factory=dict)
    doubled: tuple[int, ...] = ()


def smallest_setting(
    recall_at: Callable[[int], float], target: float, start: int, limit: int
) -> Setting:
    """Doubles from `start` until `target` is reached, then halves the gap down to 5 %.

    Recall need not grow with every step: what is returned has itself been tried and reached the
    target. If nothing up to `limit` does, the value of best recall is returned as not reached.
    """
    tried: dict[int, float] = {}

    def reaches(value: int) -> bool:
        if value not in tried:
            tried[value] = recall_at(value)
        return tried[value] >= target

    below, value, doubled = 0, start, [start]
    while not reaches(value):
        if value >= limit:
            best = max(tried, key=lambda setting: (tried[setting], -setting))
            return Setting(best, tried[best], False, tried, tuple(doubled))
        below, value = value, min(2 * value, limit)
        doubled.append(value)
    while below > 0 and value - below > max(1, value // 20):
        middle = (below + value) // 2
        if reaches(middle):
            value = middle
        else:
            below = middle
    return Setting(value, tried[value], True, tried, tuple(doubled))


def faster_by_batch(worker: Worker, params: dict) -> tuple[bool, dict]:
    """Whether handing over all queries in one call pays, and the figures of single queries.

    One round of each kind, after a warm-up of each.
    """
    if not worker.facts.get("batch"):
        return False, {}
    worker.round(params)
    single = worker.round(params)
    batch = params | {"batch": True}
    worker.round(batch)
    return worker.round(batch)["qps"] > single["qps"], single


def interleaved(
    workers: list[tuple[Worker, dict]],
    warmups: int,
    rounds: int,
    metric: str,
    say: Callable[[str], None] = lambda text: None,
) -> tuple[dict[str, list[dict]], dict[str, str]]:
    """Rounds A B C A B C ..., one worker at a time. Returns each one's rounds, and the failures.

    A contestant is warmed by `warmups` rounds at least, for four seconds at least, and for as long
    as each round is 5 % faster than the one before.
    """
    results: dict[str, list[dict]] = {worker.name: [] for worker, _ in workers}
    failed: dict[str, str] = {}

    def attempt(worker: Worker, params: dict) -> dict | None:
        if worker.name in failed:
            return None
        try:
            figures = worker.round(params)
            float(figures[metric])
            return figures
        except (WorkerError, KeyError, TypeError, ValueError) as error:
            failed[worker.name] = f"no {metric}" if isinstance(error, KeyError) else str(error)
            results.pop(worker.name, None)
            return None

    def warm(worker: Worker, params: dict) -> None:
        start, before = time.monotonic(), 0.0
        for number in range(1, MAX_WARMUPS + 1):
            figures = attempt(worker, params)
            if figures is None:
                return
            improving = figures[metric] > before * STILL_WARMING
            if number >= warmups and not improving and time.monotonic() - start >= WARM_SECONDS:
                return
            before = figures[metric]

    for worker, params in workers if warmups else []:
        warm(worker, params)
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for worker, params in workers:
            figures = attempt(worker, params)
            if figures is not None:
                results[worker.name].append(figures)
    return results, failed
