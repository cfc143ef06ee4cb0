#!/usr/bin/env bash
# Indexes the sample with the default model into a store on disk, asks its 60 questions by words, by
# meaning and by both, and expects both together to find more than either (nDCG@10).
#
#   wiki_test.sh BRAID EXAMPLES
set -euo pipefail

braid=$1 examples=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"  # no configuration of somebody else's
export XDG_CONFIG_HOME=$place BRAID_DATA=$place/data

if ! "$braid" ingest "$examples/wiki" --collection wiki --embedder bge --quiet 2> log; then
    cat log >&2
    if grep -q "tools/fetch_models" log; then exit 77; fi
    exit 1
fi
for strategy in sparse dense hybrid; do
    "$braid" run --collection wiki --queries "$examples/queries/wiki.jsonl" --strategy "$strategy" \
        --top-k 10 --out "$strategy.trec" --quiet
done
"$braid" eval --qrels "$examples/qrels/wiki.tsv" --measures nDCG@10 \
    sparse.trec dense.trec hybrid.trec
"$braid" eval --json --qrels "$examples/qrels/wiki.tsv" --measures nDCG@10 \
    sparse.trec dense.trec hybrid.trec > eval.json
"$braid" retrieve "who overthrew a cruel captain?" --collection wiki --json > answer.json

python3 - <<'PYTHON'
import json
import sys

answer = json.load(open("answer.json"))
print("one answer:", {name: round(value, 2) for name, value in answer["timings"].items()})
assert answer["complete"], answer["warnings"]
assert {source["source"] for source in answer["sources"] if source["ran"]} == {"dense", "sparse"}

means = {run["name"]: run["measures"]["nDCG@10"] for run in json.load(open("eval.json"))["runs"]}
print("nDCG@10:", means)
best = max(means[name] for name in means if "hybrid" not in name)
hybrid = next(means[name] for name in means if "hybrid" in name)
sys.exit(0 if hybrid > best else f"hybrid {hybrid} is not above both legs")
PYTHON
