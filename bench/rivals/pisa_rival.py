"""PISA, by the compiled module of a Python package: block-max MaxScore over packed blocks.

The package itself wants PyTerrier, and with it a Java; the module inside does the work.
"""

import ctypes
import importlib.machinery
import importlib.util
import os
from importlib.metadata import distribution, version

import numpy as np

from protocol import Rival, folder_bytes, lines, serve

ENCODING = "block_simdbp"
# Fastest of its algorithms and encodings on these questions.
ALGORITHM = "block_max_maxscore"


def installed(package, ending):
    """The first file of an installed package whose name ends so."""
    found = [file for file in distribution(package).files if ending in file.name]
    return str(found[0].locate())


def native_module():
    ctypes.CDLL(installed("tbb", "libtbb.so.2"), mode=ctypes.RTLD_GLOBAL)
    path = installed("pyterrier-pisa", "_pisathon.cpython")
    loader = importlib.machinery.ExtensionFileLoader("_pisathon", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_pisathon", loader))
    loader.exec_module(module)
    return module


class Pisa(Rival):
    version = version("pyterrier-pisa")
    note = f"BM25 k1 1.2 b 0.75 with its own idf, {ENCODING}, {ALGORITHM}"
    has_batch = True

    def __init__(self, module, folder, queries, top_k):
        self.module, self.top_k, self.queries = module, top_k, len(queries)
        self.context = module.RetrievalContext()
        module.prepare_index(
            self.context, folder, ENCODING, "bm25", "", quantize=0, stop_fname="",
            bm25_k1=1.2, bm25_b=0.75,
        )  # fmt: skip
        # What it builds its index from is no part of it.
        self.index_bytes = folder_bytes(folder) - sum(
            file_bytes(folder, name) for name in ("fwd", "inv.docs", "inv.freqs")
        )
        # A word counts once for each time a question has it.
        self.asked = [(number, counts(query.split(" "))) for number, query in enumerate(queries)]
        size = self.queries * top_k
        self.numbers = np.zeros(size, dtype=np.int32)
        self.names = np.empty(size, dtype=object)
        self.ranks = np.zeros(size, dtype=np.int32)
        self.scores = np.zeros(size, dtype=np.float32)

    def find(self, asked, threads):
        return self.module.retrieve(
            self.context, ALGORITHM, asked, k=self.top_k, threads=threads, query_weighted=0,
            pretokenised=True, result_qidxs=self.numbers, result_docnos=self.names,
            result_ranks=self.ranks, result_scores=self.scores,
        )  # fmt: skip

    def search(self, query):
        return self.find(self.asked[query : query + 1], 1)

    def search_all(self, threads):
        self.find(self.asked, threads)

    def rows(self, answer):
        return [int(name) for name in self.names[:answer]]


def file_bytes(folder, name):
    return os.lstat(os.path.join(folder, name)).st_blocks * 512


def counts(words):
    found = {}
    for word in words:
        found[word] = found.get(word, 0.0) + 1.0
    return found


def build(given):
    corpus, queries = lines(given.corpus), lines(given.queries)
    module = native_module()
    yield
    folder = f"{given.scratch}/pisa"
    os.mkdir(folder)
    # It reads "name text" lines from a file.
    source = f"{given.scratch}/pisa.txt"
    with open(source, "w", encoding="utf-8") as out:
        out.writelines(f"{row} {text}\n" for row, text in enumerate(corpus))
    module.index(source, folder, "", len(corpus) + 1, 1)
    yield Pisa(module, folder, queries, given.top_k)


serve(build)
