#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the CUDA backend on a machine with a GPU: part by part, each meant to take less than 8
# minutes, without a network. What each found is appended to one report.
# Usage: scripts/gpu_check.sh PART...
#   build       everything, the plugin for the GPU that is there
#   suite       every test that runs on a GPU; only what needs a second one may be skipped
#   memcheck racecheck initcheck synccheck
#               the same tests, but for those of CUDA's own rules, under a tool of
#               compute-sanitizer; memcheck:2/4: their second quarter
#   first       what is looked at first (scripts/gpu_first.sh); first:floor one subject alone
#   bench       the example from start to end, then training steps beside PyTorch and JAX if they
#               are there, float32 and TF32: half an hour; bench:64 does batches of 64 alone
# Environment: TERN_BUILD, the folder to build in (build-gpu); TERN_REPORT, the report
# (gpu-check.txt there); TERN_DEPS, a folder in which packages were unpacked (dpkg -x) that the
# machine lacks: libcmocka0, libcmocka-dev, zlib1g-dev, dataset-fashion-mnist.
TERN_BUILD=${TERN_BUILD:-$(cd "$(dirname "$0")/.." && pwd)/build-gpu}
. "$(dirname "$0")/common.sh"

# shellcheck source=scripts/gpu_first.sh
. "$root/scripts/gpu_first.sh"
mkdir -p "$build"
report=${TERN_REPORT:-$build/gpu-check.txt}
status=0

note()
{
    printf '%s\n' "$*" | tee -a "$report" >&2
}

# Packages that lie in a folder are found there; the data set where programs look for it.
use_packages()
{
    [ -n "${TERN_DEPS:-}" ] || return 0
    triplet=$(cc -dumpmachine)
    libraries=$TERN_DEPS/usr/lib/$triplet
    export PKG_CONFIG_PATH="$libraries/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$TERN_DEPS"
    export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    export CPATH="$TERN_DEPS/usr/include" LIBRARY_PATH="$libraries"
    if [ ! -e /usr/share/datasets ] && [ -d "$TERN_DEPS/usr/share/datasets" ]; then
        ln -s "$TERN_DEPS/usr/share/datasets" /usr/share/datasets || note "no data set"
    fi
}

gpu()
{
    nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null |
        head -n 1
}

# As nvcc's -arch has it: 90.
architecture()
{
    archs=$(gpu | sed 's/.*, //; s/\.//')
    echo "${archs:-90}"
}

part_build()
{
    configure "$build" -Dtests=enabled -Dexamples=enabled -Dcuda=enabled \
        -Dgpu_archs="$(architecture)" &&
        ninja -C "$build" >&2
}

# tests OPTION OF MESON TEST...: the tests that run on a GPU, without which they fail.
tests()
{
    TERN_REQUIRE_CUDA=1 meson test -C "$build" --no-rebuild --print-errorlogs "$@" >&2
}

part_suite()
{
    suite_status=0
    tests --suite gpu --logbase gpu || suite_status=1
    note "  $(python3 "$root/scripts/count_cases.py" "$build/meson-logs/gpu.json" | tail -n 1)"
    return $suite_status
}

# The names of every `count`-th test, from the first-th on. The tools would report the errors that
# tests of CUDA's rules provoke.
shard()
{
    meson test -C "$build" --no-rebuild --list --suite gpu 2>/dev/null |
        sed 's/.* \/ //; /^rules_/d' |
        awk -v first="$1" -v count="$2" '(NR - first) % count == 0'
}

# The options of a tool. memcheck also looks for memory that a program leaves behind, and keeps
# allocations apart.
options_of()
{
    echo "--tool $1 --require-cuda-init no --error-exitcode 9"
    [ "$1" != memcheck ] || echo "--leak-check full --check-device-heap yes --padding 512"
}

