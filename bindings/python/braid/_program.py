"""The command `braid` of an installed package: the program that lies in it."""

from __future__ import annotations

import os
import pathlib
import sys


def program() -> pathlib.Path:
    """Where the program is; it finds the package's models by itself."""
    return pathlib.Path(__file__).parent / "bin" / "braid"


def main() -> None:
    """Becomes the program: its exit code, signals and terminal are the command's own."""
    place = program()
    try:
        os.execv(place, ["braid", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"braid: the program at {place} cannot be run: {error.strerror}")
