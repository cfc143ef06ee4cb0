"""What every contestant is given: token streams and vectors, prepared once; and the exact truth."""

import hashlib
import io
import itertools
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .paths import UsageError, cache_dir, speed_data

WORD = re.compile(r"[a-z0-9]+")
# The words Lucene's English analyser drops.
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "
    "there these they this to was will with".split()
)
NOTHING = "empty"  # stands for a text without a single word, so that every line has a token


def words(text: str) -> list[str]:
    """Lower-cased runs of a-z and 0-9: the token stream all contestants share."""
    return WORD.findall(text.lower())


def without_stop_words(tokens: list[str]) -> list[str]:
    return [token for token in tokens if token not in STOP_WORDS]


def as_line(tokens: list[str]) -> str:
    return " ".join(tokens) or NOTHING


def open_text(path: Path) -> io.TextIOBase:
    if path.suffix != ".zst":
        return path.open(encoding="utf-8")
    import zstandard  # from the rivals' environment; the tests do without

    return io.TextIOWrapper(
        zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True), encoding="utf-8"
    )


def texts_of(path: Path) -> Iterator[str]:
    """Texts of a file: JSON lines with `title` and `text`, or plain lines."""
    with open_text(path) as file:
        if ".jsonl" not in path.suffixes:
            for line in file:
                yield line.rstrip("\n")
            return
        for line in file:
            record = json.loads(line)
            yield f"{record.get('title', '')} {record['text']}"


def key(*parts) -> str:
    """Names prepared files by what they were made from."""
    seen = []
    for part in parts:
        if isinstance(part, Path):
            status = part.stat()
            seen.append(f"{part.resolve()} {status.st_size} {status.st_mtime_ns}")
        else:
            seen.append(repr(part))
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()[:16]


def prepared(name: str, make) -> Path:
    """The file `name` in the cache; `make(path)` writes it if it is not there."""
    path = cache_dir() / "data" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name("part-" + path.name)
        make(part)
        part.rename(path)
    return path


def write_lines(path: Path, lines) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def take(texts: Iterator[str], count: int | None) -> Iterator[str]:
    for number, text in enumerate(texts):
        if count is not None and number >= count:
            return
        yield text


@dataclass
class Sources:
    """Where texts and vectors come from: the measuring data, or the caller's own files."""

    corpus: Path | None = None
    queries: Path | None = None
    base: Path | None = None
    query_vectors: Path | None = None

    def corpus_file(self) -> Path:
        return self.corpus or speed_data() / "openings.jsonl.zst"

    def queries_file(self) -> Path:
        return self.queries or speed_data() / "queries.jsonl.zst"


def mixed(texts: list[str], count: int, seed: int = 1) -> Iterator[str]:
    """So many new texts: half of the words of one and half of those of another, in their order."""
    random_numbers = random.Random(seed)
    for _ in range(count):
        halves = []
        for _ in range(2):
            tokens = random_numbers.choice(texts).split(" ")
            drawn = random_numbers.getrandbits(len(tokens))
            halves += [token for place, token in enumerate(tokens) if drawn >> place & 1]
        yield as_line(halves or tokens[:1])


def corpus(sources: Sources, docs: int | None) -> Path:
    """Token streams of the first `docs` documents, one per line; where there are fewer, mixed ones follow."""
    source = sources.corpus_file()

    def lines() -> Iterator[str]:
        written = []
        for text in take(texts_of(source), docs):
            written.append(as_line(words(text)))
            yield written[-1]
        if docs is not None and docs > len(written) > 0:
            yield from mixed(written, docs - len(written))

    return prepared(
        f"corpus-{docs or 'all'}-{key(source)}.txt", lambda path: write_lines(path, lines())
    )


def queries(sources: Sources, count: int | None, stop_words: bool) -> Path:
    """Token streams of the queries. Without stop words: the rest of each, the word itself if none."""
    source = sources.queries_file()

    def line(text: str) -> str:
        tokens = words(text)
        return as_line(tokens if stop_words else without_stop_words(tokens) or tokens)

    kind = "natural" if stop_words else "content"
    return prepared(
        f"queries-{kind}-{count or 'all'}-{key(source)}.txt",
        lambda path: write_lines(path, map(line, take(texts_of(source), count))),
    )


