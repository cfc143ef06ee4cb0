"""`braid serve` for a test: on a free port of this machine, over a database that goes with it."""

import contextlib
import os
import re
import subprocess
import tempfile


@contextlib.contextmanager
def serve(program: str, *flags: str, environment: dict[str, str] | None = None):
    """The server's address; the process and its data are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="braid_test_") as folder:
        env = {key: value for key, value in os.environ.items() if not key.startswith("BRAID_")}
        env |= {"XDG_CONFIG_HOME": folder, "BRAID_EMBEDDER": "none"} | (environment or {})
        process = subprocess.Popen(
            [program, "serve", "--data", f"{folder}/data", "--port", "0", "--log", "none", *flags],
            cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        try:
            address = None
            for line in process.stdout:
                found = re.search(r"http://[0-9.]+:\d+", line)
                if found:
                    address = found.group(0)
                    break
            if address is None:
                raise RuntimeError("the server did not start")
            yield address
        finally:
            process.terminate()
            try:
                code = process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")
