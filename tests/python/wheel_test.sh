#!/bin/sh
# wheel_test.sh PYTHON SOURCE: builds the wheel, installs it into an empty environment, and uses it.
set -eu
python=$1 source=$2
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    echo "skipped: no $python that can make an environment"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! "$python" -m pip --disable-pip-version-check download -q --no-deps -d "$work/probe" \
    nanobind==3.1.0 scikit-build-core==1.1.1; then
    echo "skipped: the packages that build a wheel cannot be fetched"
    exit 77
fi
"$python" -m pip --disable-pip-version-check wheel -q --no-deps -w "$work/dist" "$source"
"$python" -m venv "$work/env"
"$work/env/bin/pip" --disable-pip-version-check install -q "$work"/dist/braid-*.whl
cd "$work"
cat >four.py <<'PYTHON'
import braid
db = braid.open("./data")
db["notes"].add([{"text": "Red foxes hunt at dusk."}])
print(db["notes"].retrieve("when do foxes hunt?"))
PYTHON
env -i PATH=/usr/bin:/bin HOME="$work" "$work/env/bin/python" four.py | tee said
grep -q 'Red foxes hunt at dusk' said
cp "$source"/tests/python/*.py .
PYTHONPATH="$work" "$work/env/bin/python" -m unittest database_test callables_test process_test