def long_queries(sources: Sources, count: int | None, terms: int) -> Path:
    """Queries of so many different words each, as agents send them: questions one after another."""
    source = sources.queries_file()

    def lines():
        asked: dict[str, None] = {}
        for text in itertools.cycle(texts_of(source)):
            asked.update(dict.fromkeys(words(text)))
            if len(asked) < terms:
                continue
            yield as_line(list(asked)[:terms])
            asked.clear()

    return prepared(
        f"queries-{terms}-terms-{count or 1000}-{key(source)}.txt",
        lambda path: write_lines(path, take(lines(), count or 1000)),
    )


def drawn_words(sources: Sources, count: int | None, wanted: int) -> Path:
    """Queries of so many different words of one question each, drawn at random, in their order."""
    source = sources.queries_file()

    def lines():
        numbers = random.Random(wanted)
        for text in texts_of(source):
            asked = list(dict.fromkeys(words(text)))
            if len(asked) >= wanted:
                places = sorted(numbers.sample(range(len(asked)), wanted))
                yield as_line([asked[place] for place in places])

    return prepared(
        f"queries-{wanted}-drawn-{count or 'all'}-{key(source)}.txt",
        lambda path: write_lines(path, take(lines(), count)),
    )


def phrases(corpus_lines: Path, count: int | None, wanted: int) -> Path:
    """Phrases of so many words, each from anywhere in a document drawn at random."""

    def lines():
        numbers = random.Random(wanted)
        with corpus_lines.open(encoding="utf-8") as file:
            texts = [line.split() for line in file]
        texts = [tokens for tokens in texts if len(tokens) >= wanted]
        while texts:
            tokens = numbers.choice(texts)
            start = numbers.randrange(len(tokens) - wanted + 1)
            yield as_line(tokens[start : start + wanted])

    return prepared(
        f"queries-{wanted}-phrases-{count or 1000}-{key(corpus_lines)}.txt",
        lambda path: write_lines(path, take(lines(), count or 1000)),
    )


def normalised(rows: np.ndarray) -> np.ndarray:
    rows = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def load(path: Path) -> np.ndarray:
    try:
        rows = np.load(path, mmap_mode="r", allow_pickle=False)
    except (EOFError, OSError, ValueError) as error:
        raise UsageError(f"cannot read vectors from {path}: {error}") from None
    if rows.ndim != 2 or not len(rows):
        raise UsageError(f"{path} holds {rows.shape}; wanted rows of one length")
    return rows


def save(path: Path, rows: np.ndarray) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(rows, dtype=np.float32))


def real_vectors(docs: int | None) -> np.ndarray:
    """The first vectors of the measuring data."""
    codes = speed_data() / "vectors.i8.npy"
    scale = np.load(codes.with_name("vectors.scale.npy"))
    rows = load(codes)[:docs].astype(np.float32)
    return normalised(rows * scale[: len(rows)].reshape(-1, 1))


def nearest_cosine(rows: np.ndarray, sample: int = 200) -> float:
    """The mean cosine of a vector and its nearest neighbour."""
    chosen = np.arange(sample) * len(rows) // sample
    scores = rows[chosen] @ rows.T
    scores[np.arange(sample), chosen] = -1
    return float(scores.max(axis=1).mean())


def extended(rows: np.ndarray, docs: int) -> np.ndarray:
    """More vectors than there are: each is a real one, moved along the difference of two others
    as far as its nearest neighbour is on average. They vary as the real ones do, and crowd no more
    about them."""
    count = len(rows)
    if docs <= count:
        return rows
    cosine = nearest_cosine(rows)
    step = np.float32(np.sqrt(1 / cosine**2 - 1))
    numbers = np.random.default_rng(9)
    parts = [rows]
    for first in range(count, docs, 65536):
        places = np.arange(first, min(first + 65536, docs)) % count
        away = rows[numbers.integers(count, size=len(places))]
        away = away - rows[numbers.integers(count, size=len(places))]
        away -= (away * rows[places]).sum(axis=1, keepdims=True) * rows[places]
        parts.append(normalised(rows[places] + step * normalised(away)))
    return np.concatenate(parts)


def widened(rows: np.ndarray, dimension: int, seed: int) -> np.ndarray:
    """The same neighbours in more dimensions: one fixed rotation, and noise of a tenth of the
    length."""
    turn = np.linalg.qr(np.random.default_rng(7).normal(size=(dimension, rows.shape[1])))[0]
    turn = turn.astype(np.float32)
    numbers = np.random.default_rng(seed)
    wide = np.empty((len(rows), dimension), dtype=np.float32)
    for first in range(0, len(rows), 8192):
        some = rows[first : first + 8192]
        noise = numbers.standard_normal((len(some), dimension), dtype=np.float32)
        wide[first : first + len(some)] = normalised(
            some @ turn.T + noise * np.float32(0.1 / np.sqrt(dimension))
        )
    return wide


