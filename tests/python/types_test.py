"""The package and its tests, as a type checker sees them."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import braid

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(braid.__file__).resolve().parent

USES = '''
import braid
db = braid.open("./data", embedder="none")
notes = db["notes"]
reveal_type(notes.retrieve("x"))
reveal_type(notes.retrieve("x")[0].receipt.sources[0].contribution)
reveal_type(notes.add(["x"]).written)
notes.retrieve("x", topk=3)
notes.retrieve("x", top_k="three")
'''


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as cache:
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", cache, *arguments],
            capture_output=True, text=True, timeout=300, cwd=HERE,
            env={**os.environ, "MYPYPATH": f"{PACKAGE.parent}:{HERE}"},
        )


class Types(unittest.TestCase):
    def setUp(self) -> None:
        if subprocess.run([sys.executable, "-c", "import mypy"], capture_output=True).returncode:
            self.skipTest("mypy is not installed")

    def test_package_and_tests_are_sound(self) -> None:
        files = sorted(str(path) for path in HERE.glob("*.py"))
        done = mypy("--strict", "--ignore-missing-imports", str(PACKAGE), *files)
        self.assertEqual(done.stdout + done.stderr, "")

    def test_users_get_types_and_are_told_of_wrong_words(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(USES)
            file.flush()
            said = mypy(file.name).stdout
        self.assertIn('"braid._braid.Answer"', said)
        self.assertIn('float"', said)
        self.assertIn('int"', said)
        self.assertIn('topk', said)
        self.assertIn('"top_k"', said)

    def test_the_stubs_name_what_the_extension_has(self) -> None:
        import ast

        from braid import _braid

        tree = ast.parse((PACKAGE / "_braid.pyi").read_text())
        for item in tree.body:
            if not isinstance(item, ast.ClassDef):
                continue
            kind = getattr(_braid, item.name)
            stub = {entry.name for entry in item.body if isinstance(entry, ast.FunctionDef)}
            for name in stub - {"__iter__"}:
                self.assertTrue(hasattr(kind, name), f"{item.name}.{name}")
            for name in vars(kind):
                if not name.startswith("_"):
                    self.assertIn(name, stub, f"{item.name}.{name}")


if __name__ == "__main__":
    unittest.main()
