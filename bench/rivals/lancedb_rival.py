"""LanceDB: vector index and full-text index of one table, fused by its RRF reranker."""

from importlib.metadata import version

import lancedb
import numpy as np
import pyarrow
from lancedb.rerankers import RRFReranker

from protocol import Rival, Store, base_of, folder_bytes, lines, serve, vectors


def fill(folder, base, texts, precision="f32"):
    count, dimension = base.shape
    base = base.astype(np.float16) if precision == "f16" else base
    rows = pyarrow.table(
        {
            "row": pyarrow.array(range(count), pyarrow.int64()),
            "text": pyarrow.array(texts),
            "vector": pyarrow.FixedSizeListArray.from_arrays(
                pyarrow.array(base.reshape(-1)), dimension
            ),
        }
    )
    table = lancedb.connect(str(folder)).create_table("bench", rows)
    table.create_fts_index(
        "text",
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        with_position=False,
    )
    # Below 256 rows it cannot train; it scans then, as it would by default.
    if count >= 256:
        table.create_index(
            metric="dot", vector_column_name="vector", index_type="IVF_HNSW_SQ",
            num_partitions=1, m=16, ef_construction=200,
        )
    return table


class Hybrid(Rival):
    version = version("lancedb")
    note = "IVF_HNSW_SQ, one partition, m 16; words split at spaces"

    def __init__(self, table, folder, texts, queries, given):
        self.table, self.texts, self.vectors, self.given = table, texts, queries, given
        self.queries = len(texts)
        self.index_bytes = folder_bytes(folder)
        self.reranker = RRFReranker(K=60)
        self.ef, self.leg, self.shown = 100, None, given.top_k

    def prepare(self, params):
        self.ef, self.leg = int(params.get("ef", 100)), params.get("leg")
        self.shown = self.given.depth if self.leg else self.given.top_k

    def search(self, query):
        if self.leg == "dense":
            nearest = self.table.search(self.vectors[query], vector_column_name="vector")
            return nearest.ef(self.ef).select(["row"]).limit(self.given.depth).to_arrow()
        return (
            self.table.search(query_type="hybrid", vector_column_name="vector")
            .vector(self.vectors[query])
            .text(self.texts[query])
            .ef(self.ef)
            .rerank(self.reranker)
            .select(["row"])
            .limit(self.given.depth)
            .to_arrow()
        )

    def rows(self, answer):
        return answer["row"].to_pylist()[: self.shown]


class LanceStore(Store):
    version = version("lancedb")
    note = "IVF_HNSW_SQ, one partition, m 16; text with a full-text index"

    def __init__(self, given, texts, base):
        super().__init__(given, len(texts))
        self.texts, self.base, self.precision = texts, base, given.precision

    def write(self, folder):
        fill(folder, self.base, self.texts, self.precision)

    def ask(self, folder):
        table = lancedb.connect(str(folder)).open_table("bench")
        return [
            table.search(question, vector_column_name="vector").ef(80).limit(self.top_k)
            .select(["row"]).to_arrow()["row"].to_pylist()
            for question in self.questions
        ]  # fmt: skip

    def reopen(self, folder):
        table = lancedb.connect(str(folder)).open_table("bench")
        found = table.search(self.base[0], vector_column_name="vector").limit(10).to_arrow()
        return found["row"].to_pylist()


def build(given):
    base = base_of(given)
    if given.task == "store":
        texts = lines(given.corpus)
        yield
        yield LanceStore(given, texts, base)
    else:
        queries = vectors(given.query_vectors)
        texts = None if given.built else lines(given.corpus)
        yield
        folder = f"{given.folder}/lancedb"
        if given.built:
            table = lancedb.connect(folder).open_table("bench")
        else:
            table = fill(folder, base, texts)
        yield Hybrid(table, folder, lines(given.queries), queries, given)


serve(build)
