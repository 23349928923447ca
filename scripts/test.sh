#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test. The last line counts the cases.
# Usage: scripts/test.sh [--plain | --sanitizers | --long] [options of `meson test`]
#   --plain        nothing more, as without a word
#   --sanitizers   then again in builds with gcc's sanitizers of addresses and undefined
#                  behaviour, and clang's of threads; of clang alone where that is the compiler
#   --long         those, and what takes hours: every case of a sweep, valgrind, ten trainings
# An option of `meson test` is for example --suite unit. Without --long one representative of each
# family of a sweep runs.
. "$(dirname "$0")/common.sh"

mode=plain
case ${1:-} in
--plain | --sanitizers | --long) mode=${1#--} && shift ;;
esac

need gcc libc6-dev g++ meson ninja-build pkg-config python3 zlib1g-dev libpng-dev libjpeg-dev \
    libcmocka-dev libdw1 dataset-fashion-mnist
[ "$mode" = plain ] || need clang libclang-rt-dev clang-format doxygen cmake valgrind
[ "$mode" != long ] || export TERN_TEST_LONG=1
werror=false # a compiler newer than this tree may warn of more: only our own runs insist
[ -z "${CI:-}" ] || werror=true
status=0
logs= # one line each
newline='
'
sweeps='--no-suite long'
[ "$mode" != long ] || sweeps=

# suites NAME DIRECTORY OPTION OF MESON TEST...: runs them; their log is counted under the name.
# shellcheck disable=SC2086 # words
suites()
{
    name=$1
    dir=$2
    shift 2
    say "testing: $name"
    begun=$(date +%s)
    meson test -C "$dir" --no-rebuild --print-errorlogs -t 5 --logbase "$name" \
        $sweeps "$@" >&2 || status=1
    say "tested: $name, in $(($(date +%s) - begun)) s"
    logs=$logs$dir/meson-logs/$name.json$newline
}

# build_in DIRECTORY OPTION...
build_in()
{
    configure "$@" -Dtests=enabled
    ninja -C "$1" all meson-test-prereq >&2
}

# sanitized COMPILER WHAT SIMULATION OPTION OF MESON TEST...
# Of the CUDA backend the simulated device can be watched: SIMULATION is enabled or disabled. The
# kernels for AVX-512 are those for AVX2 with wider vectors: the plain build has them.
sanitized()
{
    compiler=$1
    what=$2
    with_simulation=$3
    shift 3
    name=$compiler-$(echo "$what" | tr , -)
    # -g1 has the lines that reports name; with -g the same files take half as long again to
    # compile.
    flags='-g1 -fno-sanitize-recover=all'
    case $what in
    *undefined*) flags="-fsanitize=float-cast-overflow $flags" ;;
    esac
    (
        if [ "$compiler" = clang ]; then
            export CC=clang CXX=clang++
        fi
        build_in "$build-$name" -Dexamples=disabled -Doptimization=1 -Ddebug=false \
            -Db_sanitize="$what" -Davx512=false -Db_lundef=false -Dc_args="$flags" \
            -Dc_link_args="$flags" -Dcuda=disabled -Dcudasim="$with_simulation"
    )
    # What others see of a build is the plain one's; the stored runs repeat what other tests do.
    suites "$name" "$build-$name" --no-suite build --no-suite style --no-suite docs \
        --no-suite golden "$@"
}

# One kind of GPU is enough to see that everything compiles.
build_in "$build" -Dexamples=enabled -Dwerror=$werror -Dgpu_archs=90
suites plain "$build" "$@"
if [ "$mode" != plain ]; then
    simulation=disabled
    [ "$(uname -m)" != x86_64 ] || simulation=enabled
    if $(compiler c) --version | grep -q clang; then
        sanitized clang address,undefined "$simulation" "$@"
    else
        sanitized gcc address,undefined "$simulation" "$@"
        [ "$mode" != long ] || sanitized clang address,undefined disabled "$@"
    fi
    # Readers of files and random programs, tried above, have no threads of their own.
    sanitized clang thread "$simulation" --no-suite one-thread --no-suite io --no-suite fuzz \
        --no-suite tools "$@"
fi
if [ "$mode" = long ]; then
    # shellcheck source=scripts/long.sh
    . "$root/scripts/long.sh"
fi
IFS=$newline
set -f
# shellcheck disable=SC2086 # one line a log
python3 "$root/scripts/count_cases.py" $logs || status=1
exit $status
