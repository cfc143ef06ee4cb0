"""A database to look at through the page: a server, an embedding endpoint of our own, and some documents."""
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

HOSTILE = ('<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script> [x](javascript:window.hacked=1) '
           '"><svg onload=window.hacked=1> {{constructor}} \u202egnp.exe\u202c and a badger named </mark></p>')
ANIMALS = ["fox", "owl", "vole", "hare", "stoat", "heron", "otter", "lynx", "wolf", "crane", "mouse", "toad"]
PLACES = ["meadow", "marsh", "orchard", "quarry", "harbour"]


def vector(text):
    """Texts that share words lie near each other."""
    values = [0.01] * 48
    for word in re.findall(r"\w+", text.lower()):
        values[int(hashlib.sha256(word.rstrip("s").encode()).hexdigest(), 16) % len(values)] += 1.0
    return values


class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.world.answering.wait()
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        body = json.dumps({"object": "list", "model": "page", "usage": {"prompt_tokens": 1, "total_tokens": 1},
                           "data": [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body.encode())
        except BrokenPipeError:
            pass  # the server hung up: nobody waits for the answer any more

    def log_message(self, *_):
        pass


class Site:
    """Another site: one page, on a port of its own."""

    def __init__(self, markup):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = b"<!doctype html><title>other</title>" + markup.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def documents():
    """Each animal in each place: a document of three chunks with a kind and a year."""
    for i, animal in enumerate(ANIMALS):
        for j, place in enumerate(PLACES):
            name = f"{animal}-{place}"
            parts = [f"The {animal} lives in the {place}. It was seen there at dusk, hunting along the old wall.",
                     f"Keepers of the {place} count every {animal} twice a year, and write the number into a book.",
                     f"In winter the {animal} leaves the {place} and sleeps under roots until the thaw."]
            for k, text in enumerate(parts):
                yield {"chunk_id": f"{name}#{k}", "document_id": name, "chunk_index": k, "title": f"{animal.title()} of the {place}",
                       "section_title": ["Habits", "Counting", "Winter"][k], "content": text,
                       "metadata": {"kind": "note" if i % 2 else "guide", "year": 2000 + j, "place": place}}
    yield {"chunk_id": "hostile#0", "document_id": "hostile", "chunk_index": 0, "title": "<b>Badger</b> & <i>co</i>",
           "section_title": "<script>alert(1)</script>", "content": HOSTILE, "metadata": {"kind": "<u>odd</u>", "year": 1, "place": "sett"}}


class World:
    def __init__(self, braid):
        self.braid = braid
        self.folder = tempfile.mkdtemp(prefix="braid-page-")
        self.data = os.path.join(self.folder, "data")
        self.endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.answering = threading.Event()  # while it is not set, the endpoint answers nobody
        self.answering.set()
        self.endpoint.world = self
        threading.Thread(target=self.endpoint.serve_forever, daemon=True).start()
        self.environment = {**os.environ, "BRAID_EMBEDDER": "openai", "BRAID_OPENAI_API_KEY": "none",
                            "BRAID_OPENAI_BASE_URL": f"http://127.0.0.1:{self.endpoint.server_port}/v1"}
        self.server = None
        self.start()

    def start(self, *flags, data=None):
        """A server; the first one's port is kept, so that a page finds the next one."""
        port = self.url.rsplit(":", 1)[1] if self.server is not None else "0"
        for _ in range(20):  # somebody else may hold the port for a moment
            self.server = subprocess.Popen([self.braid, "--data", data or self.data, "serve", "--port", port, "--json", "--log", "none", *flags],
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment, text=True)
            told = self.server.stdout.readline()
            if told:
                self.url = json.loads(told)["listening"]
                return
            self.server.wait(30)
            self.server.stdout.close()
            time.sleep(0.5)
        raise RuntimeError(f"no server at port {port}")

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(120)
        self.server.stdout.close()

    def call(self, method, path, body=None, key=None):
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode() if body is not None else None, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def fill(self):
        chunks = list(documents())
        self.call("POST", "/v1/collections/animals/chunks", {"chunks": chunks})
        self.call("POST", "/v1/collections/birds/chunks", {"chunks": [one for one in chunks if one["document_id"].split("-")[0] in ("owl", "heron", "crane")]})

    def close(self):
        self.answering.set()
        if self.server.poll() is None:
            self.stop()
        self.endpoint.shutdown()
        self.endpoint.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)
