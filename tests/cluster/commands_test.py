"""commands_test.py BRAID: every command over a cluster (BRAID_CLUSTER_URL) does what it does on a folder, or says why not."""

import json
import math
import socket
import subprocess
import time
import unittest
import urllib.request

import program
from program import SCHEMA, ClusterCase, Place, some_chunks

# What differs between two databases that hold the same.
OWN = {"version", "cursor", "timings", "latency_ms", "time_ms", "query_embedding_time_ms", "bytes_on_disk", "bytes",
       "bytes_by_part", "resident_bytes", "terms", "parsing_seconds", "reading_seconds", "storing_seconds", "seconds", "method", "records",
       "chunks_per_second", "tokens_per_second", "index"}
# What a cluster's answers warn of.
SAID = ("this database has no snapshots",)
# Scores of words are floats on a cluster (docs/cluster.md).
TOLERANCE = 1e-5

WORDS = {"query": "river lamp", "collection": "c", "strategy": "sparse", "top_k": 5}
VECTOR = {"query": "river lamp", "collection": "c", "query_embedding": [1, 0, 0.5, 0, 0, 0, 0, 0.25], "top_k": 5, "exact": True}


def without_own(value: object) -> object:
    if isinstance(value, dict):
        return {name: without_own(member) for name, member in value.items() if name not in OWN}
    if isinstance(value, list):
        return [without_own(member) for member in value]
    return value


