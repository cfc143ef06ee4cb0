"""What tests of the program over a cluster share."""

import base64
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BRAID = ""
URL = os.environ.get("BRAID_CLUSTER_URL", "")
NUMBER = [0]


def clean_environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("BRAID_", "RETRIEVAL_"))}
    return kept | {"HOME": tempfile.gettempdir(), "XDG_CONFIG_HOME": "/nonexistent"} | more


def run(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([BRAID, *arguments], input=text, capture_output=True, text=True,
                          env=clean_environment(**environment), timeout=300, check=False)


class Place:
    """A database: a folder, or a prefix of the cluster."""

    def __init__(self, folder: str = "", url: str = URL, shards: int = 3, **environment: str) -> None:
        NUMBER[0] += 1
        self.folder = folder
        self.prefix = f"py{os.getpid()}-{NUMBER[0]}-"
        self.environment = dict(environment)
        if folder:
            self.environment["BRAID_DATA"] = folder
        else:
            self.environment |= {"BRAID_BACKEND": "opensearch", "BRAID_CLUSTER_URL": url,
                                 "BRAID_CLUSTER_PREFIX": self.prefix,
                                 "BRAID_CLUSTER_SHARDS": str(shards)}

    def __call__(self, *arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess:
        return run(*arguments, text=text, **(self.environment | more))

    def json(self, *arguments: str, text: str = "", **more: str) -> object:
        done = self(*arguments, "--json", text=text, **more)
        if done.returncode != 0:
            raise AssertionError(f"braid {' '.join(arguments)}: {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def clean(self) -> None:
        if self.folder:
            return
        plainly = {"BRAID_CLUSTER_URL": URL, "BRAID_CLUSTER_KEY": "", "BRAID_CLUSTER_CA_FILE": ""}
        for one in self.json("collections", **plainly)["collections"]:
            self("collections", "drop", one["name"], "--yes", **plainly)

    def put(self, chunks: str, *flags: str, collection: str = "c") -> object:
        return self.json("ingest", "-", "--collection", collection, *flags, text=chunks)


WORDS = ("river stone lamp harbour winter engine paper garden signal copper window market bridge "
         "thread mirror forest candle letter island kettle").split()


def some_chunks(count: int, dimension: int = 8, seed: int = 1) -> str:
    """Chunks with text, metadata and vectors, a JSON line each. Short, so that a cluster rounds no length."""
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        words = [chance.choice(WORDS) for _ in range(chance.randint(3, 9))]
        lines.append(json.dumps({
            "chunk_id": f"c{i:05}", "document_id": f"d{i // 5}", "chunk_index": i % 5,
            "title": " ".join(words[:3]), "content": " ".join(words) + " žluťoučký \U0001F40E",
            "metadata": {"year": 1990 + i % 30, "kind": words[0], "ratio": i / 7, "list": [1, "a", None]},
            "sensitivity": "sensitive" if i % 11 == 0 else "normal",
            "vector": [round(chance.gauss(0, 1), 6) for _ in range(dimension)]}))
    return "\n".join(lines) + "\n"


SCHEMA = json.dumps({"embedder": "external", "dimension": 8, "language": "none"})


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class ClusterCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.places: list[Place] = []
        self.addCleanup(lambda: [place.clean() for place in self.places])

    def cluster(self, **options: object) -> Place:
        self.places.append(Place(**options))
        return self.places[-1]

    def local(self, name: str = "data") -> Place:
        return Place(folder=str(self.folder / name))

    def fails(self, done: subprocess.CompletedProcess, *parts: str) -> None:
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for part in parts:
            self.assertIn(part, done.stderr)


def main(module: str) -> None:
    global BRAID
    if len(sys.argv) < 2 or not URL:
        sys.exit(f"usage: BRAID_CLUSTER_URL=… {module} BRAID [TEST]…")
    BRAID = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__", verbosity=1)
