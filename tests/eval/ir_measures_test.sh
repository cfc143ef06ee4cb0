#!/bin/sh
# ir_measures_test.sh PYTHON ARGUMENTS...: the test with that Python, skipped (77) if it is not there.
python=$1
shift
if [ ! -x "$python" ]; then
    echo "skipped: no $python (make python)"
    exit 77
fi
exec "$python" "$(dirname "$0")/ir_measures_test.py" "$@"
