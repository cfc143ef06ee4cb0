"""Where things are: the source tree, the measuring data, the cache, the results."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
RESULTS = ROOT / "build" / "bench-results"


class UsageError(Exception):
    """Something the caller can put right; the message says how."""


def cache_dir() -> Path:
    """Rivals, prepared data and scratch indexes: never inside the source tree."""
    chosen = os.environ.get("BRAID_BENCH_CACHE")
    if not chosen:
        chosen = os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "braid-bench")
    path = Path(chosen).expanduser().resolve()
    if path.is_relative_to(ROOT):
        raise UsageError(f"the cache {path} lies in the source tree; set BRAID_BENCH_CACHE")
    path.mkdir(parents=True, exist_ok=True)
    return path


def speed_data() -> Path:
    """The folder `speed` of the measuring data, BRAID_SHARED or beside the repository."""
    shared = Path(os.environ.get("BRAID_SHARED") or ROOT.parent / "shared")
    folder = shared / "data" / "speed"
    if not folder.is_dir():
        raise UsageError(
            f"no measuring data in {folder}\n"
            "  set BRAID_SHARED to the folder that holds data/speed, or bring your own:\n"
            "  bench/run sparse --corpus docs.txt --queries-file questions.txt\n"
            "  bench/run dense  --base base.npy --query-vectors queries.npy\n"
            "  (texts: one document or question per line; vectors: float32, one row each)"
        )
    return folder


def braid_program() -> Path | None:
    """BRAID_PROGRAM, ./braid, or what the newest build left."""
    chosen = os.environ.get("BRAID_PROGRAM")
    if chosen:
        return Path(chosen).resolve()
    if (ROOT / "braid").exists():
        return (ROOT / "braid").resolve()
    built = [p for p in ROOT.glob("build/*/bin/braid") if p.parents[1].name in ("release", "dev")]
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


def git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def fresh_folder(path: Path) -> Path:
    """An empty folder below the cache."""
    if not path.resolve().is_relative_to(cache_dir()):
        raise ValueError(f"{path} is not below the cache")
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
