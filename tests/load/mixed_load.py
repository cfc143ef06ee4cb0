"""mixed_load.py PROGRAM SECONDS [SEED]: readers, writers and clients that die, all at once.

Runs `braid serve` under reads, writes, deletes and killed clients, and stops it in the middle of
all that. Fails on any answer that is an error, on memory that grows, on anything acknowledged that
is gone afterwards, and on a database that does not open cleanly.
"""

import http.client
import json
import os
import pathlib
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM, SECONDS = sys.argv[1], float(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 2026
DIMENSION = 16
WORDS = [f"word{n}" for n in range(400)]
IDS_PER_WRITER = 150
WRITERS, READERS, KILLERS = 3, 3, 2
COLLECTION = "load"


class Failure(Exception):
    """Something that must not happen."""


def text_of(rng):
    return " ".join(rng.choices(WORDS, k=rng.randint(5, 60)))


def vector_of(rng):
    return [round(rng.uniform(-1, 1), 4) for _ in range(DIMENSION)]


def chunk_of(rng, name):
    return {"chunk_id": name, "content": text_of(rng), "vector": vector_of(rng),
            "metadata": {"kind": rng.choice("abc"), "year": rng.randint(1990, 2030)}}


class Server:
    """`braid serve`, its port and its memory."""

    def __init__(self, data):
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent",
                       "BRAID_EMBEDDER": "none"}
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [PROGRAM, "--data", data, "serve", "--port", "0", "--json", "--log", "none"],
            stdout=subprocess.PIPE, stderr=self.errors, env=environment, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise Failure("the server did not start: " + self.said())
        self.port = json.loads(line)["port"]

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def resident_mb(self):
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE") / 1e6


class Load:
    """What all clients share."""

    def __init__(self, server):
        self.server = server
        self.ending = threading.Event()  # from now on connections may break
        self.stop = threading.Event()
        self.failures = []
        self.counts = {}
        self.lock = threading.Lock()
        self.acknowledged = {}  # id: chunk, or None once deleted
        self.unsure = {}  # id: chunks it may be; None: it may be gone

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def run(self, work, seed):
        rng = random.Random(seed)
        try:
            work(self, rng, Client(self))
        except Exception as problem:  # every one fails the test
            self.failures.append(f"{work.__name__}: {type(problem).__name__}: {problem}")
            self.stop.set()


class Client:
    """A connection that stays open; opens another when the server closed it at its end."""

    def __init__(self, load):
        self.load = load
        self.connection = None

    def ask(self, method, path, body=None, kind="application/json", expected=(200, 201)):
        """The answer; None if the server is ending."""
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.load.server.port,
                                                             timeout=60)
            data = body if body is None or isinstance(body, str) else json.dumps(body)
            self.connection.request(method, path, data, {"Content-Type": kind} if data else {})
            response = self.connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException):
            self.connection = None
            if self.load.ending.is_set():
                self.load.stop.set()
                return None
            raise
        if response.status not in expected:
            if self.load.ending.is_set() and response.status in (499, 503):
                self.load.stop.set()
                return None
            raise Failure(f"{method} {path}: {response.status} {answer[:300]!r}")
        return json.loads(answer) if answer else {}


