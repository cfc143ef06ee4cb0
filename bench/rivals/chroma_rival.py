"""Chroma: documents with their vectors in a persistent client. It has no local hybrid search."""

from importlib.metadata import version

import chromadb
from chromadb.config import Settings

from protocol import Store, lines, serve, vectors

BATCH = 5000


class Chroma(Store):
    version = version("chromadb")
    note = "HNSW, M 16, ef_construction 200; text in SQLite with its full-text table"

    def __init__(self, given, texts, base):
        super().__init__(given, len(texts))
        self.texts, self.base, self.threads = texts, base, given.threads

    def client(self, folder):
        chromadb.api.client.SharedSystemClient.clear_system_cache()
        return chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))

    def write(self, folder):
        graph = {"space": "ip", "max_neighbors": 16, "ef_construction": 200,
                 "num_threads": self.threads}
        client = self.client(folder)
        collection = client.create_collection(
            "bench", embedding_function=None, configuration={"hnsw": graph}
        )
        for first in range(0, len(self.texts), BATCH):
            last = min(first + BATCH, len(self.texts))
            collection.add(
                ids=[str(row) for row in range(first, last)],
                embeddings=self.base[first:last],
                documents=self.texts[first:last],
            )

    def reopen(self, folder):
        collection = self.client(folder).get_collection("bench", embedding_function=None)
        return collection.query(query_embeddings=self.base[:1], n_results=10)["ids"][0]

    def ask(self, folder):
        collection = self.client(folder).get_collection("bench", embedding_function=None)
        found = collection.query(query_embeddings=self.questions, n_results=self.top_k)
        return [[int(row) for row in rows] for rows in found["ids"]]


def build(given):
    texts, base = lines(given.corpus), vectors(given.base)
    yield
    yield Chroma(given, texts, base)


serve(build)
