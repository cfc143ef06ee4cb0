"""The report: one file, no network, light or dark as the reader has it."""

from html import escape

from . import answers, plots, table

STYLE = """
:root{color-scheme:light dark;--page:#fbfbfa;--card:#fff;--ink:#1b1e23;--soft:#626a76;--edge:#e3e5e9;
--braid:#0b63ce;--rival:#b9c0ca;--s0:#8b5e34;--s1:#c2410c;--s2:#15803d;--s3:#7e22ce;--s4:#a16207;
--s5:#0e7490;--s6:#be185d;--s7:#57606c}
@media(prefers-color-scheme:dark){:root{--page:#14161a;--card:#1c1f25;--ink:#e7e9ec;--soft:#9aa3b0;
--edge:#31363f;--braid:#5aa7ff;--rival:#4d5563;--s0:#d6a46c;--s1:#fb923c;--s2:#4ade80;--s3:#c084fc;
--s4:#facc15;--s5:#22d3ee;--s6:#f472b6;--s7:#a8b0bd}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1240px;margin:0 auto;padding:40px 24px 80px}
h1{font-size:1.7rem;margin:0 0 4px}h2{font-size:1.15rem;margin:0 0 2px}
h3{font-size:.95rem;margin:24px 0 8px;color:var(--soft);font-weight:600}
p{margin:4px 0 12px}.soft{color:var(--soft)}
section{background:var(--card);border:1px solid var(--edge);border-radius:10px;padding:22px 24px;margin:22px 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:600;text-align:right;white-space:nowrap}
td{text-align:right;white-space:nowrap}td.word,th.word{text-align:left}
th,td{padding:5px 8px;border-bottom:1px solid var(--edge)}
tr:last-child td{border-bottom:0}tr.braid td{font-weight:600;color:var(--braid)}
td.note{white-space:normal;color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:0;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
code{font:.86em ui-monospace,monospace}
.warn{border-left:4px solid var(--s1);padding:6px 12px;background:color-mix(in srgb,var(--s1) 9%,transparent)}
svg{display:block;width:100%;height:auto;font:13px system-ui,sans-serif}
svg text{fill:var(--ink)}svg .name{text-anchor:end}svg .braid-name{font-weight:650}
svg .value{font-weight:600;font-variant-numeric:tabular-nums}
svg .detail,svg .tick,svg .axis{fill:var(--soft);font-size:12px}
svg .middle{text-anchor:middle}svg .end{text-anchor:end}
svg .bar.braid{fill:var(--braid)}svg .bar.rival{fill:var(--rival)}
svg .whisker{stroke:var(--ink);stroke-width:1.3;fill:none;opacity:.75}
svg .grid{stroke:var(--edge);fill:none}svg .target{stroke:var(--soft);stroke-dasharray:5 4;fill:none}
svg .line{fill:none;stroke-width:2;stroke:currentColor}svg circle{fill:currentColor}
svg .lead{fill:none;stroke:currentColor;opacity:.35}svg .series .label{fill:currentColor;font-weight:600}
svg .braid{color:var(--braid)}svg .braid .line{stroke-width:3}
""" + "".join(f"svg .s{n}{{color:var(--s{n})}}" for n in range(8))

ABOUT = {
    "sparse": "Top hits by BM25. Every contestant gets the same tokens and splits at spaces only.",
    "dense": "Nearest vectors by inner product. Every contestant gets the same vectors; each is set "
    "to the smallest beam that reaches the asked recall against the exact answer.",
    "hybrid": "Both legs and reciprocal rank fusion, 50 candidates per leg. The recall is that of the "
    "dense leg: each contestant is set to the smallest beam whose 50 hold so many of the true 50.",
    "store": "Everything written to a new folder, indexed, synced and closed; then opened again and "
    "asked one query.",
}


def facts(report: dict) -> str:
    machine, settings = report["machine"], report["settings"]
    changed = " with uncommitted changes" if report["changed"] else ""
    rows = [
        ("date", report["date"]),
        ("commit", report["commit"] + changed),
        ("program", report.get("program", "")),
        ("machine", f"{machine['cpu']}, {machine['cores']} cores, "
                    f"{machine['memory_bytes'] / 2**30:.0f} GiB, load {machine['load_at_start']} "
                    "at the start"),
        ("system", f"{machine['system']}, Linux {machine['kernel']}"),
        ("measured", f"{settings['threads']} thread(s) on pinned core(s), {settings['warmups']} or "
                     f"more warm-ups, {settings['rounds']} rounds interleaved over the contestants"),
        ("command", report["command"]),
    ]  # fmt: skip
    return "<dl>" + "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in rows) + "</dl>"


def grid(titles: list[str], rows: list[list[str]]) -> str:
    def row(tag: str, words: list[str], kind: str = "") -> str:
        cells = "".join(
            f"<{tag}{' class=word' if title in table.WORDS else ''}>{escape(word)}</{tag}>"
            for title, word in zip(titles, words)
        )
        return f"<tr{kind}>{cells}</tr>"

    body = "".join(row("td", words, " class=braid" if words[0] == "braid" else "") for words in rows)
    return f"<div class=wide><table>{row('th', titles)}{body}</table></div>"


