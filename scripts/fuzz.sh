#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes what reads files: each target of tests/fuzz/readers by libFuzzer with AddressSanitizer and
# UndefinedBehaviorSanitizer, from the corpora in tests/fuzz/corpus and the files in tests/io/data.
# Prints a line a target; exits 1 when one has a finding, whose input is then in the build folder.
# Usage: scripts/fuzz.sh [--seconds N] [--keep] [TARGET...]
#   --seconds   of each target; 60
#   --keep      what adds coverage goes into the corpora, when nothing was found
. "$(dirname "$0")/common.sh"

seconds=60
keep=
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2 && shift ;;
    --keep) keep=1 ;;
    -*) say "usage: scripts/fuzz.sh [--seconds N] [--keep] [TARGET...]" && exit 2 ;;
    *) break ;;
    esac
    shift
done
need clang libclang-rt-dev libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libcmocka-dev \
    libpng-dev libjpeg-dev
dir=$build-fuzz
corpora=$root/tests/fuzz/corpus
if [ $# = 0 ]; then
    for source in "$root"/tests/fuzz/readers/fuzz_*.c; do
        name=${source##*/fuzz_}
        set -- "$@" "${name%.c}"
    done
fi

export CC=clang CXX=clang++
configure "$dir" -Dtests=enabled -Dexamples=disabled -Dcuda=disabled -Doptimization=1 \
    -Db_sanitize=address,undefined -Db_lundef=false \
    -Dc_args='-fsanitize=fuzzer-no-link -fno-sanitize-recover=all'
# shellcheck disable=SC2046 # one word a target
ninja -C "$dir" $(printf ' tests/fuzz/readers/fuzz_%s' "$@") >&2

# How many runs libFuzzer says it did.
runs_in()
{
    sed -n 's/^stat::number_of_executed_units: *//p' "$1"
}

# keep NAME: of what was found, that which runs code that the corpus does not; short inputs first.
keep()
{
    mkdir -p "$work/kept"
    rm -f "$work/kept"/*
    "$program" -merge=1 -use_counters=0 -max_len=1024 "$work/kept" "$corpora/$1" \
        "$root/tests/io/data" "$work/corpus" >"$work/merge" 2>&1
    sha256sum "$corpora/$1"/* "$root/tests/io/data"/* | cut -c 1-64 >"$work/known"
    for input in "$work/kept"/*; do
        grep -q "$(sha256sum "$input" | cut -c 1-64)" "$work/known" ||
            cp "$input" "$corpora/$1/$(basename "$input" | cut -c 1-16).bin"
    done
}

# fuzz NAME: a line, and 1 when there is a finding.
fuzz()
{
    program=$dir/tests/fuzz/readers/fuzz_$1
    work=$dir/fuzz-$1
    mkdir -p "$work/found" "$work/corpus"
    found=0
    ASAN_OPTIONS=detect_leaks=1 "$program" -max_total_time="$seconds" -timeout=10 -max_len=16384 \
        -print_final_stats=1 -artifact_prefix="$work/found/" "$work/corpus" "$corpora/$1" \
        "$root/tests/io/data" >"$work/log" 2>&1 || found=1
    runs=$(runs_in "$work/log")
    echo "$1: ${runs:-0} executions in $seconds s, $found findings"
    [ "$found" = 0 ] || say "$work/log: $(grep -m 1 -E 'ERROR|error|SUMMARY' "$work/log")"
    [ -z "$keep" ] || [ "$found" != 0 ] || keep "$1"
    return "$found"
}

status=0
for name in "$@"; do
    fuzz "$name" || status=1
done
exit $status