# Where each block is an allocation of its own, memcheck knows where it ends: for the tests of
# kernels. wrapped TOOL NAME CACHE TEST...
wrapped()
{
    wrapper=$1
    log=$2
    cache=$3
    shift 3
    [ $# = 0 ] || TERN_CACHE=$cache tests -t 20 --wrap "$wrapper" --logbase "$log" "$@"
}

# sanitize TOOL FIRST COUNT. A machine that does not let the tool run says so in the smallest test.
sanitize()
{
    tool="compute-sanitizer $(options_of "$1" | tr '\n' ' ')"
    command -v compute-sanitizer >/dev/null || { note "  not here: compute-sanitizer"; return 77; }
    if ! TERN_CUDA_PLUGIN="$build/src/cuda/libtern-cuda.so" $tool \
        "$build/tests/devices/test_meeting" cuda >"$build/$1.log" 2>&1 &&
        ! grep -q 'ERROR SUMMARY: [1-9]' "$build/$1.log"; then
        note "  refused: $(grep -i -m 1 -e error -e support "$build/$1.log")"
        return 77
    fi
    chosen=$(shard "$2" "$3")
    [ -n "$chosen" ] || { note "  no test is left for this shard"; return 1; }
    kernels=$(echo "$chosen" | grep -e '^conformance' -e '^R' || true)
    others=$(echo "$chosen" | grep -v -e '^conformance' -e '^R' || true)
    sanitize_status=0
    # shellcheck disable=SC2086 # one word a test
    wrapped "$tool" "$1-kernels" 0 $kernels || sanitize_status=1
    # shellcheck disable=SC2086
    wrapped "$tool" "$1" 1 $others || sanitize_status=1
    return $sanitize_status
}

# with MODULE OPTION: the option and python3, where that has the module.
with()
{
    python3 -c "import $1" 2>/dev/null && printf '%s python3' "$2"
}

# The example from start to end, with an empty cache of the driver's and with what that left there.
first_starts()
{
    export CUDA_CACHE_PATH="$build/cuda-cache"
    rm -rf "$CUDA_CACHE_PATH"
    for start in first second; do
        begun=$(date +%s%N)
        "$build/examples/mlp_mnist/mlp_mnist" --device cuda --quiet >"$build/bench.log" 2>&1 ||
            { note "  mlp_mnist: $(tail -n 1 "$build/bench.log")" && return 1; }
        took=$((($(date +%s%N) - begun) / 1000000))
        note "  mlp_mnist, $start start, $took ms: $(tail -n 1 "$build/bench.log")"
    done
}

# compare OPTION...: what it prints goes to the report line by line, so that none is lost.
compare()
{
    rm -f "$build/bench.failed"
    # shellcheck disable=SC2046 # options
    { python3 "$root/bench/compare.py" --tern "$build/bench/train_bench" --device cuda:0 \
        --variants eager compile reduce-overhead graph graph-compile \
        $(with torch --torch) $(with jax --jax) "$@" 2>&1 ||
        touch "$build/bench.failed"; } | tee -a "$report" >&2
    [ ! -e "$build/bench.failed" ]
}

# bench BATCH, or all for "".
bench()
{
    ninja -C "$build" bench/train_bench >&2 || return 1
    [ -z "$(with torch x)" ] && note "  not here: PyTorch"
    [ -z "$(with jax x)" ] && note "  not here: JAX"
    export TERN_CUDA_PLUGIN="$build/src/cuda/libtern-cuda.so"
    failed=0
    first_starts || failed=1
    compare ${1:+--batch "$1"} || failed=1
    compare --tf32 ${1:+--batch "$1"} || failed=1
    return $failed
}

# part NAME, NAME:FIRST/COUNT or bench:BATCH
part()
{
    name=${1%%:*}
    which=${1#"$name"}
    which=${which#:}
    first=${which%%/*}
    count=${which##*/}
    case $name in
    build) part_build ;;
    suite) part_suite ;;
    bench) bench "$which" ;;
    first) look_first "$which" ;;
    *) sanitize "$name" "${first:-1}" "${count:-1}" ;;
    esac
}

for word in "$@"; do
    case ${word%%:*} in
    build | suite | memcheck | racecheck | initcheck | synccheck | bench | first) ;;
    *) say "unknown part: $word" && exit 2 ;;
    esac
done

[ $# -gt 0 ] || { sed -n '3,/^[^#]/s/^# //p' "$0" && exit 2; }
use_packages
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
device=$(gpu)
note "$(date -u +%Y-%m-%dT%H:%M) commit $commit, ${device:-no GPU}"
for word in "$@"; do
    if [ "${word%%:*}" != build ] && [ -z "$device" ]; then
        note "$word: skipped, no NVIDIA driver"
        continue
    fi
    begin=$(date +%s)
    result=0
    (part "$word") || result=$?
    case $result in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED && status=1 ;;
    esac
    note "$word: $result, $(($(date +%s) - begin)) s"
done
exit $status
