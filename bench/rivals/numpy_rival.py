"""Exact search by NumPy: what every approximate contestant is to be better than."""

import numpy as np

from protocol import Rival, allowed_rows, serve, vectors


class Exact(Rival):
    version = np.__version__
    note = "exact"
    has_batch = True

    def __init__(self, base, queries, top_k, rows):
        self.base, self.vectors, self.top_k, self.row_numbers = base, queries, top_k, rows
        self.queries = len(queries)
        self.index_bytes = base.nbytes

    def best(self, scores):
        best = np.argpartition(scores, -self.top_k)[-self.top_k :]
        return best[np.argsort(-scores[best])]

    def search(self, query):
        return self.best(self.base @ self.vectors[query])

    def search_all(self, threads):
        for start in range(0, self.queries, 64):
            for scores in self.vectors[start : start + 64] @ self.base.T:
                self.best(scores)

    def rows(self, answer):
        return self.row_numbers[answer].tolist()


def build(given):
    base, queries = vectors(given.base), vectors(given.queries)
    yield
    rows = np.arange(len(base))
    if given.selectivity:
        rows = np.flatnonzero(allowed_rows(len(base), given.selectivity))
    yield Exact(np.ascontiguousarray(base[rows]), queries, min(given.top_k, len(rows)), rows)


serve(build)
