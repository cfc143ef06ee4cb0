"""`braid serve` for a test: on a free port of this machine, over a database that goes with it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import unittest
from collections.abc import Iterator


@contextlib.contextmanager
def served(test: unittest.TestCase, *flags: str, **settings: str) -> Iterator[str]:
    """The server's address; process and data are gone afterwards. Skips without the program.
    `settings` are variables of its environment."""
    program = os.environ.get("BRAID_PROGRAM", "")
    if not os.access(program, os.X_OK):
        test.skipTest("BRAID_PROGRAM does not name the program")
    with tempfile.TemporaryDirectory(prefix="braid_test_") as folder:
        env = {key: value for key, value in os.environ.items() if not key.startswith("BRAID_")}
        env |= {"XDG_CONFIG_HOME": folder, "BRAID_EMBEDDER": "none", **settings}
        process = subprocess.Popen(
            [program, "serve", "--data", f"{folder}/data", "--port", "0", "--log", "none", "--json",
             *flags],
            cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["listening"]
        finally:
            process.terminate()
            process.wait(timeout=30)
            if process.stdout is not None:
                process.stdout.close()
