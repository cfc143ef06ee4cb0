"""Results that are plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T", bound="Record")


@dataclass(frozen=True)
class Record:
    """Made from the JSON form that every door shares; unknown keys are ignored."""

    @classmethod
    def from_dict(cls: type[T], json: dict[str, Any]) -> T:
        known = {f.name for f in fields(cls)}
        return cls(**{key: value for key, value in json.items() if key in known})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class WriteReport(Record):
    """What a write did: `written` counts chunks inserted, updated or deleted."""

    collection: str
    written: int
    version: int
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0
    created: bool = False
    chunk_ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FacetCount(Record):
    value: Any
    count: int


@dataclass(frozen=True)
class Stats(Record):
    collection: str
    namespace: str
    chunks: int
    documents: int
    vectors: int
    terms: int
    average_length: float
    bytes_on_disk: int
    dense: dict[str, Any] | None = None
    bytes_by_part: dict[str, int] = field(default_factory=dict)
    resident_bytes: int = 0
    index: dict[str, Any] | None = None
    probes: dict[str, Any] | None = None


@dataclass(frozen=True)
class CheckReport(Record):
    """What verifying a database found: `problems` are damage, `unfinished` are collections that an
    import has not filled, `notes` are harmless findings."""

    clean: bool
    collections: int
    chunks: int
    records: int
    bytes: int
    problems: list[str]
    notes: list[str]
    unfinished: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CollectionInfo(Record):
    name: str
    schema: dict[str, Any]
    chunks: int
    documents: int
    namespaces: list[str] = field(default_factory=list)
    damage: str = ""


@dataclass(frozen=True)
class Passage(Record):
    """Neighbouring chunks of one document as one text, quoted under its marker."""

    marker: str
    collection: str
    document_id: str
    chunk_ids: list[str]
    source: str
    trust: str
    text: str
    tokens: int
    score: float | None = None
    rank: int | None = None
    title: str | None = None
    section_title: str | None = None


@dataclass(frozen=True)
class Context(Record):
    """Passages prepared for a prompt; `str()` gives the text."""

    query: str
    text: str
    passages: list[Passage]
    budget: int
    tokens: int
    tokens_estimated: bool
    left_out: int
    complete: bool
    warnings: list[str]
    phrasings: list[str] = field(default_factory=list)
    hypothetical_answer: str | None = None
    unused: list[str] = field(default_factory=list)

    @classmethod
    def from_dict(cls, json: dict[str, Any]) -> Context:
        passages = [Passage.from_dict(passage) for passage in json["passages"]]
        return super().from_dict({**json, "passages": passages})

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class LegStanding(Record):
    """A chunk's place in one leg, however deep; no rank: the leg does not find it."""

    source: str
    score: float | None
    rank: int | None
    depth: int


@dataclass(frozen=True)
class Explanation(Record):
    """One chunk's way through a request, with the same phrasings as the request's own answer; `hit`
    is its place in the whole ranking."""

    collection: str
    chunk_id: str
    legs: list[LegStanding]
    shown: bool
    hit: dict[str, Any] | None
    phrasings: list[str] = field(default_factory=list)
    hypothetical_answer: str | None = None
    complete: bool = True
    warnings: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    query_understood: str | None = None

    @classmethod
    def from_dict(cls, json: dict[str, Any]) -> Explanation:
        legs = [LegStanding.from_dict(leg) for leg in json["legs"]]
        return super().from_dict({**json, "legs": legs})


@dataclass(frozen=True)
class WhyNot(Record):
    """Why a chunk is not in an answer; `change` is a request member that would bring it in."""

    lost_at: str | None
    reason: str
    change: dict[str, Any] | None
    explanation: Explanation

    @classmethod
    def from_dict(cls, json: dict[str, Any]) -> WhyNot:
        return super().from_dict(
            {**json, "explanation": Explanation.from_dict(json["explanation"])}
        )

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class AgentAnswer(Record):
    """The search for agents; `str()` gives its text."""

    results: list[dict[str, Any]]
    searched: list[str]
    complete: bool
    warnings: list[str]
    text: str
    unused: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class FusedHit(Record):
    id: str
    score: float
    contributions: dict[str, float]
