"""Faiss: --kind hnsw (HNSW16, efConstruction 200) or ivf (fast-scan PQ codes, exact rescoring)."""

from pathlib import Path

import faiss
import numpy as np

from protocol import Rival, allowed_rows, base_of, serve, vectors


class Faiss(Rival):
    version = faiss.__version__
    has_batch = True

    def __init__(self, index, queries, top_k, kind, selector):
        self.index, self.vectors, self.top_k, self.kind = index, queries, top_k, kind
        self.queries = len(queries)
        self.selector = selector
        self.params = None

    def prepare(self, params):
        if self.kind == "hnsw":
            self.params = faiss.SearchParametersHNSW(
                efSearch=int(params.get("ef", 100)), sel=self.selector
            )
            return
        probes = int(params.get("nprobe", 16))
        inner = faiss.IVFSearchParameters(nprobe=probes)
        self.params = faiss.IndexRefineSearchParameters(
            k_factor=float(params.get("k_factor", 10)), base_index_params=inner
        )

    def search(self, query):
        return self.index.search(
            self.vectors[query : query + 1], self.top_k, params=self.params
        )[1][0]

    def search_all(self, threads):
        self.index.search(self.vectors, self.top_k, params=self.params)


def made(base, kind):
    """The index, and what to say of it."""
    dimension = base.shape[1]
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, 16, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 200
    else:
        lists = max(1, min(512, len(base) // 64))
        recipe = f"IVF{lists},PQ{dimension // 2}x4fs,RFlat"
        index = faiss.index_factory(dimension, recipe, faiss.METRIC_INNER_PRODUCT)
        index.train(base)
    index.add(base)
    return index


def build(given):
    base, queries = base_of(given), vectors(given.queries)
    faiss.omp_set_num_threads(given.threads)
    kind = given.kind or "hnsw"
    path = str(given.folder / "faiss.bin")
    yield
    if given.built:
        index = faiss.read_index(path)
    else:
        index = made(base, kind)
        faiss.write_index(index, path)
    selector = None
    if given.selectivity:
        bits = np.packbits(allowed_rows(index.ntotal, given.selectivity), bitorder="little")
        selector = faiss.IDSelectorBitmap(bits)
    rival = Faiss(index, queries, given.top_k, kind, selector)
    rival.index_bytes = Path(path).stat().st_size
    rival.note = "HNSW, M 16, efConstruction 200"
    if kind == "ivf":
        rival.note = "IVF of at most 512 lists, PQ of 4 bits a pair (fast scan), refined"
    yield rival


serve(build)
