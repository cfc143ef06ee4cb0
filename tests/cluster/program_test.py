"""program_test.py BRAID: the program over a cluster (BRAID_CLUSTER_URL): TLS, keys, failover, migration."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

import program
from program import SCHEMA, URL, ClusterCase, Place, basic, some_chunks

NODES = URL.split(",")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Tls(ClusterCase):
    def authority(self, name: str) -> tuple[str, str]:
        """A certificate for 127.0.0.1 that vouches for itself, and its key."""
        certificate, key = str(self.folder / f"{name}.pem"), str(self.folder / f"{name}.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1", "-addext",
                        "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        return certificate, key

    def front(self, node: str, certificate: str, key: str, *secrets: str) -> str:
        process = subprocess.Popen([sys.executable, program.HERE / "tls_front.py", node, certificate, key, *secrets],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return f"https://127.0.0.1:{process.stdout.readline().strip()}"

    def test_certificates_and_keys(self) -> None:
        certificate, key = self.authority("front")
        other, _ = self.authority("other")
        secrets = [basic("ann", "s3cret:with colon"), "Bearer token-123"]
        urls = ",".join(self.front(node, certificate, key, *secrets) for node in NODES)
        trusting = {"BRAID_CLUSTER_CA_FILE": certificate}
        for secret in ["ann:s3cret:with colon", "token-123"]:
            place = self.cluster(url=urls, BRAID_CLUSTER_KEY=secret, **trusting)
            place.json("collections", "create", "c", "--schema", "-", text=SCHEMA)
            place.put(some_chunks(40))
            self.assertEqual(place.json("stats", "--collection", "c")["chunks"], 40)
            found = place.json("retrieve", "--collection", "c", "--strategy", "sparse", "river lamp")
            self.assertTrue(found["chunks"])
        for wrong in ["ann:guess", "guess"]:
            refused = place("collections", BRAID_CLUSTER_KEY=wrong)
            self.fails(refused, "401", "no valid credentials")
            self.assertNotIn(wrong, refused.stderr)
        self.fails(place("collections", BRAID_CLUSTER_KEY=""), "401")
        # A certificate that nobody vouches for, another authority, a name that is not the node's.
        self.fails(place("collections", BRAID_CLUSTER_CA_FILE=""), "certificate")
        self.fails(place("collections", BRAID_CLUSTER_CA_FILE=other), "certificate")
        self.fails(place("collections", BRAID_CLUSTER_URL=urls.split(",")[0].replace("127.0.0.1", "localhost")))
        self.fails(place("collections", BRAID_CLUSTER_URL=urls.split(",")[0].replace("https", "http")), "begins with https://")
        self.fails(place("collections", BRAID_CLUSTER_URL=NODES[0].replace("http", "https")), "begins with http://")
        self.fails(place("collections", BRAID_CLUSTER_URL="https://ann:s3cret@127.0.0.1:1"), "BRAID_CLUSTER_KEY")
        # By flags, which win over the environment.
        given = place("collections", "--json", "--backend", "opensearch", "--url", urls, "--key", "token-123",
                      BRAID_CLUSTER_KEY="guess")
        self.assertEqual(given.returncode, 0, given.stderr)

    def test_the_next_node_takes_over(self) -> None:
        certificate, key = self.authority("front")
        living = self.front(NODES[-1], certificate, key, "Bearer t")
        urls = f"https://127.0.0.1:{free_port()},https://127.0.0.1:{free_port()},{living}"
        place = self.cluster(url=urls, BRAID_CLUSTER_KEY="t", BRAID_CLUSTER_CA_FILE=certificate)
        place.json("collections", "create", "c", "--schema", "-", text=SCHEMA)
        place.put(some_chunks(10))
        for _ in range(6):
            self.assertEqual(place.json("stats", "--collection", "c")["chunks"], 10)
        dead = f"http://127.0.0.1:{free_port()},http://127.0.0.1:{free_port()}"
        self.fails(place("collections", BRAID_CLUSTER_URL=dead), "no node of the cluster answers")


class Migrate(ClusterCase):
    def fill(self, place: Place, count: int) -> None:
        place.json("collections", "create", "c", "--schema", "-", text=SCHEMA)
        place.put(some_chunks(count))
        place.put(some_chunks(70, seed=2), "--namespace", "other")
        place.json("collections", "create", "Empty", "--schema", "-", text='{"embedder": "none"}')

    def exported(self, place: Place) -> str:
        """A hash of all chunks, without versions."""
        done = place("export", "--collection", "c")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = []
        for line in done.stdout.splitlines():
            value = json.loads(line)
            value.pop("version", None)
            lines.append(json.dumps(value, sort_keys=True))
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    def test_both_ways(self) -> None:
        here, there, back = self.local(), self.cluster(), self.local("back")
        self.fill(here, 1300)
        out = there.json("migrate", here.folder, URL)
        by_name = {one["collection"]: one for one in out["collections"]}
        self.assertEqual((by_name["c"]["chunks"], by_name["c"]["written"]), (1370, 1370))
        self.assertEqual(by_name["Empty"]["chunks"], 0)
        again = there.json("migrate", here.folder, URL)
        self.assertEqual([one["written"] for one in again["collections"]], [0, 0])
        home = there.json("migrate", URL, back.folder)
        self.assertEqual({one["collection"]: one["hash"] for one in home["collections"]},
                         {name: one["hash"] for name, one in by_name.items()})
        self.assertEqual(self.exported(here), self.exported(back))
        self.assertEqual(self.exported(here), self.exported(there))
        # Somebody else's chunk is not overlooked.
        there.json("add", "--collection", "c", text='{"chunk_id": "extra", "content": "x", "vector": [1,0,0,0,0,0,0,0]}')
        self.fails(there("migrate", here.folder, URL), "1370", "1371")

    def test_killed_and_run_again(self) -> None:
        for direction in ["there", "back"]:
            with self.subTest(direction):
                here, there = self.local(direction), self.cluster()
                source, target = (here, there) if direction == "there" else (there, here)
                self.fill(source, 4000)
                arguments = [here.folder, URL] if direction == "there" else [URL, here.folder]
                process = subprocess.Popen([program.BRAID, "migrate", "--verbose", *arguments],
                                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                                           env=program.clean_environment(**there.environment))
                for line in process.stderr:
                    if "written" in line and "c: " in line:
                        break
                process.send_signal(signal.SIGKILL)
                process.wait()
                process.stderr.close()
                done = there.json("migrate", *arguments)
                [one] = [one for one in done["collections"] if one["collection"] == "c"]
                self.assertEqual(one["chunks"], 4070)
                self.assertLess(one["written"], 4070)
                self.assertGreater(one["written"], 0)
                self.assertEqual(self.exported(source), self.exported(target))

    def test_through_a_killed_node(self) -> None:
        script = os.environ.get("BRAID_CLUSTER")
        if not script or len(NODES) < 3:
            self.skipTest("needs three nodes")
        here, there = self.local(), self.cluster()
        self.fill(here, 4000)
        process = subprocess.Popen([program.BRAID, "migrate", "--verbose", here.folder, URL], stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env=program.clean_environment(**there.environment))
        process.stderr.readline()
        subprocess.run([script, "kill", "1"], check=True)
        try:
            output, errors = process.communicate(timeout=240)
        finally:
            subprocess.run([script, "node", "1"], check=True)
        if process.returncode != 0:  # said clearly, and the same command goes on
            self.assertIn("braid: ", errors)
            for _ in range(60):  # the only copy of a shard may have been on that node: until it is back
                done = there("migrate", here.folder, URL)
                if done.returncode == 0:
                    break
                self.assertIn("shards", done.stderr)
                time.sleep(2)
        self.assertEqual(self.exported(here), self.exported(there))
        for _ in range(120):
            if there.json("check")["clean"] and "lack" not in json.dumps(there.json("check")):
                return
            time.sleep(1)
        self.fail("the killed node's copies did not come back")


if __name__ == "__main__":
    program.main("program_test.py")
