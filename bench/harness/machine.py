"""What a figure depends on besides the code: machine, commit, date."""

import datetime
import os
import platform
from pathlib import Path

from .paths import ROOT, git


def first_match(path: str, name: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith(name):
                    return line.partition(":")[2].strip() or line.partition("=")[2].strip(' "\n')
    except OSError:
        pass
    return ""


def machine() -> dict:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": first_match("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": pages,
        "system": first_match("/etc/os-release", "PRETTY_NAME") or platform.system(),
        "kernel": platform.release(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def program(path: Path | None) -> str:
    """Which program was measured, and when it was built: a stale one is to be seen."""
    if path is None or not path.exists():
        return "none"
    built = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.timezone.utc)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    return f"{shown}, built {built.strftime('%Y-%m-%dT%H:%M:%SZ')}"


def identity() -> dict:
    now = datetime.datetime.now(datetime.timezone.utc)
    changed = git("status", "--porcelain", "--untracked-files=no")
    return {
        "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": git("rev-parse", "--short=12", "HEAD") or "unknown",
        "changed": bool(changed),
    }
