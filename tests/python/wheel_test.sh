#!/bin/sh
# wheel_test.sh PYTHON SOURCE: builds the wheel, from the tree and from the source package, installs each
# into an empty environment, and uses it.
set -eu
python=$1 source=$2
pip="pip --disable-pip-version-check"
if ! "$python" -c 'import venv, ensurepip' 2>/dev/null; then
    echo "skipped: no $python that can make an environment"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/maker"
if ! "$work/maker/bin/python" -m $pip install -q nanobind==3.1.0 scikit-build-core==1.1.1; then
    echo "skipped: the packages that build a wheel cannot be fetched"
    exit 77
fi
cat >"$work/four.py" <<'PYTHON'
import braid
db = braid.open("./data")
db["notes"].add([{"text": "Red foxes hunt at dusk."}])
print(db["notes"].retrieve("when do foxes hunt?"))
PYTHON

# installed WHEEL PLACE: the four lines, with nothing but the wheel
installed() {
    mkdir "$2"
    "$python" -m venv "$2/env"
    "$2/env/bin/python" -m $pip install -q "$1"
    (cd "$2" && env -i PATH=/usr/bin:/bin HOME="$2" env/bin/python "$work/four.py" >said)
    cat "$2/said"
    grep -q 'Red foxes hunt at dusk' "$2/said"
    # The command, over what the four lines stored: the same models.
    (cd "$2" && env -i PATH=/usr/bin:/bin HOME="$2" env/bin/braid retrieve "when do foxes hunt?" --data data --collection notes >found)
    cat "$2/found"
    grep -q 'dense #1' "$2/found"
}

# Python 3.12 and all later share one wheel.
tag=$("$python" -c 'import sys; v = sys.version_info; print("cp312-abi3" if v >= (3, 12) else f"cp3{v.minor}-cp3{v.minor}")')

"$python" -m $pip wheel -q --no-deps -w "$work/dist" "$source"
if [ "$tag" = cp312-abi3 ]; then # the tag alone says nothing about the module
    "$python" -m zipfile -l "$work"/dist/braid-*.whl | grep -q '_braid\.abi3\.so'
fi
installed "$work"/dist/braid-*-"$tag"-*.whl "$work/tree"
cp "$source"/tests/python/*.py "$work/tree"
(cd "$work/tree" && PYTHONPATH=. env/bin/python -m unittest database_test callables_test process_test leak_test container_test program_test)

(cd "$source" && "$work/maker/bin/python" -c "import scikit_build_core.build as b; b.build_sdist('$work')")
models=
if [ -d "$source/build/models/runtime" ]; then # else the build fetches them
    models="-C cmake.define.BRAID_MODEL_DIR=$source/build/models"
fi
# shellcheck disable=SC2086
"$python" -m $pip wheel -q --no-deps $models -w "$work/again" "$work"/braid-*.tar.gz
installed "$work"/again/braid-*-"$tag"-*.whl "$work/package"
