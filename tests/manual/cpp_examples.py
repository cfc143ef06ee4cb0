"""cpp_examples.py write DOCUMENT FILE, or run DOCUMENT PROGRAM: the C++ of a document as one program.

Blocks of ```cpp that begin with an #include stand at the top of the file, all others, in order, in a
function that returns Result<>. The program must print what the blocks of ```text show; "…" stands for
any text within a line.
"""

import pathlib
import subprocess
import sys
import tempfile

from examples import pattern_of


def blocks_of(text: str, language: str) -> list[str]:
    found: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line == "```" + language
            if inside:
                found.append([])
        elif inside:
            found[-1].append(line)
    return ["\n".join(lines) + "\n" for lines in found]


def program_of(text: str) -> str:
    blocks = blocks_of(text, "cpp")
    top = [block for block in blocks if block.startswith("#include")]
    body = [block for block in blocks if not block.startswith("#include")]
    return "\n".join(top) + "\nbraid::Result<> run() {\n" + "\n".join(body) + """return {};
}

int main() {
    const auto done = run();
    if (!done) std::printf("%s\\n", done.error().message.c_str());
    return done ? 0 : 1;
}
"""


def main() -> int:
    what, document, file = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    text = document.read_text()
    if what == "write":
        file.write_text(program_of(text))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([file.absolute()], cwd=folder, capture_output=True, text=True, check=False)
    expected = "".join(blocks_of(text, "text"))
    print(run.stdout + run.stderr)
    if run.returncode != 0 or not pattern_of(expected.splitlines()).fullmatch(run.stdout):
        print("instead of\n" + expected)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
