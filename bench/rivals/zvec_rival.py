"""zvec: HNSW over int8 codes with exact refining, full-text index split at spaces, RRF."""

from importlib.metadata import version

import numpy as np
import zvec

from protocol import (
    Rival, Store, base_of, field_of, folder_bytes, lines, marks, serve, vectors,
)  # fmt: skip

BATCH = 1000
NOTE = "HNSW, m 16, ef_construction 200, int8 codes, refined"


def schema(dimension, text, flags, precision="f32"):
    fields = []
    if text:
        words = zvec.FtsIndexParam(tokenizer_name="whitespace", filters=[])
        fields.append(zvec.FieldSchema("text", zvec.DataType.STRING, index_param=words))
    for flag in flags:
        fields.append(
            zvec.FieldSchema(flag, zvec.DataType.INT32, index_param=zvec.InvertIndexParam())
        )
    graph = zvec.HnswIndexParam(
        metric_type=zvec.MetricType.IP,
        m=16,
        ef_construction=200,
        quantize_type=zvec.QuantizeType.INT8,
        use_contiguous_memory=True,
    )
    kinds = {"f32": zvec.DataType.VECTOR_FP32, "f16": zvec.DataType.VECTOR_FP16}
    vector = zvec.VectorSchema("vector", kinds[precision], dimension, index_param=graph)
    return zvec.CollectionSchema(name="bench", fields=fields, vectors=[vector])


def fill(path, base, texts, allowed, threads, precision="f32"):
    collection = zvec.create_and_open(
        path=str(path), schema=schema(base.shape[1], texts is not None, allowed, precision)
    )
    if precision == "f16":
        base = base.astype(np.float16)
    for first in range(0, len(base), BATCH):
        docs = []
        for row in range(first, min(first + BATCH, len(base))):
            fields = {}
            if texts is not None:
                fields["text"] = texts[row]
            for name, rows in allowed.items():
                fields[name] = int(rows[row])
            docs.append(zvec.Doc(id=str(row), vectors={"vector": base[row]}, fields=fields))
        for status in collection.insert(docs):
            if not status.ok():
                raise RuntimeError(status.message())
    collection.optimize(zvec.OptimizeOption(concurrency=threads))
    collection.flush()
    collection.close()


def open_to_read(path):
    return zvec.open(str(path), zvec.CollectionOption(read_only=True, enable_mmap=True))


def beam(ef):
    return zvec.HnswQueryParam(ef=ef, is_using_refiner=True)


class Dense(Rival):
    version = version("zvec")
    note = NOTE

    def __init__(self, path, queries, top_k, share):
        self.collection = open_to_read(path)
        self.vectors, self.top_k = list(queries), top_k
        self.filter = f"{field_of(share)} = 1" if share else None
        self.queries = len(queries)
        self.index_bytes = folder_bytes(path)
        self.requests = []

    def prepare(self, params):
        param = beam(int(params.get("ef", 100)))
        self.requests = [zvec.Query("vector", vector=v, param=param) for v in self.vectors]

    def search(self, query):
        return self.collection.query_internal_ids(
            self.requests[query], topk=self.top_k, filter=self.filter
        )

    def rows(self, answer):
        keys = self.collection.resolve_internal_ids(answer)
        return [int(key) for key in keys if key is not None]


class Hybrid(Rival):
    version = version("zvec")
    note = NOTE + "; words split at spaces"

    def __init__(self, path, texts, queries, given):
        self.collection = open_to_read(path)
        self.given, self.texts, self.vectors = given, texts, queries
        self.queries = len(texts)
        self.index_bytes = folder_bytes(path)
        self.reranker = zvec.RrfReRanker(rank_constant=60)
        self.requests, self.fused, self.shown = [], {}, given.top_k

    def prepare(self, params):
        param = beam(int(params.get("ef", 100)))
        dense = [zvec.Query("vector", vector=vector, param=param) for vector in self.vectors]
        if params.get("leg") == "dense":
            self.requests, self.fused, self.shown = dense, {}, self.given.depth
            return
        words = [zvec.Query("text", fts=zvec.Fts(match_string=text)) for text in self.texts]
        self.requests = [list(legs) for legs in zip(dense, words)]
        self.fused, self.shown = {"reranker": self.reranker}, self.given.top_k

    def search(self, query):
        # One call has one depth: it fetches the candidates of each leg and fuses those.
        return self.collection.query(
            self.requests[query], topk=self.given.depth, output_fields=[], **self.fused
        )

    def rows(self, answer):
        return [int(doc.id) for doc in answer][: self.shown]


class ZvecStore(Store):
    version = version("zvec")
    note = NOTE + "; text with a full-text index"

    def __init__(self, given, texts, base):
        super().__init__(given, len(texts))
        self.texts, self.base, self.threads = texts, base, given.threads
        self.precision = given.precision

    def write(self, folder):
        fill(folder, self.base, self.texts, {}, self.threads, self.precision)

    def ask(self, folder):
        collection = open_to_read(folder)
        rows = [
            [
                int(doc.id)
                for doc in collection.query(
                    zvec.Query("vector", vector=question, param=beam(80)), topk=self.top_k
                )
            ]
            for question in self.questions
        ]
        collection.close()
        return rows

    def reopen(self, folder):
        collection = open_to_read(folder)
        found = collection.query(zvec.Query("vector", vector=self.base[0], param=beam(80)), topk=10)
        collection.close()
        return found


def build(given):
    zvec.init(
        log_level=zvec.LogLevel.ERROR,
        query_threads=given.threads,
        optimize_threads=given.threads,
    )
    base = base_of(given)
    path = f"{given.folder}/zvec"
    if given.task == "store":
        texts = lines(given.corpus)
        yield
        yield ZvecStore(given, texts, base)
    elif given.task == "hybrid":
        queries = vectors(given.query_vectors)
        texts = None if given.built else lines(given.corpus)
        yield
        if not given.built:
            fill(path, base, texts, {}, given.threads)
        yield Hybrid(path, lines(given.queries), list(queries), given)
    else:
        queries = vectors(given.queries)
        yield
        if not given.built:
            fill(path, base, None, marks(given, len(base)), given.threads)
        yield Dense(path, queries, given.top_k, given.selectivity)


serve(build)
