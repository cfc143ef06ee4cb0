"""How answers look: as text, as HTML in notebooks, as tables."""

from __future__ import annotations

from html import escape
from typing import Any

from ._braid import Answer, Chunk, Hit, Principal, Receipt, ReceiptSource, ReceiptStage

_COLOURS = {"dense": "#4c78a8", "sparse": "#f58518"}
_OTHERS = ("#54a24b", "#b279a2", "#e45756", "#72b7b2")
_BAR_PIXELS = 160


def _short(text: str, limit: int = 70) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _counted(self: Answer) -> str:
    hits, of = len(self), self.total_candidates
    return f"{hits} {'hit' if hits == 1 else 'hits'} of {of} {'candidate' if of == 1 else 'candidates'}"


def _source(self: ReceiptSource) -> str:
    rank = "filled" if self.rank is None else f"rank {self.rank}"
    return f"{self.source} {rank} × {self.weight:g} → {self.contribution:.6g}"


def _stage(self: ReceiptStage) -> str:
    return f"{self.stage}: {self.operation} {self.value:g} → {self.score:.6g}"


def _receipt(self: Receipt) -> str:
    steps = [*map(_source, self.sources), *map(_stage, self.stages)]
    return f"<Receipt {self.method} {self.score:.6g}: {'; '.join(steps)}>"


def _hit(self: Hit) -> str:
    return f"<Hit {self.rank}. {self.chunk_id!r} {self.score:.6g} {_short(self.content)!r}>"


def _chunk(self: Chunk) -> str:
    return f"<Chunk {self.chunk_id!r} {_short(self.content)!r}>"


def _principal(self: Principal) -> str:
    return f"Principal({self.name!r}, clearance={self.clearance!r}, scopes={self.scopes!r})"


def _notes(self: Answer) -> list[str]:
    notes = [] if self.complete else ["not complete"]
    notes += self.warnings
    notes += [f"{s.word!r}: did you mean {s.instead!r}?" for s in self.suggestions]
    return notes


def _answer(self: Answer) -> str:
    head = (
        f"<Answer {self.query!r}: {_counted(self)}, "
        f"{self.strategy_used}, {self.timings.total_ms:.1f} ms>"
    )
    lines = [
        f"{hit.rank:>3}. {hit.score:<9.6g} {hit.chunk_id}  {_short(hit.content)}" for hit in self.hits
    ]
    return "\n".join([head, *lines, *(f"  ! {note}" for note in _notes(self))])


def _colour(source: str, place: int) -> str:
    return _COLOURS.get(source, _OTHERS[place % len(_OTHERS)])


def _bars(receipt: Receipt, scale: float) -> str:
    """Each source's contribution as a bar, all hits of an answer on one scale."""
    parts = []
    for place, source in enumerate(receipt.sources):
        width = max(1, round(_BAR_PIXELS * max(source.contribution, 0.0) / scale)) if scale else 1
        parts.append(
            f'<span title="{escape(_source(source))}" style="display:inline-block;height:0.8em;'
            f'width:{width}px;background:{_colour(source.source, place)}"></span>'
        )
    stages = "".join(f" <small>{escape(_stage(stage))}</small>" for stage in receipt.stages)
    return f'<span style="white-space:nowrap">{"".join(parts)}</span>{stages}'


def _receipt_html(self: Receipt) -> str:
    total = sum(max(source.contribution, 0.0) for source in self.sources)
    return f"{_bars(self, total)} <code>{escape(repr(self))}</code>"


def _answer_html(self: Answer) -> str:
    hits = self.hits
    scale = max(
        (sum(max(s.contribution, 0.0) for s in hit.receipt.sources) for hit in hits), default=0.0
    )
    rows = "".join(
        f"<tr><td>{hit.rank}</td><td>{hit.score:.6g}</td><td>{_bars(hit.receipt, scale)}</td>"
        f'<td><code>{escape(hit.chunk_id)}</code></td><td style="text-align:left">'
        f"{escape(_short(hit.content, 200))}</td></tr>"
        for hit in hits
    )
    notes = "".join(f"<div>⚠ {escape(note)}</div>" for note in _notes(self))
    return (
        f"<div><b>{escape(self.query)}</b> — {_counted(self)}, "
        f"{escape(self.strategy_used)}, {self.timings.total_ms:.1f} ms</div>{notes}"
        "<table><thead><tr><th></th><th>score</th><th>from</th><th>chunk</th><th>text</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _to_pandas(self: Answer) -> Any:
    import pandas  # type: ignore[import-untyped,unused-ignore]

    columns = ["rank", "score", "collection", "chunk_id", "document_id", "title", "content",
               "dense_score", "sparse_score", "metadata"]
    rows: list[list[Any]] = [[getattr(hit, column) for column in columns] for hit in self.hits]
    return pandas.DataFrame(rows, columns=columns)


def _load(kind: Any, json: dict[str, Any]) -> Any:
    return kind.from_dict(json)


def _reduce(self: Any) -> Any:
    return _load, (type(self), self.to_dict())


def set_up() -> None:
    """Gives the extension's classes what is easier said in Python."""
    for kind, method in (
        (Answer, _answer), (Hit, _hit), (Chunk, _chunk), (Receipt, _receipt),
        (ReceiptSource, _source), (ReceiptStage, _stage), (Principal, _principal),
    ):
        setattr(kind, "__repr__", method)
    setattr(Answer, "_repr_html_", _answer_html)
    setattr(Receipt, "_repr_html_", _receipt_html)
    setattr(Answer, "to_pandas", _to_pandas)
    setattr(Answer, "__reduce__", _reduce)
    setattr(Chunk, "__reduce__", _reduce)
