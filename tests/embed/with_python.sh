#!/bin/sh
# with_python.sh PYTHON SCRIPT ARGUMENTS...: runs a reference script, or skips (exit 77) with a reason.
# The environment's BRAID_PYTHON goes before the one given.
python=${BRAID_PYTHON:-$1}
shift
if ! command -v "$python" >/dev/null 2>&1; then
    echo "SKIPPED: no Python at '$python' (set BRAID_PYTHON)"
    exit 77
fi
exec "$python" "$@"
