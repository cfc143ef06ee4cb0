"""What the reference scripts share: the probe program's protocol, and skipping."""

import importlib
import struct
import subprocess
import sys


def need(*modules):
    """Imports modules, or ends the test as skipped."""
    try:
        return [importlib.import_module(module) for module in modules]
    except ImportError as error:
        skip(f"{error.name} is not installed in {sys.executable}")


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(77)


def ask(program, *arguments, texts, element):
    """One list of numbers per text; `element` is the struct code of a number."""
    records = [text.encode() for text in texts]
    data = b"".join(struct.pack("<I", len(record)) + record for record in records)
    done = subprocess.run([program, *arguments], input=data, stdout=subprocess.PIPE, check=True)
    answers, at = [], 0
    while at < len(done.stdout):
        (count,) = struct.unpack_from("<I", done.stdout, at)
        answers.append(list(struct.unpack_from(f"<{count}{element}", done.stdout, at + 4)))
        at += 4 + 4 * count
    if len(answers) != len(texts):
        sys.exit(f"{len(answers)} answers for {len(texts)} texts")
    return answers
