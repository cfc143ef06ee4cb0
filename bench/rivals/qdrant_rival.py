"""Qdrant Edge: HNSW, and its own BM25 as a sparse vector (words split at spaces), RRF."""

from importlib.metadata import version

import qdrant_edge as qdrant

from protocol import (
    Rival, Store, base_of, field_of, folder_bytes, lines, marks, serve, vectors,
)  # fmt: skip

BATCH = 1000
NOTE = "HNSW, m 16, ef_construct 200"


def sparse_params():
    return {"words": qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)}


def config(dimension, text, threads, precision="f32"):
    graph = qdrant.HnswIndexConfig(
        m=16, ef_construct=200, full_scan_threshold=10, max_indexing_threads=threads
    )
    kinds = {"f32": qdrant.VectorStorageDatatype.Float32, "f16": qdrant.VectorStorageDatatype.Float16}
    dense = qdrant.EdgeVectorParams(
        size=dimension, distance=qdrant.Distance.Dot, datatype=kinds[precision]
    )
    return qdrant.EdgeConfig(
        vectors={"dense": dense},
        sparse_vectors=sparse_params() if text else None,
        hnsw_config=graph,
        optimizers=qdrant.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        max_search_threads=threads,
    )


def bm25(texts):
    """Its BM25 with stop words kept and no stemming, so that it sees the tokens all others see."""
    return qdrant.Bm25(
        qdrant.Bm25Config(
            k=1.2,
            b=0.75,
            avg_len=sum(len(text.split()) for text in texts) / len(texts),
            tokenizer=qdrant.TokenizerType.Whitespace,
            stopwords=qdrant.StopwordsSet(),
            stemmer=qdrant.DisabledStemmer(),
        )
    )


