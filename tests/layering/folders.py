"""folders.py VISIBLE CXX: what each folder of src/ can include, as the build sets it up.

VISIBLE has a line per folder: its target and its include directories. A folder may see its own
layer and those below, with the exceptions named here; and a compiler run shows that this holds.
"""

import pathlib
import subprocess
import sys

LAYERS = [
    ["core", "kernels"],
    ["store", "text", "json", "net/client", "net/http", "embed", "llm", "fusion", "rank"],
    ["sparse", "dense", "docs"],
    ["index", "segment", "exact"],
    ["local", "remote"],
    ["retrieval", "wire", "ingest", "eval", "engine"],
    ["service", "apps"],
    ["server"],
    ["cli"],
]
LAYER = {folder: number for number, folders in enumerate(LAYERS) for folder in folders}
STRANGERS = [  # nobody in the first set sees anybody else in the second
    ({"sparse", "dense", "docs"}, {"sparse", "dense", "docs"}),
    ({"index"}, {"dense", "segment", "exact"}),
    ({"exact"}, {"segment"}),  # a segment engine buffers writes in an exact partition, not the other way
    ({"local", "remote"}, {"local", "remote"}),
    ({"retrieval"}, {"store", "sparse", "dense", "docs", "index", "segment", "exact", "local", "remote"}),
    ({"embed", "llm", "service"}, {"net/http"}),
    ({"net/client"}, {"net/http"}),
    ({"cli", "server"}, {"store", "sparse", "dense", "docs", "index", "segment", "exact"}),
]


def may_see(folder: str, other: str) -> bool:
    if folder == other:
        return True
    if LAYER[other] > LAYER[folder]:
        return False
    return not any(folder in seers and other in hidden for seers, hidden in STRANGERS)


def read_visible(path: str) -> dict[str, list[pathlib.Path]]:
    visible = {}
    for line in pathlib.Path(path).read_text().splitlines():
        target, *directories = line.split()
        visible[target.removeprefix("braid_").replace("_", "/")] = [pathlib.Path(d) for d in directories]
    return visible


def linked_folders(root: pathlib.Path) -> list[str]:
    """Of a view, which holds one link to a folder ("core", "net/client"); include/braid holds headers."""
    return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() and path.is_dir()]


def compiles(compiler: str, directories: list[pathlib.Path], header: str) -> tuple[bool, str]:
    run = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
        + [f"-idirafter{directory}" for directory in directories],
        input=f'#include "{header}"\n', capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def main() -> int:
    visible, compiler = read_visible(sys.argv[1]), sys.argv[2]
    problems = []
    for folder, directories in visible.items():
        if folder not in LAYER:
            problems.append(f"{folder}: not in the picture of the layers")
            continue
        for directory in directories:
            for seen in linked_folders(directory / "braid"):
                if not may_see(folder, seen):
                    problems.append(f"{folder} sees {seen}")

    if "text" in visible and "sparse" in visible:
        cases = [("braid/result.hpp", True), ("braid/text/analyzer.hpp", True),
                 ("braid/sparse/bm25.hpp", False)]
        for header, legal in cases:
            done, errors = compiles(compiler, visible["text"], header)
            if done != legal or (not legal and "No such file" not in errors):
                problems.append(f"text includes {header}: {'compiled' if done else errors}")

    print("\n".join(problems) or f"{len(visible)} folders keep their layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
