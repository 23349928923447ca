#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# no_network.sh PROGRAM: looking up lines asks no server, also where DEBUGINFOD_URLS names some.
set -eu
command -v strace >/dev/null || { echo "skipped: there is no strace"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! strace -o /dev/null true 2>/dev/null; then
    echo "skipped: programs may not be traced here"
    exit 77
fi
# Under a tracer leaks cannot be looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
DEBUGINFOD_URLS=http://127.0.0.1:9/ strace -f -o "$log" "$1" >/dev/null 2>&1
grep -q 'libdw.so.1' "$log" || { echo "FAILED: libdw was not opened"; exit 1; }
if grep -E '(socket\(AF_INET|connect\()' "$log"; then
    echo "FAILED: a network was asked"
    exit 1
fi
