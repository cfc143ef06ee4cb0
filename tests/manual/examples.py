"""examples.py DOCUMENT BRAID: runs the examples of a document and compares what they print.

An example is a block that begins with ```console. "$ " begins a command, "> " goes on with it; what
follows is what it prints, on standard output and standard error together. "…" stands for any text
within a line, a line of "…" alone for any lines. The commands of one document run in one empty
folder, one after the other. Where a document speaks to localhost:27243, a server of that folder's
database runs on a free port as soon as the first command does so.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
ADDRESS = "localhost:27243"


def examples_in(text: str) -> list[tuple[int, str, list[str]]]:
    """Line number, command, and the lines it must print."""
    found: list[tuple[int, str, list[str]]] = []
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append((number, line[2:], []))
        elif inside and line.startswith("> ") and not found[-1][2]:
            found[-1] = (found[-1][0], found[-1][1] + "\n" + line[2:], [])
        elif inside:
            found[-1][2].append(line)
    return found


def pattern_of(lines: list[str]) -> re.Pattern[str]:
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*".join(re.escape(part) for part in line.rstrip().split("…")) + r"[ ]*\n")
    return re.compile("".join(parts))


class Runner:
    def __init__(self, braid: str, folder: pathlib.Path) -> None:
        self.braid, self.folder, self.server, self.address = braid, folder, None, ADDRESS
        (folder / "bin").mkdir()
        (folder / "bin" / "braid").symlink_to(braid)
        (folder / "home").mkdir()
        (folder / "work").mkdir()
        self.environment = {
            "PATH": f"{folder / 'bin'}:{os.environ.get('PATH', '')}", "HOME": str(folder / "home"),
            "LANG": "C.UTF-8", "COLUMNS": "80", "BRAID_OFFLINE": "true", "TZ": "UTC"}

    def run(self, command: str) -> str:
        if ADDRESS in command and self.server is None:
            self.serve()
        run = subprocess.run(
            ["bash", "-c", command.replace(ADDRESS, self.address)], cwd=self.folder / "work",
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        return run.stdout if not run.stdout or run.stdout.endswith("\n") else run.stdout + "\n"

    def serve(self) -> None:
        self.server = subprocess.Popen(
            [self.braid, "serve", "--port", "0", "--json", "--quiet"], cwd=self.folder / "work",
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = f"localhost:{json.loads(self.server.stdout.readline())['port']}"

    def end(self) -> None:
        if self.server is not None:
            self.server.terminate()
            self.server.wait()


def main() -> int:
    document, braid = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
    examples = examples_in(document.read_text())
    if not shutil.which("bash") or (
            any("curl " in command for _, command, _ in examples) and not shutil.which("curl")):
        print("bash or curl is missing: skipped")
        return SKIP
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(braid, pathlib.Path(folder))
        try:
            for number, command, expected in examples:
                printed = runner.run(command)
                if not pattern_of(expected).fullmatch(printed):
                    wrong += 1
                    print(f"{document.name}:{number}: {command}\nprints\n{printed}instead of\n" +
                          "".join(line + "\n" for line in expected))
        finally:
            runner.end()
    print(f"{document.name}: {len(examples)} examples, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
