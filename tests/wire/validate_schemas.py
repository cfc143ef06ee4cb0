"""Validates generated requests and answers, and the schemas' own examples, against docs/*.schema.json.

Usage: validate_schemas.py DOCS FOLDER, where FOLDER holds requests.jsonl and answers.jsonl.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

REFUSED_REQUESTS = [
    {"topk": 5}, {"top_k": 0}, {"top_k": 10001}, {"dense_weight": 1.5}, {"fusion": "rff"},
    {"fusion": {"methd": "rrf"}}, {"weights": {"dense": -1}}, {"text": "x"},
    {"collections": []}, {"stages": [{"a": {}, "b": {}}]}, {"config": {"config": {}}}, [],
]


def main() -> int:
    docs, folder = map(pathlib.Path, sys.argv[1:3])
    failures = 0
    for name in ("request", "answer"):
        schema = json.loads((docs / f"{name}.schema.json").read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        lines = (folder / f"{name}s.jsonl").read_text(encoding="utf-8").split("\n")
        values = [json.loads(line) for line in lines if line] + schema.get("examples", [])
        for value in values:
            for error in validator.iter_errors(value):
                print(f"{name}: {error.json_path}: {error.message}", file=sys.stderr)
                failures += 1
        for value in REFUSED_REQUESTS if name == "request" else []:
            if validator.is_valid(value):
                print(f"accepted, though wrong: {value}", file=sys.stderr)
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
