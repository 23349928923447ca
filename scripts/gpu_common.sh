# SPDX-License-Identifier: Apache-2.0
# For gpu_pack.sh and gpu_check.sh: what is built for a GPU, and where.
# shellcheck shell=sh disable=SC2034,SC2154

TERN_BUILD=${TERN_BUILD:-$(cd "$(dirname "$0")/.." && pwd)/build-gpu}
. "$(dirname "$0")/common.sh"
pack=${TERN_PACK:-$root/build-gpu-pack}

# Beside the tests' programs.
gpu_programs='examples/mlp_mnist/mlp_mnist bench/train_bench bench/gpu/gpu_facts
    bench/gpu/gpu_floor bench/gpu/gpu_products bench/gpu/gpu_epilogues bench/gpu/gpu_convs'
gpu_plugins='src/cuda/libtern-cuda.so bench/gpu/libtern-cuda-stream-ordered.so'

# Programs find zlib and cmocka in the folder lib of the build, wherever that is.
# shellcheck disable=SC2016
gpu_rpath='-Wl,-rpath,$ORIGIN/lib,-rpath,$ORIGIN/../lib,-rpath,$ORIGIN/../../lib'

gpu_tests()
{
    python3 "$root/scripts/gpu_tests.py" "$@"
}

# build_for ARCHITECTURE OPTION...: into $build, with the list of tests.
# shellcheck disable=SC2046,SC2086 # one word a target
build_for()
{
    arch=$1
    shift
    configure "$build" -Dtests=enabled -Dexamples=enabled -Dcuda=enabled -Dcudasim=disabled \
        -Dpng=disabled -Djpeg=disabled -Ddebug=false -Dgpu_archs="$arch" \
        -Dc_link_args="$gpu_rpath" "$@" &&
        gpu_tests list "$build" >"$build/gpu-tests" &&
        gpu_tests programs "$build/gpu-tests" >"$build/gpu-programs" &&
        ninja -C "$build" $gpu_plugins $gpu_programs $(cat "$build/gpu-programs") >&2
}
