#!/bin/sh
# setup.sh python|node: other people's clients into build/clients, once; pinned, hashes checked.
# Exit 77 (skipped), with the reason, where they cannot be had.
here=$(cd "$(dirname "$0")" && pwd)
place=${BRAID_CLIENTS:-$here/../../build/clients}
mkdir -p "$place"
exec 9>"$place/lock"
flock 9

skip() {
    echo "SKIPPED: $1"
    exit 77
}

case $1 in
python)
    stamp=$place/python.stamp
    cmp -s "$here/requirements.txt" "$stamp" && exit 0
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        skip "no Python 3.11 or newer that makes environments"
    python3 -m venv --clear "$place/venv" >"$place/python.log" 2>&1 &&
        "$place/venv/bin/python" -m pip install --quiet --no-deps --require-hashes \
            --only-binary :all: -r "$here/requirements.txt" >>"$place/python.log" 2>&1 ||
        skip "the Python packages cannot be installed: $(tail -n 1 "$place/python.log")"
    cp "$here/requirements.txt" "$stamp"
    ;;
node)
    stamp=$place/node.stamp
    cmp -s "$here/package-lock.json" "$stamp" && exit 0
    node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null ||
        skip "no Node.js 20 or newer"
    mkdir -p "$place/node"
    cp "$here/package.json" "$here/package-lock.json" "$place/node/"
    (cd "$place/node" && npm ci --ignore-scripts --no-audit --no-fund) >"$place/node.log" 2>&1 ||
        skip "the npm packages cannot be installed: $(tail -n 1 "$place/node.log")"
    cp "$here/package-lock.json" "$stamp"
    ;;
esac