def base_vectors(sources: Sources, docs: int | None, dimension: int | None = None) -> Path:
    """The first `docs` vectors, float32, length 1."""
    if sources.base:
        return prepared(
            f"base-{docs or 'all'}-{key(sources.base)}.npy",
            lambda path: save(path, normalised(load(sources.base)[:docs])),
        )
    codes = speed_data() / "vectors.i8.npy"

    def make(path: Path) -> None:
        rows = extended(real_vectors(docs), docs or 0)
        save(path, widened(rows, dimension, 1) if dimension else rows)

    wide = f"-{dimension}" if dimension else ""
    return prepared(f"base-{docs or 'all'}{wide}-{key(codes)}.npy", make)


def query_vectors(
    sources: Sources, count: int | None, dimension: int | None = None, last: bool = False
) -> Path:
    """The first `count` questions, or the last."""
    source = sources.query_vectors or speed_data() / "query-vectors.f16.npy"

    def make(path: Path) -> None:
        rows = load(source)
        rows = normalised(rows[-count:] if last else rows[:count])
        save(path, widened(rows, dimension, 3 if last else 2) if dimension else rows)

    wide = f"-{dimension}" if dimension else ""
    which = "last-" if last else ""
    return prepared(f"query-vectors-{which}{count or 'all'}{wide}-{key(source)}.npy", make)


def allowed_rows(count: int, selectivity: float) -> np.ndarray:
    """Row i passes iff (i * 2654435761 mod 2^32) < selectivity * 2^32; the program's own rule."""
    hashes = np.arange(count, dtype=np.uint64) * np.uint64(2654435761) & np.uint64(0xFFFFFFFF)
    return hashes < selectivity * 2.0**32


class Truth:
    """The exact best rows of each query, by float32 inner product."""

    def __init__(self, base: Path, queries: Path, top_k: int, selectivity: float | None = None):
        self.base = np.load(base, mmap_mode="r")
        self.queries = np.load(queries)
        self.allowed = None
        if selectivity is not None:
            self.allowed = allowed_rows(len(self.base), selectivity)
        rows = len(self.base) if self.allowed is None else int(self.allowed.sum())
        self.top_k = min(top_k, rows)
        if self.top_k == 0:
            raise UsageError("the filter lets no row through; use more documents")
        self.name = f"truth-{top_k}-{selectivity or 'all'}-{key(base, queries)}.npy"
        self.threshold = np.load(prepared(self.name, lambda path: save(path, self._compute())))[:, 0]

    def _compute(self) -> np.ndarray:
        """The score of the last of the true top k, per query: what a hit must reach."""
        base = np.asarray(self.base)
        if self.allowed is not None:
            base = base[self.allowed]
        last = np.empty((len(self.queries), 1), dtype=np.float32)
        for start in range(0, len(self.queries), 64):
            scores = self.queries[start : start + 64] @ base.T
            last[start : start + 64, 0] = np.partition(scores, -self.top_k, axis=1)[:, -self.top_k]
        return last

    def recall(self, found: list[list[int]]) -> float:
        """The mean share of true hits found. Equal scores count alike; repeated, forbidden and
        unknown rows count as missed."""
        if len(found) != len(self.queries):
            raise UsageError(f"{len(found)} answers to {len(self.queries)} queries")
        hits = 0
        for query, (rows, least) in enumerate(zip(found, self.threshold)):
            rows = [row for row in dict.fromkeys(rows[: self.top_k]) if 0 <= row < len(self.base)]
            if self.allowed is not None:
                rows = [row for row in rows if self.allowed[row]]
            if rows:
                scores = self.base[rows] @ self.queries[query]
                hits += int(np.count_nonzero(scores >= least - 1e-5))
        return hits / (len(self.queries) * self.top_k)


def overlap(first: list[list[int]], second: list[list[int]]) -> float:
    """The mean share of rows that two contestants' answers have in common."""
    shares = [
        len(set(a) & set(b)) / max(len(set(a)), len(set(b)))
        for a, b in zip(first, second, strict=True)
        if a or b
    ]
    return sum(shares) / len(shares) if shares else 1.0