def bar_rows(group: dict) -> list[dict]:
    rows = []
    for entry in group["contestants"]:
        figures = entry[group["metric"]]
        recall = f"recall {table.recall(entry)}" if entry.get("recall") is not None else ""
        rows.append(
            {
                "name": entry["name"],
                "value": figures["median"],
                "low": figures["min"],
                "high": figures["max"],
                "detail": recall,
            }
        )
    return rows


def curves(group: dict, groups: list[dict]) -> dict[str, list[tuple[float, float]]]:
    """Recall and queries per second. A contestant without settings has a point for each recall asked
    of it in the same run; where there was but one, a single point."""
    asked: dict[str, list[tuple[float, float]]] = {}
    if group["metric"] != "qps":
        return {}
    for other in groups if group["task"] == "dense" else [group]:
        if (other["task"], other["docs"]) != (group["task"], group["docs"]):
            continue
        for entry in other["contestants"]:
            if entry.get("recall") is not None:
                point = (entry["recall"], entry["qps"]["median"])
                asked.setdefault(entry["name"], []).append(point)
    series = {}
    for entry in group["contestants"]:
        if entry.get("recall") is None:
            continue
        points = [(point["recall"], point["qps"]) for point in entry.get("curve", [])]
        series[entry["name"]] = points or asked[entry["name"]]
    return dict(sorted(series.items()))


def growth(groups: list[dict]) -> dict[str, list[tuple[float, float]]]:
    """Documents and microseconds per query, for contestants measured at several sizes."""
    series: dict[str, list[tuple[float, float]]] = {}
    for group in groups:
        for entry in group["contestants"]:
            point = (group["docs"], 1e6 / entry["qps"]["median"])
            series.setdefault(entry["name"], []).append(point)
    return {name: points for name, points in sorted(series.items()) if len(points) > 1}


def not_measured(names: dict[str, str]) -> str:
    if not names:
        return ""
    rows = "".join(
        f"<tr><td class=word>{escape(name)}</td><td class='note word'>{escape(reason)}</td></tr>"
        for name, reason in names.items()
    )
    return f"<h3>Not measured</h3><table>{rows}</table>"


def notes(group: dict) -> str:
    rows = "".join(
        f"<tr><td class=word>{escape(entry['name'])}</td>"
        f"<td class='note word'>{escape(entry['note'])}</td></tr>"
        for entry in group["contestants"]
        if entry.get("note")
    )
    return f"<h3>How each was set up</h3><table>{rows}</table>" if rows else ""


def section(group: dict, target: float, groups: list[dict]) -> str:
    unit = "queries/s" if group["metric"] == "qps" else "documents/s"
    parts = [f"<h2>{escape(table.heading(group))}</h2>"]
    parts.append(f"<p class=soft>{unit}, median; the whisker goes from the slowest to the fastest "
                 "round</p>")  # fmt: skip
    parts.append(plots.bars(bar_rows(group), unit))
    series = curves(group, groups)
    if series:
        parts.append("<h3>Recall against queries per second, one query per call (up and right is better)</h3>")
        parts.append(
            plots.lines(series, "recall", "queries/s", x_from=0.6, x_mark=target)
        )
    parts.append("<h3>Figures</h3>" + grid(*table.cells(group)))
    parts += [f"<p class=warn>{escape(line)}</p>" for line in table.disagreements(group)]
    parts.append(not_measured(group["failed"]) + notes(group))
    return f"<section>{''.join(parts)}</section>"


def growth_sections(report: dict) -> str:
    out = ""
    for task in ("sparse", "dense"):
        first = next((group for group in report["groups"] if group["task"] == task), None)
        same = [g for g in report["groups"] if first and (g["task"], g["title"]) == (task, first["title"])]
        series = growth(same)
        if series:
            plot = plots.lines(series, "documents", "µs per query", x_log=True)
            out += (
                f"<section><h2>{task}: cost growth</h2><p class=soft>{escape(first['title'])}; "
                f"both axes logarithmic, lower is better</p>{plot}</section>"
            )
    return out


def own_answers(report: dict) -> str:
    entries = report.get("answers")
    if not entries:
        return ""
    about = ("Times of one whole answer, by the answers' own account where they are means. The legs run "
             "side by side: both together take less than their sum where cores are free.")  # fmt: skip
    return (
        f"<section><h2>Whole answers of braid</h2><p class=soft>{about}</p>"
        + grid(list(answers.TITLES), answers.rows(entries))
        + "</section>"
    )


def page(report: dict) -> str:
    target = report["settings"]["recall"]
    warning = ""
    if report.get("quick"):
        warning = "<p class=warn>A quick run on a small input: it shows that things work, no more.</p>"
    elif report["machine"]["load_at_start"] > 0.5:
        warning = "<p class=warn>The machine was busy when this run began.</p>"
    largest = max((group["docs"] for group in report["groups"]), default=0)
    shown = [g for g in report["groups"] if g["docs"] == largest]
    rest = [g for g in report["groups"] if g["docs"] != largest]
    name = report["bench"]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width,initial-scale=1'>"
        f"<title>braid: {name}, {report['date'][:10]}</title><style>{STYLE}</style><main>"
        f"<h1>braid against its rivals: {name}</h1><p class=soft>{ABOUT.get(name, '')}</p>{warning}"
        f"<section>{facts(report)}{not_measured(report['absent'])}</section>"
        + "".join(section(group, target, report["groups"]) for group in shown)
        + own_answers(report)
        + growth_sections(report)
        + "".join(section(group, target, report["groups"]) for group in rest)
        + "</main></html>\n"
    )
