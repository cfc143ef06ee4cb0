"""What the fusion "auto" promises, on judged questions: hardly ever below the better leg, nor below rrf.

    auto_test.py BRAID EXAMPLES          the repository's own samples
    auto_test.py BRAID SHARED --judged   sets as BEIR has them, below SHARED/data

Exit code 77: there is no model, or there are no judged sets.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
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


def check_artifacts(braid: str, examples: Path) -> None:
    """Several collections: at least what the code of ADR-003 reaches over the same dense lists."""
    for name, file in ARTIFACTS.items():
        call(braid, "ingest", str(examples / file), "--collection", name, "--quiet")
    qrels: dict[str, dict[str, int]] = {}
    for line in (examples / "qrels/artifacts.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    values = []
    for line in (examples / "queries/artifacts.jsonl").read_text().splitlines():
        query = json.loads(line)
        request = {"query": query["text"], "profile": "artifacts", "fusion": "auto",
                   "collections": list(ARTIFACTS)}
        if "filter" in query:
            request["filter"] = query["filter"]
        Path("request.json").write_text(json.dumps(request))
        answer = json.loads(call(braid, "retrieve", "--request", "request.json", "--json"))
        assert all(hit["receipt"]["fusion"]["method"] == "auto" for hit in answer["chunks"])
        found = [hit["metadata"].get("artifact_id") or hit["document_id"] for hit in answer["chunks"]]
        values.append(ndcg(found, qrels[query["_id"]]))
    mean = sum(values) / len(values)
    print(f"artifacts, memory and history: nDCG@5 {mean:.4f}", flush=True)
    assert mean >= 0.746, mean


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
