"""braid: hybrid retrieval, by meaning and by words, with a receipt for every hit.

    import braid
    db = braid.open("./data")
    db["notes"].add([{"text": "Red foxes hunt at dusk."}])
    print(db["notes"].retrieve("when do foxes hunt?"))
"""

from __future__ import annotations

from . import _show
from ._braid import (
    Answer,
    Chunk,
    Correction,
    ExperimentSide,
    Hit,
    HitLeg,
    Principal,
    Receipt,
    ReceiptSource,
    ReceiptStage,
    SourceReport,
    StageHit,
    Suggestion,
    Timings,
)
from ._braid import version as __version__
from ._callables import Effect, Embedder, Preprocessor, Reranker, Stage
from ._collection import Collection
from ._database import Database
from ._errors import (
    AlreadyExists,
    Cancelled,
    Conflict,
    Corruption,
    DeadlineExceeded,
    Error,
    InvalidArgument,
    IoError,
    Locked,
    NotFound,
    PermissionDenied,
    ReadOnly,
    ResourceExhausted,
    StorageFull,
    Unavailable,
    Unsupported,
)
from ._open import open
from ._pipeline import Pipeline
from ._remote import connect
from ._request import Request
from ._results import (
    AgentAnswer,
    CheckReport,
    CollectionInfo,
    Context,
    Explanation,
    FacetCount,
    FusedHit,
    LegStanding,
    Passage,
    Stats,
    WhyNot,
    WriteReport,
)
from ._tools import VectorSimilarity, evaluate, fuse

_show.set_up()

__all__ = [
    "AgentAnswer", "AlreadyExists", "Answer", "Cancelled", "CheckReport", "Chunk", "Collection", "CollectionInfo",
    "Conflict", "Context", "Correction", "Corruption", "Database", "DeadlineExceeded", "Effect", "Embedder",
    "Error", "ExperimentSide", "Explanation", "FacetCount", "FusedHit", "Hit", "HitLeg", "InvalidArgument", "IoError",
    "LegStanding", "Locked", "NotFound", "Passage", "PermissionDenied", "Pipeline", "Preprocessor", "Principal", "ReadOnly",
    "Receipt", "ReceiptSource", "ReceiptStage", "Request", "Reranker", "ResourceExhausted",
    "SourceReport", "Stage", "StageHit", "Stats", "StorageFull", "Suggestion", "Timings", "Unavailable",
    "Unsupported", "VectorSimilarity", "WhyNot", "WriteReport", "__version__", "connect",
    "evaluate", "fuse", "open",
]
