"""What can go wrong, by the engine's error codes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


class Error(Exception):
    """Any failure of braid. `code` is the engine's name for it, the same at every door."""

    code = "error"


class InvalidArgument(Error, ValueError):
    code = "invalid_argument"


class NotFound(Error, KeyError):
    code = "not_found"

    def __str__(self) -> str:
        return Exception.__str__(self)  # a KeyError's would be quoted


class AlreadyExists(Error):
    code = "already_exists"


class Conflict(Error):
    code = "conflict"


class Corruption(Error):
    code = "corruption"


class IoError(Error, OSError):
    code = "io_error"


class ReadOnly(Error):
    code = "read_only"


class Locked(Error):
    code = "locked"


class PermissionDenied(Error):
    code = "permission_denied"


class DeadlineExceeded(Error, TimeoutError):
    code = "deadline_exceeded"


class Cancelled(Error):
    code = "cancelled"


class ResourceExhausted(Error):
    code = "resource_exhausted"


class Unavailable(Error):
    code = "unavailable"


class Unsupported(Error):
    code = "unsupported"


class StorageFull(Error, OSError):
    code = "storage_full"


_BY_NAME: dict[str, type[Error]] = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        NotFound,
        AlreadyExists,
        Conflict,
        Corruption,
        IoError,
        ReadOnly,
        Locked,
        PermissionDenied,
        DeadlineExceeded,
        Cancelled,
        ResourceExhausted,
        Unavailable,
        Unsupported,
        StorageFull,
    )
}


def by_name(code: str, message: str) -> Error:
    return _BY_NAME.get(code, Error)(message)


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def datetime_of(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