def write(load, rng, client):
    """Adds, changes and deletes chunks of its own, and remembers what was acknowledged."""
    own = f"w{rng.randint(0, 10**9)}"
    names = [f"{own}-{n}" for n in range(IDS_PER_WRITER)]
    base = f"/v1/collections/{COLLECTION}"
    while not load.stop.is_set():
        some = rng.sample(names, rng.randint(1, 5))
        action = rng.random()
        if action < 0.6:
            chunks = [chunk_of(rng, name) for name in some]
            for chunk in chunks:
                load.unsure[chunk["chunk_id"]] = [load.acknowledged.get(chunk["chunk_id"]), chunk]
            if action < 0.3:
                done = client.ask("POST", base + "/chunks", {"chunks": chunks})
            elif action < 0.45:
                lines = "".join(json.dumps(chunk) + "\n" for chunk in chunks)
                done = client.ask("POST", base + "/chunks", lines, "application/x-ndjson")
                if done is not None and done["failed"]:
                    raise Failure(f"lines failed: {done}")
            else:
                done = client.ask("POST", "/rpc", {
                    "jsonrpc": "2.0", "id": 1, "method": "braid.add",
                    "params": {"collection": COLLECTION, "chunks": chunks}})
                if done is not None and "error" in done:
                    if load.ending.is_set():
                        return
                    raise Failure(f"rpc: {done['error']}")
            if done is None:
                return
            for chunk in chunks:
                load.acknowledged[chunk["chunk_id"]] = chunk
        else:
            for name in some:
                load.unsure[name] = [load.acknowledged.get(name), None]
            done = client.ask("POST", base + "/delete", {"chunk_ids": some})
            if done is None:
                return
            for name in some:
                load.acknowledged[name] = None
        for name in some:
            del load.unsure[name]
        load.count("writes")
        # What was acknowledged is there for the next reader.
        name = some[0]
        found = client.ask("POST", base + "/get", {"chunk_ids": [name]})
        if found is None:
            return
        check_chunk(name, found["chunks"][0], [load.acknowledged[name]])


def check_chunk(name, found, allowed):
    for chunk in allowed:
        if chunk is None and found is None:
            return
        if chunk is not None and found is not None and found["content"] == chunk["content"]:
            return
    raise Failure(f"{name} is {found and found['content'][:40]!r}, "
                  f"not one of {[c and c['content'][:40] for c in allowed]}")


def read(load, rng, client):
    """Searches in every way."""
    while not load.stop.is_set():
        request = {"query": " ".join(rng.choices(WORDS, k=3)), "collection": COLLECTION,
                   "query_embedding": vector_of(rng), "top_k": rng.randint(1, 20)}
        kind = rng.random()
        if kind < 0.7:
            answer = client.ask("POST", "/v1/retrieve", request)
            if answer is not None and not answer["complete"]:
                raise Failure(f"incomplete: {answer['warnings']}")
        elif kind < 0.8:
            answer = client.ask("POST", "/v1/context", {**request, "budget": 200})
        elif kind < 0.9:
            answer = client.ask("POST", f"/v1/collections/{COLLECTION}/facets", {"field": "kind"})
        else:
            answer = client.ask("GET", f"/v1/collections/{COLLECTION}/stats")
        if answer is None:
            return
        load.count("reads")


def die(load, rng, _client):
    """Sends half a request, or does not wait for the answer, and is gone."""
    number = 0
    while not load.stop.is_set():
        number += 1
        name = f"doomed-{rng.randint(0, 50)}"
        chunk = chunk_of(rng, name)
        if rng.random() < 0.5:
            path, body = "/v1/retrieve", {"query": "word1 word2", "collection": COLLECTION}
        else:
            path, body = f"/v1/collections/{COLLECTION}/chunks", {"chunks": [chunk]}
            with load.lock:
                load.unsure.setdefault(name, [None]).append(chunk)
        data = json.dumps(body).encode()
        whole = (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                 f"Content-Length: {len(data)}\r\n\r\n").encode() + data
        try:
            with socket.create_connection(("127.0.0.1", load.server.port), timeout=60) as line:
                line.sendall(whole[:rng.randint(1, len(whole))] if number % 3 else whole)
                if number % 2:  # a reset instead of a proper end
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            if load.ending.is_set():
                return
            raise
        load.count("clients killed")
        time.sleep(0.005)


