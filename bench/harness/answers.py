"""What whole answers of braid cost beside the search itself: embedding, fusion, many callers."""

import json
import os
import subprocess
from pathlib import Path

from .table import lines, number, short

# Title, embedder (None: the vectors are given), documents (None: all), callers.
VARIANTS = (
    ("every question embedded by the default model", "bge", None, 1),
    ("the same, 10,000 documents", "bge", 10_000, 1),
    ("10,000 documents, 16 callers, embedded by minilm", "minilm", 10_000, 16),
    ("10,000 documents, vectors given", None, 10_000, 1),
)
# Title, figure of `braid bench hybrid --json`, digits.
COLUMNS = (
    ("queries/s", "qps", 0),
    ("p50 ms", "p50_us", 2),
    ("p95 ms", "p95_us", 2),
    ("embed ms", "mean_embed_ms", 2),
    ("dense ms", "mean_dense_ms", 2),
    ("sparse ms", "mean_sparse_ms", 2),
    ("both legs ms", "mean_both_legs_ms", 2),
    ("fusion and receipts", "fusion_share", 3),
    ("fuse 2 × 1,000 µs", "fuse_2x1000_us", 1),
)
TITLES = ("braid alone, all cores", *(title for title, _, _ in COLUMNS))


def measure(program: Path, inputs: dict) -> list[dict]:
    """Runs each variant; one that fails is kept with the reason."""
    return [{"title": title} | run(program, inputs, embedder, docs, callers)
            for title, embedder, docs, callers in VARIANTS]  # fmt: skip


def run(program: Path, inputs: dict, embedder: str | None, docs: int | None, callers: int) -> dict:
    words = [program, "bench", "hybrid", "--json", "--threads", callers,
             "--corpus", inputs["corpus"], "--base", inputs["base"], "--queries", inputs["queries"]]  # fmt: skip
    words += ["--embedder", embedder] if embedder else ["--query-vectors", inputs["query_vectors"]]
    words += ["--docs", docs] if docs else []
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.endswith("_THREADS")},
        check=False,
    )
    if done.returncode != 0:
        return {"error": done.stderr.strip().splitlines()[-1] if done.stderr else "it failed"}
    return json.loads(done.stdout)


def cell(figures: dict, key: str, digits: int) -> str:
    value = figures.get(key)
    if value is None:
        return ""
    if key == "qps":
        return short(value)
    return number(value / 1000 if key in ("p50_us", "p95_us") else value, digits)


def rows(answers: list[dict]) -> list[list[str]]:
    """A line for each variant, under TITLES."""
    return [
        [entry["title"] + (f": {entry['error']}" if "error" in entry else "")]
        + [cell(entry, key, digits) for _, key, digits in COLUMNS]
        for entry in answers
    ]


def text(answers: list[dict]) -> str:
    return "\n".join(["", *lines(list(TITLES), rows(answers))])
