"""The OpenAPI document against the server, by schemathesis: what it says of answers must hold for
every request made from it, valid or not, and no request may end in a server error."""

import os
import pathlib
import subprocess
import sys
import urllib.request

from server import serve


def seed(address: str) -> None:
    """Something to be found, so that not every answer is a 404."""
    body = b'{"chunks": [{"chunk_id": "0", "content": "red fox", "metadata": {"kind": "animal"}}]}'
    for collection in ("0", "default", "artifact_chunks"):
        request = urllib.request.Request(
            f"{address}/v1/collections/{collection}/chunks", data=body,
            headers={"Content-Type": "application/json"})
        urllib.request.urlopen(request).close()


def main() -> int:
    here = pathlib.Path(__file__).parent
    cases = os.environ.get("BRAID_OPENAPI_CASES", "20")
    with serve(sys.argv[1]) as address:
        seed(address)
        run = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "--config-file",
             str(here / "schemathesis.toml"), "run", f"{address}/v1/openapi.json",
             "--url", address, "-n", cases, "--phases", "examples,coverage,fuzzing",
             "--seed", "1"],
            check=False, cwd=os.environ["BRAID_CLIENTS"])
        return run.returncode


if __name__ == "__main__":
    sys.exit(main())
