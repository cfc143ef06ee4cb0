"""What the fusion "auto" promises, on judged questions: hardly ever below the better leg, nor below rrf.

    auto_test.py BRAID EXAMPLES          the repository's own samples
    auto_test.py BRAID SHARED --judged   sets as BEIR has them, below SHARED/data

Exit code 77: there is no model, or there are no judged sets.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SKIPPED = 77
BELOW_LEG, BELOW_RRF = 0.01, 0.005
SETS = ["medline", "xquad/en"]
ARTIFACTS = {
    "artifacts": "artifacts/artifacts.jsonl",
    "artifact_chunks": "artifacts/artifact_chunks.jsonl",
    "memory": "memory.jsonl",
    "history": "history.jsonl",
}


def call(braid: str, *arguments: str, feed: Any = None) -> str:
    done = subprocess.run([braid, *arguments], stdin=feed, capture_output=True, text=True)
    if "tools/fetch_models" in done.stderr:
        print(done.stderr, file=sys.stderr)
        sys.exit(SKIPPED)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_runs(braid: str, collection: str, queries: Path, qrels: Path) -> None:
    """The four runs of a collection, and what "auto" must reach."""
    ways = {
        "sparse": ["--strategy", "sparse"],
        "dense": ["--strategy", "dense"],
        "rrf": ["--fusion", "rrf", "--dense-weight", "0.5"],
        "auto": ["--fusion", "auto"],
    }
    for name, arguments in ways.items():
        call(braid, "run", "--collection", collection, "--queries", str(queries), *arguments,
             "--top-k", "10", "--out", f"{name}.trec", "--quiet")
    report = json.loads(call(braid, "eval", "--json", "--qrels", str(qrels), "--measures", "nDCG@10",
                             *[f"{name}.trec" for name in ways]))
    means = dict(zip(ways, [run["measures"]["nDCG@10"] for run in report["runs"]]))
    print(collection, {name: round(value, 4) for name, value in means.items()}, flush=True)
    assert means["auto"] >= max(means["sparse"], means["dense"]) - BELOW_LEG, means
    assert means["auto"] >= means["rrf"] - BELOW_RRF, means


def ndcg(found: list[str], relevance: dict[str, int], depth: int = 5) -> float:
    def gain(grades: list[int]) -> float:
        return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:depth]))

    return gain([relevance.get(one, 0) for one in found]) / gain(
        sorted(relevance.values(), reverse=True))


@contextlib.contextmanager
def served(braid: str) -> Iterator[Callable[[dict[str, Any]], Any]]:
    """Answers requests, with one process for all."""
    process = subprocess.Popen([braid, "serve", "--port", "0", "--log", "none"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout
        found = next(filter(None, (re.search(r"http://[0-9.]+:\d+", line) for line in process.stdout)))

        def ask(request: dict[str, Any]) -> Any:
            post = urllib.request.Request(found.group(0) + "/v1/retrieve", json.dumps(request).encode(),
                                          {"Content-Type": "application/json"})
            with urllib.request.urlopen(post, timeout=60) as answer:
                return json.load(answer)

        yield ask
    finally:
        process.terminate()
        assert process.wait(60) == 0


def artifact_of(hit: dict[str, Any]) -> str:
    return hit["metadata"].get("artifact_id") or hit["document_id"]


def merged_by_ranks(lists: dict[str, list[dict[str, Any]]], limit: int) -> list[str]:
    """What ADR-003 says: 1 / (60 + rank from 0), added up by record; of an artifact its chunk stays, else its best."""
    scores: dict[str, float] = {}
    records: dict[str, tuple[str, bool]] = {}
    for collection, hits in lists.items():
        for rank, hit in enumerate(hits):
            scores[hit["chunk_id"]] = scores.get(hit["chunk_id"], 0.0) + 1.0 / (60 + rank)
            artifact = artifact_of(hit) if collection == "artifact_chunks" else hit["chunk_id"]
            records.setdefault(hit["chunk_id"], (artifact, collection == "artifact_chunks"))
    kept: dict[str, str] = {}
    for record in sorted(scores, key=lambda one: -scores[one]):
        artifact, chunk = records[record]
        if artifact not in kept or (chunk and not records[kept[artifact]][1]):
            kept[artifact] = record
    return sorted(kept, key=lambda artifact: -scores[kept[artifact]])[:limit]


def check_artifacts(braid: str, examples: Path) -> None:
    """Several collections: at least what the code of ADR-003 reaches over the same dense lists."""
    for name, file in ARTIFACTS.items():
        call(braid, "ingest", str(examples / file), "--collection", name, "--quiet")
    qrels: dict[str, dict[str, int]] = {}
    for line in (examples / "qrels/artifacts.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    limit = 5
    values: dict[str, list[float]] = {"auto": [], "ADR-003": []}
    with served(braid) as ask:
        def retrieve(query: dict[str, Any], **members: Any) -> list[dict[str, Any]]:
            filters = {"filter": query["filter"]} if "filter" in query else {}
            return ask({"query": query["text"], **filters, **members})["chunks"]

        for line in (examples / "queries/artifacts.jsonl").read_text().splitlines():
            query = json.loads(line)
            hits = retrieve(query, profile="artifacts", fusion="auto", collections=list(ARTIFACTS))
            assert all(hit["receipt"]["fusion"]["method"] == "auto" for hit in hits)
            values["auto"].append(ndcg([artifact_of(hit) for hit in hits], qrels[query["_id"]]))
            lists = {name: retrieve(query, collection=name, strategy="dense", top_k=3 * limit, exact=True)
                     for name in ARTIFACTS}
            values["ADR-003"].append(ndcg(merged_by_ranks(lists, limit), qrels[query["_id"]]))
    means = {way: sum(found) / len(found) for way, found in values.items()}
    print("artifacts, memory and history, nDCG@5:", {w: round(m, 4) for w, m in means.items()}, flush=True)
    assert means["auto"] >= means["ADR-003"], means


def check_examples(braid: str, examples: Path) -> None:
    call(braid, "ingest", str(examples / "wiki"), "--collection", "wiki", "--quiet")
    check_runs(braid, "wiki", examples / "queries/wiki.jsonl", examples / "qrels/wiki.tsv")
    check_artifacts(braid, examples)


def check_judged(braid: str, data: Path) -> None:
    if not data.is_dir() or shutil.which("zstd") is None:
        print(f"skipped: no judged sets in {data}, or no zstd to unpack them")
        sys.exit(SKIPPED)
    os.environ["BRAID_TOKEN_LIMIT"] = "256"
    for name in SETS:
        collection = name.replace("/", "-")
        corpus = data / name / "corpus.jsonl.zst"
        with subprocess.Popen(["zstd", "-dc", str(corpus)], stdout=subprocess.PIPE) as unpacked:
            call(braid, "ingest", "-", "--collection", collection, "--quiet", feed=unpacked.stdout)
        check_runs(braid, collection, data / name / "queries.jsonl", data / name / "qrels/test.tsv")


def main(braid: str, place: Path, judged: bool) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # no configuration of somebody else's
        for name in [name for name in os.environ if name.startswith(("BRAID_", "RETRIEVAL_"))]:
            if name != "BRAID_MODELS":
                del os.environ[name]
        os.environ.update(XDG_CONFIG_HOME=scratch, BRAID_DATA=f"{scratch}/data")
        if judged:
            check_judged(braid, place / "data")
        else:
            check_examples(braid, place)
        os.chdir("/")


if __name__ == "__main__":
    where = Path(os.environ.get("BRAID_SHARED", sys.argv[2]) if "--judged" in sys.argv else sys.argv[2])
    main(os.path.abspath(sys.argv[1]), where.resolve(), "--judged" in sys.argv)
