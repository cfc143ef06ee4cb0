"""large_test.py BRAID [CHUNKS]: the page over 100,000 chunks with vectors; prints how fast it answers. Exit 77 without a browser."""
import json
import os
import random
import statistics
import sys
import time
import unittest
import urllib.request

import browser
from world import World, vector

BRAID = ""
CHUNKS = 100_000
PART = 2_000
QUERIES = ["the fox of the northern harbour", "winter counting of herons", "wolf quarry dusk"]
WORDS = (["fox", "owl", "vole", "hare", "heron", "otter", "wolf", "crane", "winter", "counting", "dusk", "harbour", "quarry", "northern"]
         + [f"{a}{b}" for a in ("mar", "tol", "ven", "sik", "bro", "lun", "qua", "dre") for b in ("den", "mere", "holt", "wick", "stow", "garth", "fell", "combe")])
# Milliseconds of every search since the marks were cleared: from the answer to its hits on the page.
SHOWN = """(() => { const at = (n) => performance.getEntriesByName(n).map((e) => e.startTime);
    const shown = at('braid-shown'), answers = at('braid-answer');
    return shown.map((end) => end - Math.max(...answers.filter((begin) => begin <= end))); })()"""
# Milliseconds from each key to the last of the answer it led to, network and server together.
ASKED = "performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/v1/retrieve')).map((e) => e.duration)"


def chunks(count):
    random.seed(22)
    for i in range(count):
        text = " ".join(random.choices(WORDS, k=12))
        yield {"chunk_id": f"c{i:06}", "document_id": f"d{i // 4:05}", "chunk_index": i % 4, "title": f"Report {i // 4}",
               "content": text, "metadata": {"year": 1990 + i % 30}, "vector": vector(text)}


class Large(unittest.TestCase):
    def setUp(self):
        self.world = World(BRAID)
        self.addCleanup(self.world.close)
        self.chromium = browser.Browser(browser.find())
        self.addCleanup(self.chromium.close)

    def fill(self):
        part = []
        self.world.call("POST", "/v1/collections", {"name": "large"})
        for chunk in chunks(CHUNKS):
            part.append(json.dumps(chunk))
            if len(part) == PART:
                self.send(part)
                part = []
        if part:
            self.send(part)

    def send(self, lines):
        request = urllib.request.Request(self.world.url + "/v1/collections/large/chunks", "\n".join(lines).encode(), {"Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            done = json.loads(answer.read())
        self.assertEqual(done["written"], len(lines), done)

    def settle(self):
        """Until nothing is left to be merged or built."""
        end = time.monotonic() + 600
        while self.world.call("GET", "/v1/collections/large/stats")["index"]["pending"] and time.monotonic() < end:
            time.sleep(0.5)

    def test_answers_while_one_types(self):
        began = time.monotonic()
        self.fill()
        filled = time.monotonic() - began
        self.settle()
        page = self.chromium.page()
        page.go(self.world.url + "/#c=large")
        page.text(".welcome h2")
        shown, asked, dense, sparse = [], [], [], []
        for query in QUERIES:
            page.run("performance.clearMarks(); performance.clearResourceTimings(); document.querySelector('#query').value = ''; document.querySelector('#query').focus()")
            for word in query.split(" "):
                page.type(word + " ")
                page.wait(f"new URLSearchParams(location.hash.slice(1)).get('q')?.trim().endsWith({json.dumps(word)}) && document.querySelectorAll('.hit').length > 0 && !document.querySelector('.column[aria-busy]')", query)
            shown += page.run(SHOWN)
            asked += page.run(ASKED)
            answer = self.world.call("POST", "/v1/retrieve", {"query": query, "collection": "large"})
            page.wait(f"[...document.querySelectorAll('.hit .origin')].map((e) => e.textContent).join() === {json.dumps(','.join(hit['chunk_id'] for hit in answer['chunks']))}", "the hits of the server, in its order")
            legs = {leg["source"]: leg for leg in answer["sources"]}
            self.assertTrue(legs["dense"]["ran"] and legs["sparse"]["ran"], legs)
            dense.append(legs["dense"]["time_ms"])
            sparse.append(legs["sparse"]["time_ms"])
            method = legs["dense"]["method"]
        stats = self.world.call("GET", "/v1/collections/large/stats")
        self.assertEqual(stats["chunks"], CHUNKS)
        self.assertEqual(stats["vectors"], CHUNKS)
        page.go(self.world.url + "/collections")
        page.wait("document.querySelectorAll('.segments li').length > 1", "its files")
        self.assertEqual(page.complaints, [])
        print(json.dumps({"chunks": CHUNKS, "filled_s": round(filled, 1), "searches": len(shown), "dense": method,
                          "files": len(stats["index"]["segments"]),
                          "from_answer_to_hits_ms": {"median": round(statistics.median(shown), 1), "largest": round(max(shown), 1)},
                          "request_ms": {"median": round(statistics.median(asked), 1), "largest": round(max(asked), 1)},
                          "legs_ms": {"dense": round(statistics.median(dense), 2), "sparse": round(statistics.median(sparse), 2)}}))


if __name__ == "__main__":
    BRAID = os.path.abspath(sys.argv[1])
    CHUNKS = int(sys.argv[2]) if len(sys.argv) > 2 else CHUNKS
    if browser.find() is None:
        print("SKIPPED: no Chromium; tools/setup packages installs it, or BRAID_CHROMIUM names one")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0]])
