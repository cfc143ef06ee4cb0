"""rules.py SOURCE: what holds for every tracked file, checked by reading them."""

import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

SKIP = 77
SOURCE = pathlib.Path(sys.argv[1])
SELF = "tests/layering/rules.py"

# The folders that may include a library's headers; no other names the library.
LIBRARY_HOMES = {
    r"simdjson\b": {"src/json"},
    r"curl/": {"src/net/client"},
    r"utf8proc\b": {"src/text", "src/embed"},
    r"libstemmer\b": {"src/text"},
    r"xxhash\b": {"src/core", "src/store"},
    r"(?:zstd|zdict)\b": {"src/docs", "src/ingest"},
    r"zlib\b": {"src/ingest"},
    r"boost/": {"src/net/http"},
    r"openssl/": {"src/core", "src/net/http"},
    r"(?:sqlite3|nlohmann/|rapidjson/|httplib)": set(),
}
# The rooms of a folder that has some, and which others of the same folder each may include. "" is
# the folder itself, whose files may include every room.
ROOMS = {
    "src/server": {"auth": set(), "rpc": {"auth"}, "mcp": {"auth", "rpc"}, "page": set(), "http": {"auth", "rpc", "mcp", "page"}},
    "src/cli": {"view": set(), "args": {"view"}, "config": {"args", "view"},
                "commands": {"", "args", "config", "view"}},
    "src/apps": {"artifacts": set(), "decisions": set(), "doctrine": set(), "topics": set()},
}
# What applications call things. src/apps and the doors above it know, include/braid/applications.hpp
# is its public face; the layers below get it as data (docs/decisions/0047-application-vocabulary.md).
ABOVE = ("src/apps/", "src/server/", "src/cli/", "include/braid/applications.hpp")
APPLICATION_WORDS = re.compile(
    r"(?i)artifact|doctrine|arcnet|mos_code|cstp|hybrid_search|hybrid_weight|retrieval_mode"
    r"|\btopics?\b|topicId|retrieve_topic|kSemantic\b|kLexical\b|kContext\b|\"alpha\"|\"history\""
    r"|(?<!docs/)\bdecisions?\b(?! \d{4})|\b(?:memory|history)_collection")
# Registries are the packager's business: pip, Maven and apt are configured on the machine.
REGISTRIES = re.compile(
    r"https?://[^\s/\"')>]*(?:pypi|pythonhosted|maven|npmjs|crates\.io|artifactory|nexus|jfrog|"
    r"deb\.debian|huggingface)|--(?:extra-)?index-url|--find-links", re.IGNORECASE)
MACHINE_PATHS = re.compile(r"(?<![\w.~$}])/(?:root|home/(?!user/|u/)\w+|Users/\w+|work|mnt|opt/\w+)/")

Problem = tuple[str, int, str]
Files = dict[str, list[str]]
Rule = Callable[[Files], Iterator[Problem]]


def tracked_files() -> Files:
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=SOURCE, capture_output=True, check=False)
    if listing.returncode != 0:
        print("not a git checkout: skipped")
        sys.exit(SKIP)
    files = {}
    for name in filter(None, listing.stdout.decode().split("\0")):
        path = SOURCE / name
        if path.is_file() and name != SELF:
            files[name] = path.read_text(errors="replace").splitlines()
    return files


def is_code(name: str) -> bool:
    return name.endswith((".cpp", ".hpp"))


def is_build(name: str) -> bool:
    return name.endswith((".cmake", ".cmake.in", "CMakeLists.txt", "Makefile", "Presets.json")) or (
        name.startswith(("tools/", ".ci/")))


def matches(files: Files, pattern: str, chosen: Callable[[str], bool]) -> Iterator[Problem]:
    compiled = re.compile(pattern)
    for name, lines in files.items():
        if chosen(name):
            for number, line in enumerate(lines, 1):
                if compiled.search(line):
                    yield name, number, line.strip()


def includes_start_at_the_root(files: Files) -> Iterator[Problem]:
    return matches(files, r'#\s*include\s+"\.\.?/', is_code)


def public_headers_name_no_library(files: Files) -> Iterator[Problem]:
    def public(name: str) -> bool:
        return name.startswith("include/")

    yield from matches(
        files, r'#\s*include\s+(?!<[a-z_]+>|"braid/[a-z_]+\.hpp"|<tl/expected\.hpp>)', public)
    yield from matches(files, r"#\s*include\s+<tl/", lambda name: name != "include/braid/result.hpp")
    headers = list(filter(public, files))
    if len(headers) > 15:
        yield "include/braid", 0, f"{len(headers)} public headers, fifteen at most"
    yield from database_shows_the_product(files)


def database_shows_the_product(files: Files) -> Iterator[Problem]:
    """What a user of the library reads: database.hpp and all that it includes."""
    front = "include/braid/database.hpp"
    seen: list[str] = []
    waiting = [front]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in files:
            continue
        seen.append(name)
        for line in files[name]:
            if found := re.match(r'#\s*include\s+"(braid/[a-z_]+\.hpp)"', line):
                waiting.append("include/" + found.group(1))
    if len(seen) > 10:
        yield front, 0, f"reaches {len(seen)} headers, ten at most"
    for name in ("backend", "forwarding", "reader"):
        if f"include/braid/{name}.hpp" in seen:
            yield front, 0, f"shows the backend's contracts: {name}.hpp"


def libraries_are_found_in_one_place(files: Files) -> Iterator[Problem]:
    def outside(name: str) -> bool:
        return is_build(name) and not name.startswith(("cmake/", "tests/packaging/consumer/"))

    return matches(files, r"\b(?:find_package|find_library|pkg_check_modules|FetchContent)\b", outside)


