"""usearch: HNSW, connectivity 16, expansion 200 while building; --kind is the stored type."""

from importlib.metadata import version

from usearch.index import Index

from protocol import Rival, base_of, serve, vectors


class Usearch(Rival):
    version = version("usearch")
    has_batch = True

    def __init__(self, index, queries, top_k, kind):
        self.index, self.vectors, self.top_k = index, queries, top_k
        self.queries = len(queries)
        self.index_bytes = index.serialized_length
        self.note = f"HNSW, M 16, ef_construction 200, {kind}"

    def prepare(self, params):
        self.index.expansion_search = int(params.get("ef", 100))

    def search(self, query):
        return self.index.search(self.vectors[query], self.top_k, threads=1).keys

    def search_all(self, threads):
        self.index.search(self.vectors, self.top_k, threads=threads)


def build(given):
    base, queries = base_of(given), vectors(given.queries)
    kind = given.kind or "bf16"
    path = str(given.folder / "usearch.bin")
    yield
    index = Index(
        ndim=queries.shape[1], metric="ip", dtype=kind, connectivity=16, expansion_add=200
    )
    if given.built:
        index.load(path)
    else:
        index.add(range(len(base)), base, threads=given.threads)
        index.save(path)
    yield Usearch(index, queries, given.top_k, kind)


serve(build)
