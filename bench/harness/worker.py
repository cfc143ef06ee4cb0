"""One contestant: a process that builds, then answers one line with one line."""

import json
import os
import queue
import subprocess
import threading
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS", "TOKIO_WORKER_THREADS", "LANCE_CPU_THREADS",
)  # fmt: skip


class WorkerError(Exception):
    """A contestant that failed, died or broke the protocol; the message says which and how."""


def pinned_cores(threads: int) -> list[int]:
    """The last `threads` cores this process may use; the harness keeps to the others."""
    cores = sorted(os.sched_getaffinity(0))
    if threads > len(cores):
        raise ValueError(f"{threads} threads on {len(cores)} cores")
    return cores[-threads:]


class Worker:
    """Runs `command` on `cores`. Used as a context manager: the process ends with the block."""

    def __init__(self, name: str, command: list, cores: list[int], log: Path, timeout=3600.0):
        self.name = name
        self.command = [str(word) for word in command]
        self.cores = cores
        self.log = log
        self.timeout = timeout
        self.facts: dict = {}
        self._lines: queue.Queue = queue.Queue()
        self._process: subprocess.Popen | None = None
        self._reader: threading.Thread | None = None

    def __enter__(self) -> "Worker":
        threads = {name: str(len(self.cores)) for name in THREAD_VARIABLES}
        self.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.log.open("wb") as log:
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=os.environ | threads,
                    preexec_fn=lambda: os.sched_setaffinity(0, self.cores),
                )
        except OSError as error:
            raise WorkerError(f"{self.name}: cannot start {self.command[0]}: {error}") from error
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout,), daemon=True
        )
        self._reader.start()
        try:
            self.facts = self._receive()
            if self.facts.get("ready") is not True:
                raise WorkerError(f"{self.name}: said {self.facts} where it should be ready")
        except BaseException:
            self.close(patience=0)
            raise
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def ids(self, params: dict | None = None) -> list[list[int]]:
        rows = self._ask("ids", params).get("ids")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise WorkerError(f"{self.name}: no lists of rows in its answer")
        return rows

    def round(self, params: dict | None = None) -> dict:
        return self._ask("round", params)

    def serving_memory(self) -> dict:
        """What the process holds more than before it opened its index: now, after its queries.

        Pages of mapped files count, as long as they are in memory.
        """
        if "resident_before" not in self.facts or self._process is None:
            return {}
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return {}
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        resident = int(fields["VmRSS"].split()[0]) * 1024
        mapped = int(fields["RssFile"].split()[0]) * 1024
        return {
            "memory_bytes": max(0, resident - self.facts["resident_before"]),
            "mapped_bytes": mapped,
        }

    def close(self, patience: float = 20) -> None:
        """Ends the input and with it the process; one that stays after `patience` s is killed."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.stdin.close()
        except OSError:
            pass
        try:
            process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join(timeout=5)
        if not self._reader.is_alive():
            process.stdout.close()

    def _read(self, stream) -> None:
        for line in stream:
            self._lines.put(line)
        self._lines.put(None)

    def _ask(self, word: str, params: dict | None) -> dict:
        line = word if not params else f"{word} {json.dumps(params)}"
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerError(f"{self.name}: ended early{self._last_words()}") from error
        return self._receive()

    def _receive(self) -> dict:
        try:
            line = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise WorkerError(f"{self.name}: silent for {self.timeout:.0f} s") from None
        if line is None:
            raise WorkerError(f"{self.name}: ended early{self._last_words()}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise WorkerError(f"{self.name}: not JSON: {line[:80]!r}") from None
        if not isinstance(answer, dict):
            raise WorkerError(f"{self.name}: not a JSON object: {line[:80]!r}")
        if "error" in answer:
            raise WorkerError(f"{self.name}: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f": {lines[-1].strip()}" if lines else ""