def differences(a: object, b: object, path: str = "") -> list[str]:
    """Where two answers differ by more than rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        found = []
        for name in sorted(a.keys() | b.keys()):
            if name not in a or name not in b:
                found.append(f"{path}.{name}: only {'here' if name in a else 'there'}")
            else:
                found += differences(a[name], b[name], f"{path}.{name}")
        return found
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return [f"{path}: {len(a)} and {len(b)} elements"]
        return [one for i, (x, y) in enumerate(zip(a, b)) for one in differences(x, y, f"{path}[{i}]")]
    if isinstance(a, float | int) and isinstance(b, float | int) and not isinstance(a, bool):
        if isinstance(a, float) and math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-9):
            return []
    return [] if a == b else [f"{path}: {a!r} and {b!r}"]


class Commands(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.here, self.there = self.local(), self.cluster()
        for place in (self.here, self.there):
            place.json("collections", "create", "c", "--schema", "-", text=SCHEMA)
            place.put(some_chunks(200))

    def same(self, *arguments: str, text: str = "", but: tuple[str, ...] = ()) -> object:
        """Both succeed with the same answer, what `but` names apart; the cluster's."""
        here = self.here.json(*arguments, text=text)
        there = self.there.json(*arguments, text=text)
        if isinstance(there, dict) and "warnings" in there:
            there["warnings"] = [one for one in there["warnings"] if not one.startswith(SAID)]
        found = [one for one in differences(without_own(here), without_own(there))
                 if not any(part in one for part in but)]
        with self.subTest(arguments):
            self.assertEqual(found, [], f"{text}\n{json.dumps(here)[:1500]}\n{json.dumps(there)[:1500]}")
        return there

    def refused(self, *arguments: str, part: str, text: str = "") -> None:
        self.fails(self.there(*arguments, text=text), part)

    def request(self, command: str, body: dict, *arguments: str, but: tuple[str, ...] = ()) -> object:
        return self.same(command, *arguments, "--request", "-", text=json.dumps(body), but=but)

    def test_writing(self) -> None:
        self.same("add", "--collection", "c", text='{"chunk_id": "x", "document_id": "dx", "content": "a new lamp", "vector": [1,0,0,0,0,0,0,0]}')
        self.same("get", "--collection", "c", "x")
        self.same("update", "--collection", "c", "--id", "x", "--metadata", '{"kind": "lamp", "year": null}')
        self.same("get", "--collection", "c", "x", "c00003")
        self.same("delete", "--collection", "c", "--document", "d7")
        self.same("delete", "--collection", "c", "--filter", '{"year": {"$lt": 1995}}')
        self.same("delete", "--collection", "c", "--id", "x")
        self.same("stats", "--collection", "c")
        for arguments in [("get", "--collection", "c", "nobody"), ("get", "--collection", "nowhere", "c00001"),
                          ("update", "--collection", "c", "--id", "nobody", "--metadata", "{}"),
                          ("collections", "create", "c"), ("collections", "drop", "nowhere", "--yes"),
                          ("retrieve", "--collection", "nowhere", "x")]:
            with self.subTest(arguments):
                self.assertEqual(self.here(*arguments).returncode, self.there(*arguments).returncode)

    def test_ingest_of_documents(self) -> None:
        folder = self.folder / "docs"
        folder.mkdir()
        for i in range(12):
            (folder / f"{i}.md").write_text(f"# Note {i}\n\nThe {'lamp' if i % 2 else 'kettle'} of house {i}.\n\n## More\n\nText {i}.\n")
        flags = ("--collection", "docs", "--embedder", "none")
        self.same("ingest", str(folder), *flags)
        again = self.same("ingest", str(folder), *flags)
        self.assertEqual((again["chunks"], again["unchanged_files"]), (0, 12))
        (folder / "3.md").write_text("# Note 3\n\nRewritten.\n")
        (folder / "4.md").unlink()
        self.same("ingest", str(folder), *flags, "--prune")
        # Rewritten and removed chunks still count when words are weighed: other scores, the same hits.
        found = [sorted(hit["chunk_id"] for hit in place.json("retrieve", "--collection", "docs", "kettle", "-k", "50")["chunks"])
                 for place in (self.here, self.there)]
        self.assertEqual(found[0], found[1])
        self.same("stats", "--collection", "docs")

    def test_searching(self) -> None:
        self.request("retrieve", WORDS)
        self.request("retrieve", VECTOR | {"strategy": "dense"})
        self.request("retrieve", VECTOR)
        self.request("retrieve", VECTOR | {"fusion": "weighted_sum", "filter": {"year": {"$gte": 2000}}, "expand_neighbors": 1})
        self.request("retrieve", VECTOR | {"fusion": "dbsf", "document_ids": ["d1", "d2", "d3"]})
        for profile in ("service", "topic", "artifacts", "doctrine"):
            with self.subTest(profile):
                self.request("retrieve", VECTOR | {"profile": profile})
        self.same("context", "--collection", "c", "--strategy", "sparse", "--budget", "300", "river lamp")
        self.same("explain", "--collection", "c", "--strategy", "sparse", "river lamp", "--chunk", "c00007", but=("rank",))
        self.same("why-not", "--collection", "c", "--strategy", "sparse", "--top-k", "2", "river lamp", "--chunk", "c00009",
                  but=("rank", "warnings", "reason"))
        self.same("facets", "--collection", "c", "kind")
        self.same("facets", "--collection", "c", "year", "--limit", "7")
        self.same("analyze", "Running lamps")
        self.same("collections")
        self.same("stats", "--collection", "c")
        self.same("check")

    def test_fields_languages_and_misspelt_words(self) -> None:
        self.same("facets", "--collection", "c")
        self.same("facets", "--collection", "c", "--filter", '{"year": {"$gte": 2000}}', "--limit", "2")
        texts = {"de": "Die Häuser der Stadt stehen in einem alten Garten, und das Haus ist leer.",
                 "es": "Las casas de la ciudad están en un jardín viejo, y la casa está vacía.",
                 "ru": "Дома города стоят в старом саду, и этот дом пуст.",
                 "en": "The houses of the town stand in an old garden, and the house is empty."}
        lines = "".join(json.dumps({"chunk_id": name, "content": text}) + "\n" for name, text in texts.items())
        for place in (self.here, self.there):
            place.json("collections", "create", "many", "--schema", "-", text='{"embedder": "none", "language": "auto"}')
            place.put(lines, collection="many")
        for query in ("Haus Garten", "casa jardín", "дом сад", "house gardens"):
            found = self.request("retrieve", {"query": query, "collection": "many", "strategy": "sparse"})
            self.assertTrue(found["chunks"][0]["matches"], query)
        for query in ("rivr", "rivr lamp", "harbuor kettle", "Rivr"):
            found = self.request("retrieve", {"query": query, "collection": "c", "strategy": "sparse"})
            self.assertTrue(found["corrections"], query)
            self.assertTrue(found["chunks"], query)
        self.request("retrieve", {"query": "rivr", "collection": "c", "strategy": "sparse", "typos": "off"})
        self.request("retrieve", {"query": "zzzzzz", "collection": "c", "strategy": "sparse"})

    def test_query_language(self) -> None:
        asked = {"collection": "c", "strategy": "sparse", "top_k": 50, "query_syntax": True}
        def ids(query: str) -> set[str]:
            # What a phrase or a field weighs differs (docs/cluster.md): the same hits, perhaps in another order.
            found = [place.json("retrieve", "--request", "-", text=json.dumps(asked | {"query": query, "sparse_top_k": 500}))
                     for place in (self.here, self.there)]
            for name in ("query_understood", "warnings", "corrections", "suggestions"):
                self.assertEqual(*[[one for one in answer.get(name) or [] if name != "warnings" or not one.startswith(SAID)]
                                   for answer in found], query)
            self.assertEqual(*[[one.get("patterns") for one in answer["sources"]] for answer in found], query)
            self.assertEqual(*[[one["matched"] for one in answer["sources"]] for answer in found], query)
            all_ids = [{hit["chunk_id"] for hit in answer["chunks"]} for answer in found]
            if found[0]["sources"][0]["matched"] <= 50:
                self.assertEqual(*all_ids, query)
            return all_ids[1]
        for query in ("+river -lamp", "+river +lamp", "river", '"river stone"', '"river stone"~3', "title:river", 'title:"river stone"',
                      "+title:(river lamp) -content:kettle", "riv*", "+har* +kettle", "rivr~", "kettel~2", "xiter~2", "xriver~2", "ever~2",
                      "harbuor~2", "river^3 lamp", "+(river lamp) -(stone engine)", "-river", '+"river lamp" "', "nofield:river", r"\+river",
                      "žluťoučký", '"žluťoučký \U0001F40E"'):
            with self.subTest(query):
                ids(query)
        self.assertTrue(ids('"river stone"') < ids("+river +stone"))
        for query in ("+river -lamp", "riv* stone^2", "+(river lamp) -stone"):  # words alone score alike
            self.request("retrieve", asked | {"query": query, "top_k": 10, "explain": True}, but=("rank", "warnings"))
        self.same("why-not", "--collection", "c", "--strategy", "sparse", "--query-syntax", "+river -lamp", "--chunk", "c00009",
                  but=("rank", "warnings", "reason"))
        self.request("retrieve", VECTOR | {"query": "+river -lamp", "query_syntax": True})  # of both legs
        phrases = " ".join(f'"{" ".join(program.WORDS[i % 20] for i in range(n, n + 20))}"' for n in range(60))
        self.refused("retrieve", "--collection", "c", "--strategy", "sparse", "--query-syntax", phrases, part="too long for a cluster")
        many = self.there.json("retrieve", "--collection", "c", "--strategy", "sparse", "river " + " ".join(f"w{i}" for i in range(1500)))
        self.assertTrue(any("at most 1000 different words" in one for one in many["warnings"]), many["warnings"])
        self.assertTrue(many["chunks"])

    def test_what_expires(self) -> None:
        def chunk(name: str, end: str) -> str:
            return json.dumps({"chunk_id": name, "document_id": "de", "content": f"vulpecula {name}", "vector": [1, 0, 0, 0, 0, 0, 0, 0],
                               "metadata": {"kind": "fading"}} | ({"expires_at": end} if end else {}))
        for name, end in (("past", "2001-01-01T00:00:00Z"), ("future", "2099-01-01T00:00:00Z"), ("never", "")):
            self.same("add", "--collection", "c", text=chunk(name, end))
        only = {"collection": "c", "filter": {"kind": "fading"}, "top_k": 5}
        for ways in ({"strategy": "sparse", "query": "vulpecula"},
                     {"strategy": "dense", "query": "x", "query_embedding": VECTOR["query_embedding"]}):
            found = self.same("retrieve", "--request", "-", text=json.dumps(only | ways), but=("score", "contribution", "fused", "value"))
            self.assertEqual({hit["chunk_id"] for hit in found["chunks"]}, {"future", "never"})
        for place in (self.here, self.there):
            self.fails(place("get", "--collection", "c", "past"), "past")
            self.fails(place("update", "--collection", "c", "--id", "past", "--metadata", "{}"), "past")
        self.same("get", "--collection", "c", "future", "never")
        self.same("facets", "--collection", "c", "kind")
        self.same("stats", "--collection", "c", but=("average_length",))
        self.same("collections")
        self.same("update", "--collection", "c", "--id", "never", "--expires-at", "2002-01-01T00:00:00Z")
        self.same("delete", "--collection", "c", "--id", "never")
        self.same("delete", "--collection", "c", "--document", "de")
        self.same("stats", "--collection", "c", but=("average_length",))

    def test_what_is_unchanged_and_what_is_double(self) -> None:
        again = self.same("ingest", "-", "--collection", "c", text=some_chunks(200))
        self.assertEqual((again["chunks"], again["unchanged"]), (0, 200))
        twins = "".join(json.dumps({"chunk_id": name, "document_id": "t", "content": "a lamp that is there twice",
                                    "vector": [0, 1, 0, 0, 0, 0, 0, 0]}) + "\n" for name in ("t1", "t2"))
        self.same("ingest", "-", "--collection", "c", text=twins)
        for keep in (False, True):
            found = self.request("retrieve", {"query": "twice", "collection": "c", "strategy": "sparse", "keep_duplicates": keep})
            self.assertEqual(len(found["chunks"]), 2 if keep else 1)

    def test_schemas(self) -> None:
        for name, precision in (("h", "f16"), ("b", "int8")):
            for place in (self.here, self.there):
                schema = {"embedder": "external", "dimension": 8, "language": "none", "precision": precision, "positions": True}
                place.json("collections", "create", name, "--schema", "-", text=json.dumps(schema))
                place.put(some_chunks(40), collection=name)
            self.same("collections")
            exported = [[without_own(json.loads(line)) for line in place("export", "--collection", name).stdout.splitlines()]
                        for place in (self.here, self.there)]
            self.assertEqual(len(exported[0]), len(exported[1]))
            self.assertEqual(differences(exported[0], exported[1]), [])
            self.request("retrieve", VECTOR | {"collection": name, "strategy": "dense"})
        huge = '{"chunk_id": "x", "content": "x", "vector": [1e6,0,0,0,0,0,0,0]}'
        for place in (self.here, self.there):
            self.fails(place("add", "--collection", "h", text=huge), "as 16-bit numbers")
        chosen = json.dumps(WORDS | {"bm25": {"k1": 0.5}})
        self.assertIn('this database scores words only as its collections say: "bm25" was ignored',
                      self.there.json("retrieve", "--request", "-", text=chosen)["warnings"])

    def test_decisions(self) -> None:
        lines = "".join(json.dumps({"id": f"d{i}", "summary": f"Choice {i}", "decision": f"Keep the {word}", "context": "Because of rain",
                                    "category": "ops" if i % 2 else "dev"}) + "\n" for i, word in enumerate(program.WORDS))
        for place in (self.here, self.there):
            stored = place.json("ingest", "-", "--profile", "decisions", "--embedder", "none", text=lines)
            self.assertEqual(stored["chunks"], len(program.WORDS))
            self.assertEqual(any("okapi" in one for one in stored["warnings"]), place is self.there)
        ids = [[hit["chunk_id"] for hit in place.json("retrieve", "--profile", "decisions", "--collection", "decisions",
                                                      "--strategy", "sparse", "keep the lamp")["chunks"]]
               for place in (self.here, self.there)]
        self.assertEqual(ids[1][0], f"d{program.WORDS.index('lamp')}")
        self.assertEqual(ids[0][0], ids[1][0])

    def test_measuring(self) -> None:
        queries, qrels = self.folder / "queries.tsv", self.folder / "qrels"
        queries.write_text("q1\triver lamp\nq2\tkettle island\nq3\tharbour winter\nq4\tcopper window\nq5\tbridge\n")
        qrels.write_text("".join(f"q{1 + i % 5} 0 c{i:05} {i % 3}\n" for i in range(100)))
        runs = []
        for number, place in enumerate((self.here, self.there)):
            runs.append(self.folder / f"{number}.run")
            done = place("run", "--queries", str(queries), "--out", str(runs[-1]), "--collection", "c", "--strategy", "sparse")
            self.assertEqual(done.returncode, 0, done.stderr)
        ranked = [[line.split()[:4] for line in run.read_text().splitlines()] for run in runs]
        self.assertEqual(ranked[0], ranked[1])
        measured = [place.json("eval", str(runs[1]), "--qrels", str(qrels)) for place in (self.here, self.there)]
        self.assertEqual(measured[0], measured[1])
        self.same("compare", "--queries", str(queries), "--collection", "c", "--strategy", "sparse", "--against", '{"sparse_top_k": 5}')
        done = self.there("fuse", str(runs[0]), str(runs[1]))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_choosing_and_learning(self) -> None:
        queries, qrels = self.folder / "queries.tsv", self.folder / "qrels.tsv"
        queries.write_text("".join(f"q{i}\t{program.WORDS[i]} {program.WORDS[i + 1]}\n" for i in range(12)))
        qrels.write_text("".join(f"q{i}\t0\td{j}\t{1 + j % 2}\n" for i in range(12) for j in range(i, 40, 5)))
        for place in (self.here, self.there):  # no embedder here makes vectors of questions
            place.json("collections", "create", "w", "--schema", "-", text='{"embedder": "none", "language": "none"}')
            lines = [json.loads(line) for line in some_chunks(200).splitlines()]
            place.put("".join(json.dumps({name: value for name, value in line.items() if name != "vector"}) + "\n" for line in lines),
                      collection="w")
        judged = ("--collection", "w", "--queries", str(queries), "--qrels", str(qrels))
        tuned = [place.json("tune", *judged) for place in (self.here, self.there)]
        names = [[one["name"] for one in out["settings"]] for out in tuned]
        self.assertTrue(any("k1" in name for name in names[0]))
        self.assertEqual(names[1], [name for name in names[0] if not any(part in name for part in (", k1 ", "title "))])
        written = []
        for number, place in enumerate((self.here, self.there)):
            written.append(self.folder / f"{number}.letor")
            done = place("features", *judged, "--strategy", "sparse", "--out", str(written[-1]))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(*[len(file.read_text().splitlines()) for file in written])
        for arguments in [("rank", "show", "--collection", "c"), ("rank", "drop", "--collection", "c")]:
            with self.subTest(arguments):
                self.assertEqual(self.here(*arguments).returncode, self.there(*arguments).returncode)
        self.same("search", "--collection", "c", "--strategy", "sparse", "harbour lamp")

    def test_copies(self) -> None:
        for source, target in ((self.here, self.there), (self.there, self.here)):
            exported = source("export", "--collection", "c")
            self.assertEqual(exported.returncode, 0, exported.stderr)
            file = self.folder / "export.ndjson"
            file.write_text(exported.stdout)
            target.json("import", str(file), "--collection", "imported")
            self.assertEqual(target.json("stats", "--collection", "imported")["chunks"], 200)
            again = target("export", "--collection", "imported")
            self.assertEqual(len(again.stdout.splitlines()), len(exported.stdout.splitlines()))
            self.fails(target("import", str(file), "--collection", "imported"), "imported")
        self.same("collections", "drop", "imported", "--yes")

    def test_what_a_cluster_does_in_its_own_way(self) -> None:
        for arguments in [("compact", "--collection", "c"), ("purge",), ("backup", str(self.folder / "copy")),
                          ("restore", str(self.folder / "copy")), ("repair",),
                          ("reembed", "--collection", "c")]:
            with self.subTest(arguments):
                refused = self.there(*arguments)
                self.assertNotEqual(refused.returncode, 0)
                self.assertRegex(refused.stderr, "cluster|external")
        okapi = {"embedder": "none", "bm25": {"variant": "okapi"}}
        self.refused("collections", "create", "o", "--schema", "-", text=json.dumps(okapi), part="okapi")
        for arguments in [("doctor",), ("config", "show")]:  # a doctor may miss models, too
            self.assertIn(program.URL, self.there(*arguments).stdout)

    def test_what_operators_do(self) -> None:
        path = f"{program.URL.split(',')[0]}/{self.there.prefix}c"
        def operate(method: str, suffix: str, body: dict | None = None) -> None:
            request = urllib.request.Request(path + suffix, method=method, data=json.dumps(body or {}).encode(),
                                             headers={"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=60).close()
        operate("PUT", "/_settings", {"index.blocks.write": True})
        self.refused("add", "--collection", "c", text='{"chunk_id": "x", "content": "x", "vector": [1,0,0,0,0,0,0,0]}',
                     part="cluster_block_exception")
        self.same("stats", "--collection", "c")
        operate("PUT", "/_settings", {"index.blocks.write": None})
        operate("POST", "/_close")
        self.refused("retrieve", "--collection", "c", "--strategy", "sparse", "river", part="the index is closed")
        [listed] = [one for one in self.there.json("collections")["collections"] if one["name"] == "c"]
        self.assertIn("closed", json.dumps(listed))
        checked = self.there("check")
        self.assertEqual(checked.returncode, 4, checked.stderr)
        self.assertIn("closed", checked.stdout + checked.stderr)
        operate("POST", "/_open")
        for _ in range(100):
            if self.there("stats", "--collection", "c").returncode == 0:
                break
            time.sleep(0.2)
        self.request("retrieve", WORDS)

    def test_servers(self) -> None:
        keys = []
        for place in (self.here, self.there):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            server = subprocess.Popen([program.BRAID, "serve", "--port", str(port), "--log", "none"], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, env=program.clean_environment(**place.environment))
            self.addCleanup(server.stderr.close)
            self.addCleanup(server.wait)
            self.addCleanup(server.terminate)
            base = f"http://127.0.0.1:{port}"
            for _ in range(100):
                try:
                    self.ask(base + "/readyz")
                    break
                except OSError:
                    time.sleep(0.2)
            rpc = {"jsonrpc": "2.0", "id": 1, "method": "braid.retrieve", "params": WORDS}
            keys.append([self.ask(base + "/v1/retrieve", WORDS), self.ask(base + "/rpc", rpc)["result"],
                         self.ask(base + "/v1/collections"), self.ask(base + "/v1/collections/c/count", {})])
            for first in (WORDS, WORDS | {"query": "riv* +(river lamp) -stone", "query_syntax": True}):
                ids, body = [], first
                for _ in range(3):
                    page = self.ask(base + "/v1/retrieve", body)
                    ids += [hit["chunk_id"] for hit in page["chunks"]]
                    body = {"cursor": page["cursor"]}
                self.assertEqual(len(set(ids)), 15)
                keys[-1].append({"pages": ids})
            self.assertIn(b"braid", urllib.request.urlopen(base + "/").read())
            self.assertIn(b"braid_", urllib.request.urlopen(base + "/metrics").read())
        for answer in keys[1][:2]:
            answer["warnings"] = []
        self.assertEqual(differences(without_own(keys[0]), without_own(keys[1])), [])
        answers = []
        for place in (self.here, self.there):
            call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                          "io.modelcontextprotocol/clientCapabilities": {}},
                "name": "hybrid_search", "arguments": {"query": "+river -lamp", "collections": ["c"], "query_syntax": True}}}
            done = place("mcp", text=json.dumps(call) + "\n")
            answers.append(json.loads(done.stdout.splitlines()[0])["result"])
            self.assertFalse(answers[-1]["isError"], answers[-1])
            answers[-1]["structuredContent"]["warnings"] = [one for one in answers[-1]["structuredContent"]["warnings"]
                                                            if not one.startswith("this database")]
            self.assertTrue(answers[-1]["structuredContent"]["results"])
        self.assertEqual(differences(without_own(answers[0].get("structuredContent", answers[0])),
                                     without_own(answers[1].get("structuredContent", answers[1]))), [])

    def ask(self, url: str, body: dict | None = None) -> dict:
        request = urllib.request.Request(url, data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text.startswith(b"{") else {}


if __name__ == "__main__":
    program.main("commands_test.py")
