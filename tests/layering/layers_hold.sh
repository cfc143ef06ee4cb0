#!/usr/bin/env bash
# layers_hold.sh SOURCE WORK CMAKE CXX: the scratch project builds as it is, and each way of breaking
# the layers is refused, by the compiler or by the configure step, for the reason expected.
set -euo pipefail
source=$1 work=$2 cmake=$3 cxx=$4
here=$source/tests/layering

# try CASE: configures and builds; the output goes to $work/log
try() {
    { "$cmake" -S "$here/scratch" -B "$work/scratch" -G Ninja -DCASE="$1" \
        -DCMAKE_CXX_COMPILER="$cxx" -DBRAID_CMAKE_DIR="$source/cmake" &&
        "$cmake" --build "$work/scratch"; } >"$work/log" 2>&1
}
fail() {
    echo "$1"
    cat "$work/log"
    exit 1
}
refused() {
    if try "$1"; then fail "$1: not refused"; fi
    grep -qF "$2" "$work/log" || fail "$1: refused, but not with '$2'"
    echo "$1: refused"
}

rm -rf "$work/scratch"
mkdir -p "$work"
try legal || fail "legal: refused"
echo "legal: builds"
refused upward_include "braid/top/top.hpp: No such file or directory"
refused include_of_a_stranger "braid/middle/middle.hpp: No such file or directory"
refused include_through_uses "braid/middle/middle.hpp: No such file or directory"
refused upward_deps "layering: 'low' may not depend on 'top'"
refused circular_uses "layering: 'middle' may not depend on 'top'"
try legal || fail "legal: refused the second time"
