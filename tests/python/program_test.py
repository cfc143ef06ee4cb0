"""The command `braid` that the package brings."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib
import unittest

import braid
from braid._program import program

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Program(unittest.TestCase):
    def setUp(self) -> None:
        if not os.access(program(), os.X_OK):
            self.skipTest("the program is not built")

    def run_module(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as folder:
            env = {key: value for key, value in os.environ.items() if not key.startswith("BRAID_")}
            return subprocess.run(
                [sys.executable, "-m", "braid", *arguments], capture_output=True, text=True,
                cwd=folder, env={**env, "XDG_CONFIG_HOME": folder}, timeout=60,
            )

    def test_the_module_is_the_program(self) -> None:
        done = self.run_module("--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"braid {braid.__version__}\n")

    def test_its_exit_codes_are_the_programs(self) -> None:
        self.assertEqual(self.run_module("stats").returncode, 3)
        self.assertEqual(self.run_module("nonsense").returncode, 2)

    def test_installing_makes_the_command(self) -> None:
        place = ROOT / "pyproject.toml"
        if not place.exists():
            self.skipTest("not in the source tree")
        project = tomllib.loads(place.read_text())
        module, function = project["project"]["scripts"]["braid"].split(":")
        self.assertTrue(callable(getattr(__import__(module, fromlist=[function]), function)))
        self.assertIn("braid", project["tool"]["scikit-build"]["build"]["targets"])


if __name__ == "__main__":
    unittest.main()