def libraries_stay_in_their_folders(files: Files) -> Iterator[Problem]:
    for library, homes in LIBRARY_HOMES.items():
        yield from matches(
            files, rf'#\s*include\s+[<"]{library}',
            lambda name, homes=homes: is_code(name) and name.startswith(("src/", "include/"))
            and str(pathlib.Path(name).parent) not in homes)
    yield from matches(files, r"\b(?:simdjson::|curl_easy_|CURLOPT_)",
                       lambda name: name.startswith(("src/", "include/"))
                       and not name.startswith(("src/json/", "src/net/client/")))


def sources_include_their_own_header_first(files: Files) -> Iterator[Problem]:
    """Which proves that the header compiles alone; braid_module probes the others."""
    for name, lines in files.items():
        header = name.removesuffix(".cpp") + ".hpp"
        if not name.startswith("src/") or not name.endswith(".cpp") or header not in files:
            continue
        wanted = f'#include "braid/{header.removeprefix("src/")}"'
        for number, line in enumerate(lines, 1):
            if line.startswith("#include"):
                if line.strip() != wanted:
                    yield name, number, f"{line.strip()} stands before {wanted}"
                break


def contracts_are_members(files: Files) -> Iterator[Problem]:
    """What a wrapper forwards is found by a virtual call; a cast to another interface it hides."""
    return matches(files, r"\bdynamic_(?:pointer_)?cast\b",
                   lambda name: is_code(name) and name.startswith(("src/", "include/")))


def deadlines_are_handed_on(files: Files) -> Iterator[Problem]:
    """Below the facade no call has limits by default: a dropped deadline does not compile."""
    facade = ("include/braid/database.hpp", "include/braid/applications.hpp")
    return matches(files, r"\bCallLimits&?\s+\w+\s*=\s*(?:\{|CallLimits\b)",
                   lambda name: name.endswith(".hpp") and name.startswith(("src/", "include/"))
                   and name not in facade)


def rooms_keep_their_arrows(files: Files) -> Iterator[Problem]:
    """And no file repeats its room's name: http/app.cpp, not http/http_app.cpp."""
    for name, lines in files.items():
        folder, inner = "/".join(name.split("/")[:2]), name.split("/")[2:]
        rooms = ROOMS.get(folder)
        if rooms is None or not is_code(name) or len(inner) < 2:
            continue
        room = inner[0]
        if room not in rooms:
            yield name, 0, f"{folder} has no room {room}"
            continue
        if inner[-1].startswith(f"{inner[-2]}_"):
            yield name, 0, f"repeats the name of its room, {inner[-2]}"
        for number, line in enumerate(lines, 1):
            found = re.match(rf'#include "braid/{folder.removeprefix("src/")}/(?:(\w+)/)?[\w/]+\.hpp"', line)
            if found and (other := found.group(1) or "") != room and other not in rooms[room]:
                yield name, number, line


def applications_are_known_to_apps_alone(files: Files) -> Iterator[Problem]:
    return matches(files, APPLICATION_WORDS.pattern,
                   lambda name: is_code(name) and name.startswith(("src/", "include/"))
                   and not name.startswith(ABOVE))


def no_build_for_one_machine(files: Files) -> Iterator[Problem]:
    return matches(files, r"-m(?:arch|tune)=native", lambda name: is_build(name) or is_code(name))


def no_registry_and_no_machine_path(files: Files) -> Iterator[Problem]:
    def own_text(name: str) -> bool:
        return not name.startswith("examples/") and name != "LICENSE"

    yield from matches(files, REGISTRIES.pattern, own_text)
    yield from matches(files, MACHINE_PATHS.pattern, own_text)


def every_source_is_built(files: Files) -> Iterator[Problem]:
    for name in filter(is_code, files):
        if name.startswith("include/"):
            where, entry = "CMakeLists.txt", name.removeprefix("include/")
        else:
            folder = pathlib.PurePosixPath(name).parent
            while str(folder) != "." and f"{folder}/CMakeLists.txt" not in files:
                folder = folder.parent
            where = f"{folder}/CMakeLists.txt"
            entry = str(pathlib.PurePosixPath(name).relative_to(folder))
        if name.startswith("tests/") and name.endswith(".hpp"):
            continue  # test helpers are compiled where they are included
        listed = "\n".join(files.get(where, []))
        stem = entry.removesuffix("_bench.cpp")  # braid_bench(kernels ...) is kernels_bench.cpp
        if not re.search(rf"(?<![\w/.]){re.escape(entry)}(?![\w.])", listed) and not (
                stem != entry and re.search(rf"braid_bench\({re.escape(stem)}\b", listed)):
            yield name, 0, f"not listed in {where}"


RULES: list[Rule] = [
    includes_start_at_the_root,
    public_headers_name_no_library,
    libraries_are_found_in_one_place,
    libraries_stay_in_their_folders,
    sources_include_their_own_header_first,
    contracts_are_members,
    deadlines_are_handed_on,
    rooms_keep_their_arrows,
    applications_are_known_to_apps_alone,
    no_build_for_one_machine,
    no_registry_and_no_machine_path,
    every_source_is_built,
]


def main() -> int:
    files = tracked_files()
    broken = 0
    for rule in RULES:
        for name, number, text in rule(files):
            broken += 1
            print(f"{rule.__name__}: {name}:{number}: {text[:120]}")
    if not broken:
        print(f"{len(RULES)} rules hold in {len(files)} files")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
