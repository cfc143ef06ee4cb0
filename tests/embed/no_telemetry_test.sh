#!/usr/bin/env bash
# no_telemetry_test.sh PROBE MODELS: embedding leaves nothing in a user's home and, where strace is
# installed, opens no socket.
set -euo pipefail
probe=$1 models=$2
if [[ ! -f $models/minilm/model.onnx || ! -f $models/runtime/LICENSE ]]; then
    echo "SKIPPED: no models in $models (run tools/fetch_models)"
    exit 77
fi
home=$(mktemp -d)
trap 'rm -rf "$home" "$home.trace"' EXIT
unset XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME
trace=()
if command -v strace >/dev/null && strace -f -e trace=network -o "$home.trace" true 2>/dev/null; then
    trace=(strace -f -e trace=network -o "$home.trace")
fi
for setting in unset 0 1; do
    if [[ $setting == unset ]]; then
        unset ORT_DISABLE_TELEMETRY
    else
        export ORT_DISABLE_TELEMETRY=$setting
    fi
    printf '\3\0\0\0fox' | HOME=$home "${trace[@]}" "$probe" vectors "$models" minilm query >/dev/null
    if [[ -n $(ls -A "$home") ]]; then
        echo "FAILED: the runtime wrote to the home directory:"
        find "$home"
        exit 1
    fi
    if grep -qE '(socket|connect)\(' "$home.trace" 2>/dev/null; then
        echo "FAILED: the runtime opened a socket:"
        cat "$home.trace"
        exit 1
    fi
done
