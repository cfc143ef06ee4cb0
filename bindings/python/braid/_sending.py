"""Files on their way to a server."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable
from typing import Any

from ._braid import Chunk, StopSource
from ._errors import Cancelled, InvalidArgument, Unsupported

PAGE = 500
_HERE = ("include", "exclude", "everything", "prune", "dry_run", "strict", "replace")
_SUM = "source_sha256"


def form_of(fields: dict[str, str], name: str, content: bytes) -> tuple[str, bytes]:
    """multipart/form-data: its content type, and its body."""
    mark = secrets.token_hex(16)
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    file = os.path.basename(name).replace('"', "_").replace("\r", "_").replace("\n", "_") or "file"
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'
    body = b"".join([*parts, head.encode(), content, f"\r\n--{mark}--\r\n".encode()])
    return f"multipart/form-data; boundary={mark}", body


def report_of(answer: dict[str, Any], collection: str, created: bool) -> dict[str, Any]:
    """What a server says of files, as a report of `ingest`."""
    files = [
        {"path": document.get("name", document["document_id"]),
         "state": "stored" if document["chunks"] else "skipped",
         **({} if document["chunks"] else {"reason": "without text"}),
         "document_id": document["document_id"], "chunks": document["chunks"],
         "format": document.get("format", ""), "encoding": document.get("encoding", "")}
        for document in answer["documents"]
    ]
    stored = sum(file["state"] == "stored" for file in files)
    warnings = [text for document in answer["documents"] for text in document.get("warnings", [])]
    return {
        "collection": collection,
        "created": created,
        "chunks": sum(file["chunks"] for file in files),
        "removed": sum(document.get("removed", 0) for document in answer["documents"]),
        "stored": stored, "unchanged": 0, "skipped": len(files) - stored, "failed": [],
        "failed_lines": 0, "gone": [], "files": files, "warnings": warnings,
    }


class Sending:
    """Folders to a server: found and looked into here, by the rules of `braid ingest`, and cut there.
    A file whose bytes are those of the last run is not sent again."""

    def __init__(
        self,
        send: Callable[[str, bytes, str, dict[str, Any]], dict[str, Any]],
        first: Callable[[str], Chunk | None],
        stored: Callable[[str, str], list[Chunk]],
        remove: Callable[[list[str]], int],
    ) -> None:
        self._send, self._first, self._stored, self._remove = send, first, stored, remove

    def run(
        self, paths: list[str], options: dict[str, Any], stop: StopSource | None
    ) -> dict[str, Any]:
        from ._open import open as open_database

        unknown = [key for key in options if key not in _HERE]
        if unknown:
            raise Unsupported(f"the server cuts files itself: {', '.join(unknown)} works only on a "
                              "database in this process, or with `braid ingest`")
        local = {**options, "dry_run": True, "prune": False}
        with open_database(None, embedder="none") as here:
            report = here["files"].ingest(paths, **local)
        roots = {os.path.realpath(path) for path in paths if os.path.isdir(path)}
        report |= {"chunks": 0, "removed": 0, "stored": 0, "unchanged": 0, "gone": [], "created": False}
        ids = set()
        for file in report["files"]:
            if file["state"] != "stored":
                continue
            if stop is not None and stop.stop_requested:
                raise Cancelled("the call was cancelled; files already sent stay stored")
            ids.add(file["document_id"])
            self._send_one(file, roots, report, options)
        if roots:
            self._look_for_gone(roots, ids, report, options)
        return report

    def _send_one(
        self, file: dict[str, Any], roots: set[str], report: dict[str, Any], options: dict[str, Any]
    ) -> None:
        place = os.path.realpath(os.path.expanduser(file["path"]))
        with open(place, "rb") as opened:
            content = opened.read()
        id, sum = file["document_id"], hashlib.sha256(content).hexdigest()
        root = next((r for r in roots if place.startswith(r + os.sep)), os.path.dirname(place))
        before = self._first(id)
        if before is not None and before.metadata.get("source") not in (None, place) and not options.get(
            "replace"
        ):
            reason = f"another file, {before.metadata['source']}, is stored as {id!r}"
            self._fail(file, reason, report, options)
        elif before is not None and before.metadata.get(_SUM) == sum:
            file["state"], file["chunks"] = "unchanged", 0
            report["unchanged"] += 1
        elif options.get("dry_run"):
            report["stored"] += 1
        else:
            metadata = {"source": place, "source_root": root, _SUM: sum,
                        "source_path": os.path.relpath(place, root)}
            try:
                sent = self._send(place, content, id, metadata)
            except InvalidArgument as wrong:
                self._fail(file, str(wrong), report, options)
                return
            file["chunks"] = sent["chunks"]
            for key in ("chunks", "removed", "stored"):
                report[key] += sent[key]
            report["created"] = report["created"] or sent["created"]
            report["warnings"] += sent["warnings"]

    @staticmethod
    def _fail(
        file: dict[str, Any], reason: str, report: dict[str, Any], options: dict[str, Any]
    ) -> None:
        if options.get("strict"):
            raise InvalidArgument(f"{file['path']}: {reason}")
        file |= {"state": "failed", "reason": reason, "chunks": 0}
        report["failed"].append(f"{file['path']}: {reason}")

    def _look_for_gone(
        self, roots: set[str], ids: set[str], report: dict[str, Any], options: dict[str, Any]
    ) -> None:
        narrow = bool(options.get("include") or options.get("exclude"))
        for root in sorted(roots):
            after = ""
            while True:
                page = self._stored(root, after)
                for chunk in page:
                    exists = narrow and os.path.exists(str(chunk.metadata.get("source", "")))
                    if chunk.document_id not in ids and not exists:
                        report["gone"].append(chunk.document_id)
                if len(page) < PAGE:
                    break
                after = page[-1].chunk_id
        if report["gone"] and options.get("prune") and not options.get("dry_run"):
            report["removed"] += self._remove(report["gone"])
