"""hnswlib: HNSW, M 16, ef_construction 200, inner product of normalised vectors."""

from importlib.metadata import version

import hnswlib

from protocol import Rival, allowed_rows, base_of, serve, vectors


class Hnswlib(Rival):
    version = version("hnswlib")
    note = "HNSW, M 16, ef_construction 200"
    has_batch = True

    def __init__(self, index, queries, top_k, allowed):
        self.index, self.vectors, self.top_k = index, queries, top_k
        self.queries = len(queries)
        self.index_bytes = index.index_file_size()
        self.filter = None
        if allowed is not None:
            self.filter = allowed.tolist().__getitem__
            self.note += ", filter by a Python function (the package has no other)"

    def prepare(self, params):
        self.index.set_ef(int(params.get("ef", 100)))

    def search(self, query):
        return self.index.knn_query(
            self.vectors[query], k=self.top_k, num_threads=1, filter=self.filter
        )[0][0]

    def search_all(self, threads):
        self.index.knn_query(self.vectors, k=self.top_k, num_threads=threads, filter=self.filter)


def build(given):
    base, queries = base_of(given), vectors(given.queries)
    path = str(given.folder / "hnswlib.bin")
    yield
    index = hnswlib.Index(space="ip", dim=queries.shape[1])
    if given.built:
        index.load_index(path)
    else:
        index.init_index(max_elements=len(base), M=16, ef_construction=200, random_seed=1)
        index.add_items(base, num_threads=given.threads)
        index.save_index(path)
    count = index.get_current_count()
    allowed = allowed_rows(count, given.selectivity) if given.selectivity else None
    yield Hnswlib(index, queries, given.top_k, allowed)


serve(build)
