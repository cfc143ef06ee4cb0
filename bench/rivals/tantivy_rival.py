"""tantivy: words split at spaces, frequencies, positions only for phrases, one segment."""

import os
from importlib.metadata import version

import tantivy

from protocol import Rival, folder_bytes, lines, serve


def request(schema, words, match):
    if match == "phrase":
        return tantivy.Query.phrase_query(schema, "text", words)
    occur = tantivy.Occur.Must if match == "all" else tantivy.Occur.Should
    return tantivy.Query.boolean_query(
        [(occur, tantivy.Query.term_query(schema, "text", word, index_option="freq")) for word in words]
    )


class Tantivy(Rival):
    version = version("tantivy")
    note = "BM25 k1 1.2 b 0.75, hits not counted"

    def __init__(self, index, folder, queries, top_k, match):
        self.searcher = index.searcher()
        self.top_k = top_k
        self.queries = len(queries)
        self.index_bytes = folder_bytes(folder)
        self.note += f", segments: {self.searcher.num_segments}"
        self.note += ", positions" if match == "phrase" else ", no positions"
        self.requests = [request(index.schema, query.split(" "), match) for query in queries]

    def search(self, query):
        return self.searcher.search(self.requests[query], self.top_k, count=False)

    def rows(self, answer):
        return self.searcher.fast_field_values("row", [address for _, address in answer.hits])


def build(given):
    corpus, queries = lines(given.corpus), lines(given.queries)
    yield
    builder = tantivy.SchemaBuilder()
    option = "position" if given.match == "phrase" else "freq"
    builder.add_text_field("text", tokenizer_name="whitespace", index_option=option)
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
    yield Tantivy(index, folder, queries, given.top_k, given.match)


serve(build)
