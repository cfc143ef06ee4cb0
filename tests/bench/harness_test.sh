#!/bin/sh
# harness_test.sh PYTHON: the tests with that Python, skipped (77) if it is not there.
python=$1
if [ ! -x "$python" ]; then
    echo "skipped: no $python (make python)"
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec "$python" -m unittest discover -s "$(dirname "$0")" -p "*_test.py"
