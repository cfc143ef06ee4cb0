#!/bin/sh
# run.sh BRAID SCRIPT: runs a client's script against the program; skipped (77) without the client.
here=$(cd "$(dirname "$0")" && pwd)
place=${BRAID_CLIENTS:-$here/../../build/clients}
export BRAID_CLIENTS="$place"
case $2 in
*.py)
    sh "$here/setup.sh" python || exit $?
    exec "$place/venv/bin/python" -B "$here/$2" "$1"
    ;;
*.mjs)
    sh "$here/setup.sh" node || exit $?
    # Node looks for packages beside the script.
    cp "$here/$2" "$here/server.mjs" "$place/node/"
    exec node "$place/node/$2" "$1"
    ;;
esac
