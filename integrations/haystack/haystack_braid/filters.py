from __future__ import annotations

from datetime import datetime
from typing import Any

from haystack.errors import FilterError

_COMPARISONS = {">": "$gt", ">=": "$gte", "<": "$lt", "<=": "$lte"}
_LISTS = {"in": "$in", "not in": "$nin"}
_LOGIC = ("AND", "OR", "NOT")


def _field(name: str) -> str:
    if name == "id":
        return "chunk_id"
    return "metadata." + name.removeprefix("meta.")


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _comparison(field: str, operator: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {field: {"$in": []}}
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, list) or (isinstance(value, str) and not _is_date(value)):
        raise FilterError(f"{operator!r} needs a number or a date, got {value!r}")
    return {field: {_COMPARISONS[operator]: value}}


def _condition(given: dict[str, Any]) -> dict[str, Any]:
    for key in ("operator", "value"):
        if key not in given:
            raise FilterError(f"{key!r} is missing in {given!r}")
    field, operator, value = _field(given["field"]), given["operator"], given["value"]
    missing = {"$or": [{field: {"$exists": False}}, {field: None}]}
    if operator in ("==", "!="):
        same = missing if value is None else {field: {"$eq": value}}
        return same if operator == "==" else {"$not": same}
    if operator in _COMPARISONS:
        return _comparison(field, operator, value)
    if operator in _LISTS:
        if not isinstance(value, list):
            raise FilterError(f"{operator!r} needs a list, got {value!r}")
        return {field: {_LISTS[operator]: value}}
    raise FilterError(f"unknown operator {operator!r}")


def to_filter(given: dict[str, Any] | None) -> dict[str, Any] | None:
    """Haystack's filters in braid's words; None matches everything."""
    if not given:
        return None
    if "field" in given:
        return _condition(given)
    for key in ("operator", "conditions"):
        if key not in given:
            raise FilterError(f"{key!r} is missing in {given!r}")
    if given["operator"] not in _LOGIC:
        raise FilterError(f"unknown operator {given['operator']!r}")
    clauses = [to_filter(condition) or {} for condition in given["conditions"]]
    if given["operator"] == "OR":
        return {"$or": clauses}
    return {"$not": {"$and": clauses}} if given["operator"] == "NOT" else {"$and": clauses}
