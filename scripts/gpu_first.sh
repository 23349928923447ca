# SPDX-License-Identifier: Apache-2.0
# Part `first` of scripts/gpu_check.sh, which reads this: what was believed of a GPU is looked at,
# subject by subject. Nothing is judged but that each program comes to its end.
# shellcheck shell=sh disable=SC2154

programs=$build/bench/gpu

# look COMMAND...: what it prints goes into the report; five minutes at most.
look()
{
    look_status=0
    timeout 300 "$@" >"$build/look.log" 2>&1 || look_status=$?
    note "$(sed 's/^/  /' "$build/look.log")"
    [ "$look_status" = 0 ] || { note "  ended with $look_status: $*" && first_status=1; }
}

# Where things are.
first_machine()
{
    note "  $(nvcc --version | tail -n 1); CUDA_HOME=${CUDA_HOME:-}; $(command -v nvcc)"
    note "  meson $(meson --version), ninja $(ninja --version), $(cc --version | head -n 1)"
    note "  compute-sanitizer: $(command -v compute-sanitizer || echo none)"
    look python3 -c "import ctypes
ctypes.CDLL('libcuda.so.1')
print(next(line.split()[-1] for line in open('/proc/self/maps') if 'libcuda.so' in line))"
}

# The first calls; and 20 starts of a program that asks for no device.
first_start()
{
    look "$programs/gpu_facts" start
    begun=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$build/examples/mlp_mnist/mlp_mnist" --help >/dev/null
    done
    note "  a program without CUDA: $((($(date +%s%N) - begun) / 20000)) us from start to end"
}

# Captures of what never ran, kernels loaded one by one and all at once; kernels made of PTX.
first_facts()
{
    for loading in LAZY EAGER; do
        note "  modules loaded: $loading"
        look env CUDA_MODULE_LOADING="$loading" "$programs/gpu_facts" first_use
    done
    look "$programs/gpu_facts" graph_memory
    look "$programs/gpu_facts" generator
    note "  from PTX:"
    look env CUDA_FORCE_PTX_JIT=1 "$programs/gpu_floor" launch
}

first_floor()
{
    for measure in launch graph early barrier copy cache; do
        look "$programs/gpu_floor" "$measure"
    done
}

first_products()
{
    for products in peak 64 1024; do
        look "$programs/gpu_products" "$products"
    done
}

# Each in a process of its own: what one of them breaks stays broken.
first_epilogues()
{
    for name in none BIAS RELU_AUX_BIAS GELU_AUX_BIAS DRELU DRELU_BGRAD DGELU_BGRAD \
        BGRADA BGRADB; do
        look "$programs/gpu_epilogues" "$name"
    done
}

# The host's half under AddressSanitizer, beside the driver; then what it says of leaks.
first_asan()
{
    if ! configure "$build-asan" -Dtests=enabled -Dexamples=disabled -Dcuda=enabled \
        -Dcudasim=disabled -Dgpu_archs="$(architecture)" -Db_sanitize=address,undefined \
        -Db_lundef=false -Doptimization=1 || ! ninja -C "$build-asan" >&2; then
        note "  it does not build" && first_status=1
        return
    fi
    export TERN_CUDA_PLUGIN="$build-asan/src/cuda/libtern-cuda.so" TERN_REQUIRE_CUDA=1
    for test in training graph moving; do
        look env ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 \
            "$build-asan/tests/devices/test_$test" cuda
    done
    ASAN_OPTIONS=protect_shadow_gap=0 "$build-asan/tests/devices/test_graph" cuda \
        >"$build/look.log" 2>&1 || true
    note "  leaks: $(grep -m 1 SUMMARY "$build/look.log" || echo none)"
}

# look_first SUBJECT, or all for "".
look_first()
{
    first_status=0
    for subject in ${1:-machine start facts floor products epilogues asan}; do
        note "  -- $subject"
        export TERN_CUDA_PLUGIN="$build/src/cuda/libtern-cuda.so"
        case $subject in
        machine) first_machine ;;
        start) first_start ;;
        facts) first_facts ;;
        floor) first_floor ;;
        products) first_products ;;
        epilogues) first_epilogues ;;
        asan) first_asan ;;
        *) note "  unknown subject" && first_status=1 ;;
        esac
    done
    return "$first_status"
}
