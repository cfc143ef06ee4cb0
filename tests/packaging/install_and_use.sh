#!/usr/bin/env bash
# install_and_use.sh SOURCE BUILD WORK CMAKE CXX: installs BUILD, moves the result, and builds and
# runs the consumer project against it. Nothing installed may name SOURCE or BUILD.
set -euo pipefail
source=$1 build=$2 work=$3 cmake=$4 cxx=$5

rm -rf "$work/first" "$work/moved" "$work/consumer"
for component in library program; do
    "$cmake" --install "$build" --prefix "$work/first" --component "$component" >/dev/null
done
mv "$work/first" "$work/moved"

echo "== only public headers, one archive, one package"
diff <(cd "$source/include" && find braid -name '*.hpp' | sort) \
    <(cd "$work/moved/include" && find . -type f | sed 's,^\./,,' | sort)
[[ $(find "$work/moved" -name '*.a' | wc -l) == 1 ]]

echo "== nothing of the doors in the archive: no object, no symbol, no library that only they need"
symbols=$(nm -C "$(find "$work/moved" -name '*.a')")
grep -q ' T braid::Database::open' <<<"$symbols"
grep -q ' T braid::net::HttpClient::send' <<<"$symbols"
if grep -E 'boost::|braid::(cli|server)::|braid::net::(Http(Server|Handler)|Incoming|RequestParser|WorkerPool)| U (SSL|BIO|X509|PEM)_' \
    <<<"$symbols"; then
    echo "the symbols above belong to the server or the command line"
    exit 1
fi

echo "== no path of this machine"
if grep -rlaF -e "$source" -e "$build" "$work/moved"; then
    echo "the files above name the tree they were built in"
    exit 1
fi

echo "== a project of its own"
"$cmake" -S "$source/tests/packaging/consumer" -B "$work/consumer" -G Ninja \
    --log-level=NOTICE -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/moved"
"$cmake" --build "$work/consumer"
[[ $("$work/consumer/consumer") == "a: Red foxes hunt at dusk." ]]

if [[ -x $work/moved/bin/braid ]]; then
    echo "== the installed program"
    (cd / && env -i "$work/moved/bin/braid" --version)
    for text in man/man1/braid.1 bash-completion/completions/braid zsh/site-functions/_braid \
        fish/vendor_completions.d/braid.fish; do
        [[ -s $work/moved/share/$text ]]
    done
fi
