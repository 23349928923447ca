#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the CUDA backend on a machine with a GPU, without a network. What is found is in the report
# as soon as it is found, and a step that fails or takes too long does not end the others.
# Usage: scripts/gpu_check.sh 1|2|3|STEP...
#   1, 2, 3     parts of less than 8 minutes each: the steps of a line below, as far as time goes
#
#   machine     1  where things are, and which versions
#   start       1  the first calls
#   suite       1  every test that runs on a GPU
#   facts       1  captures of what never ran, kernels made of PTX
#   floor       1  what nothing on this GPU can be faster than
#   bench       1  training steps at a batch of 64 beside PyTorch's, eager and captured, and beside
#                  tern's own with memory from cudaMallocAsync
#   memcheck    2  the tests, but for those of CUDA's own rules, under a tool of compute-sanitizer
#   products    2  rates of cuBLAS
#   convs       2  rates of convolutions, beside PyTorch's
#   epilogues   2  what cublasLt's epilogues compute
#   racecheck   2  the tests under another tool
#   mnist       3  the example from start to end, twice, first with an empty cache of the driver's
#   peers       3  training steps at 64 and 1024 beside PyTorch, compiled and captured, and JAX
#   tf32        3  the same with TF32 products
#   initcheck synccheck asan build
#               -  further tools; the host's half under AddressSanitizer; a build on the spot
#
# It runs what scripts/gpu_pack.sh made if that is there and starts, else it builds on the spot.
# Environment: TERN_REPORT, the folder for the report, the output of what failed and the timings
# (build-gpu-report); TERN_PACK (build-gpu-pack); TERN_BUILD, the folder to build in (build-gpu);
# TERN_COMMIT, the name of the commit in the report; TERN_PART_SECONDS (460).
# Exit status: 0, 1 when something failed, 2 for an unknown word, 77 when there is no NVIDIA driver,
# 1 for that as well with TERN_REQUIRE_CUDA=1.
. "$(dirname "$0")/gpu_common.sh"

# shellcheck source=scripts/gpu_steps.sh
. "$root/scripts/gpu_steps.sh"
report=${TERN_REPORT:-$root/build-gpu-report}
programs=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

note()
{
    printf '%s\n' "$*" | tee -a "$report/report.txt" >&2
}

steps_of()
{
    case $1 in
    1) echo machine start suite facts floor bench ;;
    2) echo memcheck products convs epilogues racecheck ;;
    3) echo mnist peers tf32 ;;
    *) echo "$1" ;;
    esac
}

# ---- time ---------------------------------------------------------------------------------------

# begin PART OR STEP: the time of a part begins.
begin()
{
    case $1 in
    1 | 2 | 3) deadline=$(($(date +%s) + ${TERN_PART_SECONDS:-460})) ;;
    *) deadline=$(($(date +%s) + 3600)) ;;
    esac
}

# left SECONDS: those, or as many as the part has left.
left()
{
    seconds=$((deadline - $(date +%s)))
    [ "$seconds" -lt "$1" ] || seconds=$1
    [ "$seconds" -gt 0 ] || seconds=0
    echo "$seconds"
}

shown()
{
    echo "$*" | sed "s|$work/||g; s|$root/||g" | cut -c 1-100
}

# look SECONDS COMMAND...: what it prints goes into the report line by line.
look()
{
    within=$(left "$1")
    shift
    if [ "$within" = 0 ]; then
        step_status=1
        note "  no time was left for: $(shown "$@")"
        return
    fi
    {
        ended=0
        timeout -k 5 "$within" "$@" 2>&1 || ended=$?
        echo "$ended" >"$work/ended"
    } | sed -u 's/^/  /' | tee -a "$report/report.txt" >&2
    read -r ended <"$work/ended"
    [ "$ended" != 0 ] || return 0
    step_status=1
    case $ended in
    124 | 137) ended="ended after $within s" ;;
    *) ended="ended with $ended" ;;
    esac
    note "  $ended: $(shown "$@")"
}

# ---- the machine --------------------------------------------------------------------------------

# The GPU, where there is a driver.
gpu()
{
    timeout 30 nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader \
        2>/dev/null | head -n 1 | grep . || python3 -c "import ctypes
assert ctypes.CDLL('libcuda.so.1').cuInit(0) == 0
print('a GPU that nvidia-smi does not show')" 2>/dev/null || true
}

