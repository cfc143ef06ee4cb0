#!/bin/sh
# run.sh PYTHON PACKAGES PROGRAM [FILES]: the tests of the Python package found under PACKAGES.
set -eu
python=$1 packages=$2
export BRAID_PROGRAM="$3"
here=$(cd "$(dirname "$0")" && pwd)
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: no $python with NumPy (make python)"
    exit 77
fi
if ! ls "$packages"/braid/_braid*.so >/dev/null 2>&1; then
    echo "skipped: the Python package is not built (cmake -DBRAID_PYTHON_BINDINGS=ON)"
    exit 77
fi
cd "$here"
PYTHONPATH="$packages:$here" PYTHONDONTWRITEBYTECODE=1 exec "$python" -X faulthandler -m unittest discover -s "$here" -p "${4:-*_test.py}"
