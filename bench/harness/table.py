"""A group's figures as a table: the same columns on the terminal and in the report."""


def number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def short(value: float | None) -> str:
    """Three figures or so: 1,234  56.7  0.89"""
    if value is None:
        return ""
    return number(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2)


def megabytes(value: float | None) -> str:
    return "" if value is None else short(value / 1e6)


def setting(entry: dict) -> str:
    words = [f"{name} {value}" for name, value in entry.get("params", {}).items()]
    if entry.get("batch"):
        words.append("batch")
    return " ".join(words)


def recall(entry: dict) -> str:
    if entry.get("recall") is None:
        return ""
    return f"{entry['recall']:.3f}" + (" (best)" if entry.get("reached") is False else "")


def from_to(entry: dict, metric: str) -> str:
    return f"{short(entry[metric]['min'])}–{short(entry[metric]['max'])}"


def share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


# Title, and the text of one contestant's cell; a column that is empty for all is left out.
SEARCH_COLUMNS = (
    ("contestant", lambda e: e["name"]),
    ("version", lambda e: e.get("version") or ""),
    ("setting", setting),
    ("recall", recall),
    ("queries/s", lambda e: short(e["qps"]["median"])),
    ("min–max", lambda e: from_to(e, "qps")),
    ("p50 µs", lambda e: short(e.get("p50_us"))),
    ("p99 µs", lambda e: short(e.get("p99_us"))),
    ("braid ÷ it", lambda e: short(e.get("braid_ratio"))),
    ("same hits", lambda e: share(e.get("overlap"))),
    ("build s", lambda e: short(e.get("build_seconds"))),
    ("learn s", lambda e: short(e.get("learn_seconds"))),
    ("index MB", lambda e: megabytes(e.get("index_bytes"))),
    ("words MB", lambda e: megabytes(e.get("words_bytes"))),
    ("memory MB", lambda e: megabytes(e.get("memory_bytes"))),
    ("mapped MB", lambda e: megabytes(e.get("mapped_bytes"))),
)
STORE_COLUMNS = (
    ("contestant", lambda e: e["name"]),
    ("version", lambda e: e.get("version") or ""),
    ("recall", recall),
    ("documents/s", lambda e: short(e["docs_per_second"]["median"])),
    ("min–max", lambda e: from_to(e, "docs_per_second")),
    ("braid ÷ it", lambda e: short(e.get("braid_ratio"))),
    ("write s", lambda e: short(e.get("write_seconds"))),
    ("disk MB", lambda e: megabytes(e.get("disk_bytes"))),
    ("reopen ms", lambda e: short(e["reopen_seconds"] * 1e3) if "reopen_seconds" in e else ""),
)
LEAST_AGREEMENT = 0.9  # rounding and ties among equal scores cost a few hundredths
WORDS = {"contestant", "version", "setting", "braid alone, all cores"}  # set flush left


def cells(group: dict) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the columns that hold something."""
    columns = SEARCH_COLUMNS if group["metric"] == "qps" else STORE_COLUMNS
    rows = [[cell(entry) for _, cell in columns] for entry in group["contestants"]]
    used = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return [columns[i][0] for i in used], [[row[i] for i in used] for row in rows]


def heading(group: dict) -> str:
    queries = f", {group['queries']:,} queries" if group["queries"] else ""
    return f"{group['task']}: {group['title']} ({group['docs']:,} documents{queries})"


def disagreements(group: dict) -> list[str]:
    """Says where a contestant's answers are so different that its speed means little."""
    return [
        f"{entry['name']} shares only {entry['overlap']:.2f} of its hits with "
        f"{entry['overlap_with']}: they did not do the same work"
        for entry in group["contestants"]
        if entry.get("overlap", 1.0) < LEAST_AGREEMENT
    ]


def lines(titles: list[str], rows: list[list[str]]) -> list[str]:
    """The titles and the rows, each column as wide as its widest word."""
    widths = [max(map(len, column)) for column in zip(titles, *rows)]

    def line(words: list[str]) -> str:
        padded = (
            word.ljust(width) if title in WORDS else word.rjust(width)
            for word, width, title in zip(words, widths, titles)
        )
        return "  ".join(padded).rstrip()

    return [line(titles), *map(line, rows)]


def text(group: dict) -> str:
    titles, rows = cells(group)
    out = ["", heading(group)]
    if rows:
        out += lines(titles, rows)
    out += disagreements(group)
    out += [f"not measured: {name}: {reason}" for name, reason in group["failed"].items()]
    return "\n".join(out)