# Without git the tree is taken for the one that was packed.
commit()
{
    if [ -n "${TERN_COMMIT:-}" ]; then
        echo "$TERN_COMMIT"
    else
        git -C "$root" rev-parse --short HEAD 2>/dev/null || cat "$pack/commit" 2>/dev/null ||
            echo unknown
    fi
}

# As nvcc's -arch has it: 90.
architecture()
{
    found=$(echo "$device" | sed -n 's/.*, \([0-9]*\)\.\([0-9]\)$/\1\2/p')
    echo "${found:-90}"
}

unresolved()
{
    ldd "$programs/src/cuda/libtern-cuda.so" 2>/dev/null | awk '/not found/ { print $1; exit }'
}

# Where a toolkit is that is only on the path.
find_toolkit()
{
    [ -z "${CUDA_HOME:-}" ] && [ ! -d /usr/local/cuda ] && command -v nvcc >/dev/null || return 0
    CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    export CUDA_HOME
}

# The toolkit need not be where it was when the programs were built.
find_cuda_libraries()
{
    [ -n "$(unresolved)" ] || return 0
    packages=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' || true)
    for folder in "${CUDA_HOME:-}"/lib64 "${CUDA_HOME:-}"/lib /usr/local/cuda*/lib64 \
        /usr/local/cuda*/targets/*/lib "$packages"/nvidia/*/lib; do
        if [ -e "$folder/$(unresolved)" ]; then
            export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
            [ -n "$(unresolved)" ] || return 0
        fi
    done
    note "not found: $(unresolved)"
    return 1
}

# ---- programs -----------------------------------------------------------------------------------

unpack()
{
    programs=$work/programs
    mkdir "$programs"
    tar -C "$programs" -xJf "$pack/programs.tar.xz" 2>"$work/log" ||
        python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' \
            "$pack/programs.tar.xz" "$programs" 2>"$work/log"
}

starts()
{
    "$programs/examples/mlp_mnist/mlp_mnist" --help >"$work/log" 2>&1 && find_cuda_libraries
}

use_pack()
{
    [ -e "$pack/programs.tar.xz" ] || { note "no carried programs: $pack"; return 1; }
    if ! unpack || ! starts; then
        note "the carried programs do not start: $(tail -n 1 "$work/log")"
        return 1
    fi
    list=$pack/tests
    note "programs: carried, of commit $(cat "$pack/commit"), $(cat "$pack/about")"
}

# What a machine without zlib's and cmocka's headers needs was carried with the programs.
build_here()
{
    begun=$(date +%s)
    if [ -d "$pack/include" ]; then
        mkdir -p "$build/lib"
        cp "$pack"/lib/* "$build/lib/"
        export CPATH="$pack/include${CPATH:+:$CPATH}"
        export LIBRARY_PATH="$pack/lib${LIBRARY_PATH:+:$LIBRARY_PATH}"
    fi
    (build_for "$(architecture)") >"$work/build" 2>&1 || {
        tail -n 20 "$work/build" | sed 's/^/  /' | tee -a "$report/report.txt" >&2
        note "nothing can be built here"
        return 1
    }
    programs=$build
    list=$build/gpu-tests
    note "programs: built here in $(($(date +%s) - begun)) s"
    find_cuda_libraries
}

# ---- steps --------------------------------------------------------------------------------------

# step NAME: reports what came of it.
step()
{
    begun=$(date +%s)
    result=0
    (run_step "$1") || result=$?
    case $result in
    0) result=passed ;;
    77) result=skipped ;;
    *) result=FAILED && status=1 ;;
    esac
    note "$1: $result, $(($(date +%s) - begun)) s"
}

for word in "$@"; do
    is_known "$word" || { say "unknown part or step: $word" && exit 2; }
done
[ $# -gt 0 ] || { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0" && exit 2; }
mkdir -p "$report"
begin "$1"
status=0
device=$(gpu)
note "$(date -u +%Y-%m-%dT%H:%M) commit $(commit), ${device:-no GPU}"
if [ -z "$device" ]; then
    note "$*: skipped, no NVIDIA driver"
    [ -z "${TERN_REQUIRE_CUDA:-}" ] || exit 1
    exit 77
fi
find_toolkit
if [ "$1" = build ] || ! use_pack; then
    build_here || exit 1
fi
export TERN_CUDA_PLUGIN="$programs/src/cuda/libtern-cuda.so"
for word in "$@"; do
    [ "$word" = "$1" ] || begin "$word"
    for name in $(steps_of "$word"); do
        step "$name"
    done
done
exit $status
