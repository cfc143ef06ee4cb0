"""braid as a store: the program's own `ingest` of JSON lines with vectors beside them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from protocol import Store, lines, serve

PROGRAM = os.environ["BRAID_PROGRAM"]


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip()[-300:])
    return done.stdout


class Braid(Store):
    note = "braid ingest --wait, every batch synced; reopening includes the start of the program"

    def __init__(self, given, source, texts):
        super().__init__(given, len(texts))
        self.version = run("--version").split()[-1]
        self.source = source
        self.question = " ".join(texts[0].split(" ")[:4])
        self.precision = given.precision

    def write(self, folder):
        run("ingest", str(self.source), "--data", str(folder), "--collection", "bench",
            "--embedder", "external", "--metric", "dot", "--precision", self.precision, "--wait",
            "--json")

    def reopen(self, folder):
        answer = run("retrieve", self.question, "--data", str(folder), "--collection", "bench",
                     "--strategy", "sparse", "--top-k", "10", "--json")
        return json.loads(answer)["chunks"]

    def ask(self, folder):
        queries, vectors = self.scratch / "queries.tsv", self.scratch / "queries.npy"
        queries.write_text("".join(f"{i}\tall\n" for i in range(len(self.questions))))
        np.save(vectors, self.questions)
        found = self.scratch / "found.trec"
        run("run", "--data", str(folder), "--collection", "bench", "--strategy", "dense",
            "--queries", str(queries), "--query-vectors", str(vectors),
            "--top-k", str(self.top_k), "--out", str(found))
        rows = [[] for _ in self.questions]
        for line in found.read_text().splitlines():
            words = line.split()
            rows[int(words[0])].append(int(words[2]))
        return rows


def build(given):
    texts = lines(given.corpus)
    source = Path(given.scratch) / "corpus.jsonl"
    with source.open("w", encoding="utf-8") as file:
        for row, text in enumerate(texts):
            file.write(json.dumps({"_id": str(row), "text": text}) + "\n")
    shutil.copyfile(given.base, source.with_suffix(".npy"))
    yield
    yield Braid(given, source, texts)


serve(build)
