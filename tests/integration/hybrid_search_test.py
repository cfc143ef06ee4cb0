"""What an agent finds: the judged questions over examples/artifacts, asked by `braid mcp`.

    hybrid_search_test.py BRAID EXAMPLES

Stores the sample with the default model, asks its 25 questions through the tool hybrid_search, and
compares nDCG@5 with what the code of the decision record reaches over the same dense lists (.746)
and with what comparing scores must reach (.84). Exit code 77: there is no model.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SKIPPED = 77
KEPT = {
    "artifacts": "artifacts/artifacts.jsonl",
    "artifact_chunks": "artifacts/artifact_chunks.jsonl",
    "memory": "memory.jsonl",
    "history": "history.jsonl",
}


class Agent:
    """A client of `braid mcp`."""

    def __init__(self, braid: str) -> None:
        self.program = subprocess.Popen(
            [braid, "mcp", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                "clientInfo": {"name": "test", "version": "1"}})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self.program.stdin and self.program.stdout
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.program.stdin.write(json.dumps(message) + "\n")
        self.program.stdin.flush()
        return json.loads(self.program.stdout.readline())["result"]

    def search(self, query: str, **arguments: Any) -> list[str]:
        """The ids of the artifacts found."""
        given = {"query": query, **arguments}
        found = self.ask("tools/call", {"name": "hybrid_search", "arguments": given})
        assert not found["isError"], found
        return [hit["artifact_id"] for hit in found["structuredContent"]["results"]]

    def close(self) -> None:
        assert self.program.stdin
        self.program.stdin.close()
        assert self.program.wait(60) == 0


def ndcg(found: list[str], relevance: dict[str, int], depth: int = 5) -> float:
    def gain(grades: list[int]) -> float:
        return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades[:depth]))

    ideal = gain(sorted(relevance.values(), reverse=True))
    return gain([relevance.get(document, 0) for document in found]) / ideal


def judged(examples: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, int]]]:
    lines = (examples / "queries/artifacts.jsonl").read_text().splitlines()
    qrels: dict[str, dict[str, int]] = {}
    for line in (examples / "qrels/artifacts.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        qrels.setdefault(query, {})[document] = int(grade)
    return [json.loads(line) for line in lines], qrels


def store(braid: str, examples: Path) -> None:
    for name, file in KEPT.items():
        command = [braid, "ingest", str(examples / file), "--collection", name, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True)
        if "tools/fetch_models" in done.stderr:
            print(done.stderr, file=sys.stderr)
            sys.exit(SKIPPED)
        assert done.returncode == 0, done.stderr


def main(braid: str, examples: Path) -> None:
    queries, qrels = judged(examples)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # no configuration of somebody else's
        for name in [name for name in os.environ if name.startswith(("BRAID_", "RETRIEVAL_"))]:
            if name != "BRAID_MODELS":
                del os.environ[name]
        os.environ.update(XDG_CONFIG_HOME=place, BRAID_DATA=f"{place}/data")
        store(braid, examples)
        agent = Agent(braid)

        def measure(label: str, **arguments: Any) -> float:
            values = {
                query["_id"]: ndcg(agent.search(query["text"], **arguments,
                                                **({"filters": query["filter"]}
                                                   if "filter" in query else {})),
                                   qrels[query["_id"]])
                for query in queries
            }
            mean = sum(values.values()) / len(values)
            print(f"nDCG@5 {label}: {mean:.4f}", {k: round(v, 2) for k, v in values.items()})
            return mean

        by_ranks = measure("at the defaults")
        by_scores = measure("across scores", across="scores")
        with_memory = measure("with memory", include_memory=True)
        scores_with_memory = measure("across scores, with memory",
                                     include_memory=True, across="scores")
        firsts = {tuple(agent.search(query["text"], limit=3)) for query in queries}

        def memories(**arguments: Any) -> tuple[set[str], set[str]]:
            """Questions that the best memory answers; those that show a memory which answers them
            among the first five. Not asked of a question that `memory` alone gets wrong, as "food my
            child must not eat": of its two memories the allergy is third there (behind a
            kindergarten and a vegetarian), the adrenaline pen below the twentieth of 25."""
            known = {json.loads(line)["_id"]
                     for line in (examples / KEPT["memory"]).read_text().splitlines()}
            answered, shown = set(), set()
            for query in queries:
                best = agent.search(query["text"], collections=["memory"], limit=1)[0]
                if best not in qrels[query["_id"]]:
                    continue
                answered.add(query["_id"])
                hits = agent.search(query["text"], include_memory=True, **arguments)
                if any(hit in known and hit in qrels[query["_id"]] for hit in hits):
                    shown.add(query["_id"])
            return answered, shown

        assert by_ranks >= 0.746, by_ranks
        assert by_scores >= 0.84, by_scores
        assert with_memory >= by_ranks, with_memory
        assert scores_with_memory >= 0.84, scores_with_memory
        assert len(firsts) > 15, f"the first three hits hardly depend on the question: {firsts}"
        for arguments in ({}, {"across": "scores"}):
            answered, shown = memories(**arguments)
            assert len(answered) >= 2 and answered == shown, (answered, shown)
        agent.close()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve())
