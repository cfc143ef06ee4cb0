"""Every program of examples/python runs."""

from __future__ import annotations

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"


def run(name: str, *arguments: str, **environment: str) -> str:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("BRAID_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "python" / name), *arguments], capture_output=True, text=True,
        timeout=300, env={**own, "BRAID_EMBEDDER": "none", **environment},
    )
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


class Endpoint(http.server.BaseHTTPRequestHandler):
    asked: list[dict[str, object]] = []

    def do_POST(self) -> None:  # noqa: N802
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        answer = json.dumps({"choices": [{"message": {"content": "At dusk [1]."}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Examples(unittest.TestCase):
    def test_all_are_tested(self) -> None:
        tested = {"rag_over_folder.py", "agent_memory.py", "evaluate_questions.py", "migrate_from_chroma.py"}
        self.assertEqual({path.name for path in (EXAMPLES / "python").glob("*.py")}, tested)

    def test_rag_without_and_with_an_endpoint(self) -> None:
        folder = str(EXAMPLES / "wiki")
        self.assertIn("no OPENAI_BASE_URL", run("rag_over_folder.py", folder, "how does it work"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=server.serve_forever).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_port}/v1"
        said = run("rag_over_folder.py", folder, "how does it work", OPENAI_BASE_URL=url)
        self.assertTrue(said.startswith("At dusk [1]."))
        self.assertIn("[1]", json.dumps(Endpoint.asked[0]))

    def test_agent_memory(self) -> None:
        said = run("agent_memory.py")
        self.assertIn("['Ada lives in Lisbon now.', 'Ada lives in Turin.']", said)
        self.assertIn("1 forgotten", said)

    def test_evaluation(self) -> None:
        self.assertIn("sparse   nDCG@10", run("evaluate_questions.py"))

    def test_migration(self) -> None:
        said = run("migrate_from_chroma.py")
        self.assertIn("3 chunks", said)
        self.assertIn("Red foxes", said)


if __name__ == "__main__":
    unittest.main()
