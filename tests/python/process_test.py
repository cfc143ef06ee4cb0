"""What concerns the whole process: signals, forks, the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import unittest

from support import ANIMALS, letters

import braid


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )


class Interrupts(unittest.TestCase):
    def setUp(self) -> None:
        # A shell starts what runs in its background with Ctrl-C ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)

    def test_ctrl_c_ends_a_long_call(self) -> None:
        started = threading.Event()

        def slow(texts: list[str]) -> list[list[float]]:
            started.set()
            time.sleep(0.02)
            return letters(texts)

        def press() -> None:
            started.wait()
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        with braid.open(None, embedder=braid.Embedder(slow, dimension=8)) as db:
            presser = threading.Thread(target=press)
            presser.start()
            begun = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                db["notes"].add([f"text number {i}" for i in range(100_000)])
            presser.join()
            self.assertLess(time.monotonic() - begun, 60)
            self.assertEqual(db["notes"].count(), 0)
            db["notes"].add("still there")
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)


class Forks(unittest.TestCase):
    def test_a_child_is_told_to_open_it_again(self) -> None:
        with braid.open(None, embedder="none") as db:
            db["notes"].add(ANIMALS)
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                try:
                    db["notes"].count()
                    said = "no error"
                except braid.Unsupported as error:
                    said = str(error)
                db.close()
                with braid.open(None, embedder="none") as own:
                    own["notes"].add("in the child")
                    said += f"; {own['notes'].count()}"
                os.write(write, said.encode())
                os._exit(0)
            os.close(write)
            with os.fdopen(read) as pipe:
                said = pipe.read()
            os.waitpid(child, 0)
            self.assertIn("before the process forked", said)
            self.assertTrue(said.endswith("; 1"))
            self.assertEqual(db["notes"].count(), 3)


class Ends(unittest.TestCase):
    def test_nothing_is_said_when_an_open_database_is_left_behind(self) -> None:
        done = run("""
            import braid
            db = braid.open(None, embedder=lambda texts: [[1.0, 2.0]] * len(texts), log=print)
            db["notes"].add("x")
            answer = db["notes"].retrieve("x")
            hit = answer[0]
        """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_importing_needs_neither_numpy_nor_pandas(self) -> None:
        done = run("""
            import sys
            sys.modules["numpy"] = sys.modules["pandas"] = None
            import braid
            db = braid.open(None, embedder="none")
            db["notes"].add("red fox")
            print(db["notes"].retrieve("fox"))
        """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("red fox", done.stdout)


if __name__ == "__main__":
    unittest.main()