def fill(path, base, texts, words, allowed, threads, precision="f32"):
    shard = qdrant.EdgeShard.create(
        str(path), config(base.shape[1], texts is not None, threads, precision)
    )
    for name in allowed:
        shard.update(
            qdrant.UpdateOperation.create_field_index(name, qdrant.PayloadSchemaType.Integer)
        )
    for first in range(0, len(base), BATCH):
        points = []
        for row in range(first, min(first + BATCH, len(base))):
            vector, payload = {"dense": base[row].tolist()}, None
            if texts is not None:
                vector["words"] = words.embed_document(texts[row])
                payload = {"text": texts[row]}
            if allowed:
                payload = {name: int(rows[row]) for name, rows in allowed.items()}
            points.append(qdrant.Point(row, vector, payload))
        shard.update(qdrant.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    return shard


def fill_words(path, texts, words, threads):
    """Words alone: neither texts nor other vectors are stored."""
    config = qdrant.EdgeConfig(
        vectors={},
        sparse_vectors=sparse_params(),
        optimizers=qdrant.EdgeOptimizersConfig(default_segment_number=1, indexing_threshold=1),
        max_search_threads=threads,
    )
    shard = qdrant.EdgeShard.create(str(path), config)
    for first in range(0, len(texts), BATCH):
        points = [
            qdrant.Point(row, {"words": words.embed_document(texts[row])}, None)
            for row in range(first, min(first + BATCH, len(texts)))
        ]
        shard.update(qdrant.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    return shard


class Words(Rival):
    version = version("qdrant-edge-py")
    note = "its BM25 as a sparse vector, k1 1.2 b 0.75, without stop words or stemming"

    def __init__(self, shard, path, texts, words, top_k):
        self.shard, self.queries = shard, len(texts)
        self.index_bytes = folder_bytes(path)
        self.requests = [
            qdrant.QueryRequest(
                limit=top_k,
                query=qdrant.Query.Nearest(words.embed_query(text), using="words"),
                with_payload=False,
                with_vector=False,
            )
            for text in texts
        ]

    def search(self, query):
        return self.shard.query(self.requests[query])

    def rows(self, answer):
        return [int(point.id) for point in answer]


class Dense(Rival):
    version = version("qdrant-edge-py")
    note = NOTE
    has_batch = True

    def __init__(self, shard, path, queries, top_k, share):
        self.shard, self.vectors, self.top_k = shard, queries.tolist(), top_k
        self.queries = len(queries)
        self.index_bytes = folder_bytes(path)
        self.requests, self.filter = [], None
        if share:
            match = qdrant.FieldCondition(key=field_of(share), match=qdrant.MatchValue(1))
            self.filter = qdrant.Filter(must=[match])

    def prepare(self, params):
        search = qdrant.SearchParams(hnsw_ef=int(params.get("ef", 100)))
        self.requests = [
            qdrant.QueryRequest(
                limit=self.top_k,
                query=qdrant.Query.Nearest(vector, using="dense"),
                params=search,
                filter=self.filter,
                with_payload=False,
                with_vector=False,
            )
            for vector in self.vectors
        ]

    def search(self, query):
        return self.shard.query(self.requests[query])

    def search_all(self, threads):
        self.shard.query_batch(qdrant.QueryBatchRequest(self.requests))

    def rows(self, answer):
        return [int(point.id) for point in answer]


class Hybrid(Dense):
    note = NOTE + "; its BM25 without stop words or stemming"
    has_batch = False

    def __init__(self, shard, path, texts, words, queries, given):
        super().__init__(shard, path, queries, given.top_k, None)
        self.depth = given.depth
        self.words = [words.embed_query(text) for text in texts]

    def prepare(self, params):
        search = qdrant.SearchParams(hnsw_ef=int(params.get("ef", 100)))
        if params.get("leg") == "dense":
            self.requests = [self.dense_leg(vector, search) for vector in self.vectors]
        else:
            self.requests = [
                self.both_legs(words, vector, search)
                for words, vector in zip(self.words, self.vectors)
            ]

    def dense_leg(self, vector, search):
        nearest = qdrant.Query.Nearest(vector, using="dense")
        return qdrant.QueryRequest(
            limit=self.depth, query=nearest, params=search, with_payload=False, with_vector=False
        )

    def both_legs(self, words, vector, search):
        near = qdrant.Query.Nearest(vector, using="dense")
        matching = qdrant.Query.Nearest(words, using="words")
        return qdrant.QueryRequest(
            limit=self.top_k,
            prefetches=[
                qdrant.Prefetch(limit=self.depth, query=near, params=search),
                qdrant.Prefetch(limit=self.depth, query=matching),
            ],
            query=qdrant.Fusion.Rrf(k=60),
            with_payload=False,
            with_vector=False,
        )


class QdrantStore(Store):
    version = version("qdrant-edge-py")
    note = NOTE + "; text as payload and as BM25 sparse vector"

    def __init__(self, given, texts, base):
        super().__init__(given, len(texts))
        self.texts, self.base, self.threads = texts, base, given.threads
        self.words, self.precision = bm25(texts), given.precision

    def write(self, folder):
        fill(folder, self.base, self.texts, self.words, {}, self.threads, self.precision).close()

    def ask(self, folder):
        shard = qdrant.EdgeShard.load(str(folder))
        search = qdrant.SearchParams(hnsw_ef=80)
        rows = [
            [
                int(point.id)
                for point in shard.query(
                    qdrant.QueryRequest(
                        limit=self.top_k,
                        query=qdrant.Query.Nearest(question, using="dense"),
                        params=search,
                    )
                )
            ]
            for question in self.questions.tolist()
        ]
        shard.close()
        return rows

    def reopen(self, folder):
        shard = qdrant.EdgeShard.load(str(folder))
        nearest = qdrant.Query.Nearest(self.base[0].tolist(), using="dense")
        found = shard.query(qdrant.QueryRequest(limit=10, query=nearest))
        shard.close()
        return found


def opened(given, path, base, texts, words):
    """The shard, filled first unless that was done before."""
    if given.built:
        return qdrant.EdgeShard.load(str(path))
    return fill(path, base, texts, words, marks(given, len(base)), given.threads)


def build_words(given):
    texts, queries = lines(given.corpus), lines(given.queries)
    words = bm25(texts)
    path = f"{given.scratch}/qdrant"
    yield
    shard = fill_words(path, texts, words, given.threads)
    yield Words(shard, path, queries, words, given.top_k)


def build(given):
    if given.task == "sparse":
        yield from build_words(given)
        return
    base = base_of(given)
    path = f"{given.folder}/qdrant"
    if given.task == "store":
        texts = lines(given.corpus)
        yield
        yield QdrantStore(given, texts, base)
    elif given.task == "hybrid":
        texts, queries = lines(given.corpus), vectors(given.query_vectors)
        words = bm25(texts)
        yield
        shard = opened(given, path, base, texts, words)
        yield Hybrid(shard, path, lines(given.queries), words, queries, given)
    else:
        queries = vectors(given.queries)
        yield
        shard = opened(given, path, base, None, None)
        yield Dense(shard, path, queries, given.top_k, given.selectivity)


serve(build)
