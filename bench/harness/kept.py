"""What a run leaves for the next: indexes that contestants built, and the recall of settings.

A run that is interrupted goes on where it was, and one that measures builds nothing. An index is
built in a process of its own on all the cores it may use; what is measured is another, that opens
it.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from .contestants import RIVALS, Contestant
from .data import key
from .environment import SOURCES, WHEELS, sha256
from .paths import braid_program, cache_dir, fresh_folder
from .worker import Worker

CONTENT = ("base", "corpus", "shares", "recent")  # the inputs that an index is made of


def write_whole(path: Path, content: dict) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(content, indent=1) + "\n")
    part.rename(path)


def maker(contestant: Contestant) -> str:
    """Changes with the program, or with the rival's version and settings."""
    if contestant.name.startswith("braid"):
        program = braid_program()
        return key(program) if program and program.exists() else ""
    script = RIVALS / contestant.script
    return sha256(WHEELS) + sha256(SOURCES) + (sha256(script) if script.is_file() else "")


class Kept:
    """The index of one contestant on one input, in a folder of the cache."""

    def __init__(self, contestant: Contestant, task: str, inputs: dict, threads: int):
        if not contestant.index_knows_filters:
            task, inputs = "dense", {k: v for k, v in inputs.items() if k != "shares"}
        made_of = [str(inputs[name]) for name in CONTENT if inputs.get(name) is not None]
        mark = "\n".join([maker(contestant), contestant.kind, task, str(threads), *made_of])
        name = f"{contestant.name}-{task}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}"
        self.folder = cache_dir() / "indexes" / name

    @property
    def facts(self) -> dict | None:
        """What was noted when it was built; nothing if it was not, or not to the end."""
        try:
            return json.loads((self.folder / "built.json").read_text())
        except (OSError, ValueError):
            return None

    def build(self, name: str, command: Callable[[dict], list], threads: int, log: Path) -> dict:
        """The facts of the index, which is built unless it is there."""
        if self.facts is not None:
            return self.facts
        fresh_folder(self.folder)
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        load = os.getloadavg()[0]
        with Worker(name, command({"index": self.folder, "threads": threads}), cores, log) as worker:
            facts = {k: v for k, v in worker.facts.items() if k not in ("ready", "resident_before")}
        facts |= {"build_threads": threads, "load_at_build": round(load, 2)}
        write_whole(self.folder / "built.json", facts)
        return facts

    def recalls(self, what: str) -> "Recalls":
        return Recalls(self.folder / "recalls.json", what)


class Recalls:
    """The recall of each setting that was tried, by what was asked; kept as soon as it is known."""

    def __init__(self, path: Path, what: str):
        self.path, self.what = path, what
        try:
            self.all = json.loads(path.read_text())
        except (OSError, ValueError):
            self.all = {}

    def at(self, value: int, measure: Callable[[int], float]) -> float:
        known = self.all.setdefault(self.what, {})
        if str(value) not in known:
            known[str(value)] = measure(value)
            write_whole(self.path, self.all)
        return known[str(value)]