def kill_programs(load, rng, _client):
    """Lets `braid ingest` write through the socket, and kills it."""
    number = 0
    while not load.stop.wait(0.3):
        number += 1
        chunks = [chunk_of(rng, f"killed-{number % 7}-{n}") for n in range(200)]
        with load.lock:
            for chunk in chunks:
                load.unsure.setdefault(chunk["chunk_id"], [None]).append(chunk)
        program = subprocess.Popen(
            [PROGRAM, "--data", load.data, "ingest", "-", "--collection", COLLECTION,
             "--batch", "20", "--quiet"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent"})
        try:
            program.stdin.write("".join(json.dumps(c) + "\n" for c in chunks).encode())
            program.stdin.flush()
            time.sleep(rng.uniform(0, 0.05))
        except OSError:
            pass
        program.kill()
        program.wait()
        load.count("programs killed")


def median(values):
    return sorted(values)[len(values) // 2]


def run_load(load, seconds):
    """The memory of the server, sampled while the clients run."""
    threads = [threading.Thread(target=load.run, args=(work, SEED * 100 + number))
               for number, work in enumerate([write] * WRITERS + [read] * READERS +
                                             [die] * KILLERS + [kill_programs])]
    for thread in threads:
        thread.start()
    memory = []
    end = time.monotonic() + seconds
    while time.monotonic() < end and not load.stop.is_set():
        time.sleep(0.25)
        memory.append(load.server.resident_mb())
    load.ending.set()
    load.server.process.send_signal(signal.SIGTERM)  # in the middle of it all
    try:
        code = load.server.process.wait(timeout=90)
    finally:
        load.stop.set()
        for thread in threads:
            thread.join()
    if code != 0:
        raise Failure(f"the server ended with {code}: {load.server.said()}")
    return memory


def check_store(load):
    """Everything acknowledged is there, nothing else is, and opening has nothing to say."""
    names = sorted(set(load.acknowledged) | set(load.unsure))
    for at in range(0, len(names), 2000):
        part = names[at:at + 2000]
        run = subprocess.run(
            [PROGRAM, "--data", load.data, "get", "--collection", COLLECTION, "--json", *part],
            capture_output=True, text=True, check=False,
            env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent"})
        if "warning" in run.stderr or run.returncode not in (0, 3):
            raise Failure(f"opening: {run.stderr}")
        found = {chunk["chunk_id"]: chunk for chunk in json.loads(run.stdout)["chunks"]}
        for name in part:
            allowed = load.unsure.get(name) or [load.acknowledged[name]]
            check_chunk(name, found.get(name), allowed)
    doctor = subprocess.run([PROGRAM, "--data", load.data, "doctor", "--json"], text=True,
                            capture_output=True, check=False,
                            env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent",
                                 "BRAID_EMBEDDER": "none"})
    if doctor.returncode != 0:
        raise Failure(f"doctor: {doctor.stdout} {doctor.stderr}")
    check = subprocess.run([PROGRAM, "--data", load.data, "check"], text=True,
                           capture_output=True, check=False,
                           env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent"})
    if check.returncode != 0 or not check.stdout.startswith("Clean:"):
        raise Failure(f"check: {check.stdout} {check.stderr}")
    return len(names)


def main():
    with tempfile.TemporaryDirectory(prefix="braid-load-") as folder:
        data = os.path.join(folder, "data")
        server = Server(data)
        load = Load(server)
        load.data = data
        Client(load).ask("POST", "/v1/collections", {
            "name": COLLECTION,
            "schema": {"embedder": "external", "dimension": DIMENSION}})
        memory = run_load(load, SECONDS)
        if load.failures:
            raise Failure("; ".join(load.failures[:5]))
        checked = check_store(load)
    quarter = max(len(memory) // 4, 1)
    before, after = median(memory[quarter:2 * quarter]), median(memory[-quarter:])
    facts = ", ".join(f"{count} {what}" for what, count in sorted(load.counts.items()))
    print(f"seed {SEED}: {facts} in {SECONDS:.0f} s; {checked} chunks checked; "
          f"memory {before:.0f} MB in the second quarter, {after:.0f} MB in the last")
    if after > before * 1.3 + 20:
        raise Failure(f"memory grew from {before:.0f} to {after:.0f} MB")
    for what in ("reads", "writes", "clients killed", "programs killed"):
        if not load.counts.get(what):
            raise Failure(f"there were no {what}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"seed {SEED}: {failure}")
        sys.exit(1)
