"""tantivy: words split at spaces, frequencies without positions, one segment."""

import os
from importlib.metadata import version

import tantivy

from protocol import Rival, folder_bytes, lines, serve


class Tantivy(Rival):
    version = version("tantivy")
    note = "BM25 k1 1.2 b 0.75, no positions, hits not counted"

    def __init__(self, index, folder, queries, top_k):
        self.searcher = index.searcher()
        self.top_k = top_k
        self.queries = len(queries)
        self.index_bytes = folder_bytes(folder)
        self.note += f", segments: {self.searcher.num_segments}"
        self.requests = [
            tantivy.Query.boolean_query(
                [
                    (
                        tantivy.Occur.Should,
                        tantivy.Query.term_query(index.schema, "text", word, index_option="freq"),
                    )
                    for word in query.split(" ")
                ]
            )
            for query in queries
        ]

    def search(self, query):
        return self.searcher.search(self.requests[query], self.top_k, count=False)

    def rows(self, answer):
        return self.searcher.fast_field_values("row", [address for _, address in answer.hits])


def build(given):
    corpus, queries = lines(given.corpus), lines(given.queries)
    yield
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("row", fast=True)
    folder = f"{given.scratch}/tantivy"
    os.mkdir(folder)
    index = tantivy.Index(builder.build(), folder)
    # A budget that holds the whole corpus, so that one segment comes out: its best case.
    writer = index.writer(heap_size=2_000_000_000, num_threads=1)
    for row, text in enumerate(corpus):
        document = tantivy.Document()
        document.add_text("text", text)
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    yield Tantivy(index, folder, queries, given.top_k)


serve(build)
