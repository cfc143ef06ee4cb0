#!/bin/sh
# integrations.sh PYTHON PACKAGES PLACE: the suites of integrations/*, with the frameworks (pinned, hashes
# checked) in an environment at PLACE that is made once. Exit 77 where they cannot be had.
set -eu
python=$1 packages=$2 place=$3
here=$(cd "$(dirname "$0")" && pwd)
integrations=$here/../../integrations
skip() {
    echo "skipped: $1"
    exit 77
}
ls "$packages"/braid/_braid*.so >/dev/null 2>&1 || skip "the Python package is not built"
if ! cmp -s "$integrations/requirements.txt" "$place/stamp"; then
    "$python" -m venv --clear "$place" >/dev/null 2>&1 || skip "no $python that makes environments"
    "$place/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes \
        --only-binary :all: -r "$integrations/requirements.txt" || skip "the frameworks cannot be installed"
    cp "$integrations/requirements.txt" "$place/stamp"
fi
for name in langchain llama-index haystack; do
    echo "$name"
    (cd "$integrations/$name" &&
        PYTHONPATH="$packages:$PWD" PYTHONDONTWRITEBYTECODE=1 HAYSTACK_TELEMETRY_ENABLED=False \
            "$place/bin/python" -W ignore -m pytest -q -p no:cacheprovider tests)
done
