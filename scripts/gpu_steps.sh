# SPDX-License-Identifier: Apache-2.0
# The steps of scripts/gpu_check.sh, which reads this. A step fails when a program does not come to
# its end, or a test fails; what the others print is judged by who reads it.
# shellcheck shell=sh disable=SC2034,SC2154

is_known()
{
    case $1 in
    1 | 2 | 3 | machine | start | suite | facts | floor | bench | memcheck | racecheck) ;;
    products | convs | epilogues | mnist | peers | tf32 | initcheck | synccheck | asan | build) ;;
    *) return 1 ;;
    esac
}

run_step()
{
    step_status=0
    case $1 in
    build) ;; # was done before
    memcheck | racecheck | initcheck | synccheck) sanitize "$1" || step_status=$? ;;
    *) "step_$1" ;;
    esac
    return "$step_status"
}

data()
{
    if [ -d "$pack/data" ]; then echo "$pack/data"; else echo /usr/share/datasets/fashion-mnist; fi
}

# tests SECONDS LOG OPTION OF gpu_tests.py...: those that run on a GPU, without which they fail.
tests()
{
    seconds=$(left "$1")
    log=$work/$2.json
    shift 2
    curand=$(ldd "$TERN_CUDA_PLUGIN" 2>/dev/null | awk '/libcurand/ { print $3 }')
    look "$seconds" env TERN_REQUIRE_CUDA=1 python3 "$root/scripts/gpu_tests.py" run \
        "$list" --at PROGRAMS="$programs" --at SOURCE="$root" --at DATA="$(data)" \
        --at CURAND="$curand" --seconds "$((seconds - 5))" --log "$log" \
        --failures "$report/failures.txt" "$@"
    [ ! -e "$log" ] || note "  $(python3 "$root/scripts/count_cases.py" "$log" | tail -n 1)"
}

# ---- 1 ------------------------------------------------------------------------------------------

# said COMMAND...: the last line of it.
said()
{
    if command -v "$1" >/dev/null; then "$@" 2>&1 | tail -n 1; else echo "no $1"; fi
}

step_machine()
{
    note "  $(said nvcc --version), $(command -v nvcc || true), CUDA_HOME=${CUDA_HOME:-}"
    note "  $(said getconf GNU_LIBC_VERSION), $(said cc -dumpfullversion) of cc, $(said python3 -V)"
    note "  $(said meson --version) of meson, $(said ninja --version) of ninja, $(said uname -r)"
    note "  compute-sanitizer: $(sanitizer || echo none)"
    ldd "$TERN_CUDA_PLUGIN" 2>&1 | sed -n 's/^[[:space:]]*\(libcu.*\) (.*/  \1/p' |
        tee -a "$report/report.txt" >&2
    look 20 nvidia-smi --query-gpu=memory.total,memory.used,clocks.sm,clocks.max.sm,power.limit \
        --format=csv
}

# The first calls; and 20 starts of a program that asks for no device.
step_start()
{
    look 60 "$programs/bench/gpu/gpu_facts" start
    begun_at=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$programs/examples/mlp_mnist/mlp_mnist" --help >"$work/log"
    done
    note "  a program without CUDA: $((($(date +%s%N) - begun_at) / 20000)) us from start to end"
}

step_suite()
{
    tests 210 suite --limit 60
}

# Captures of what never ran, kernels loaded one by one and all at once; kernels made of PTX.
step_facts()
{
    for loading in LAZY EAGER; do
        note "  modules loaded: $loading"
        look 20 env CUDA_MODULE_LOADING="$loading" "$programs/bench/gpu/gpu_facts" first_use
    done
    look 20 "$programs/bench/gpu/gpu_facts" graph_memory
    look 20 "$programs/bench/gpu/gpu_facts" generator
    note "  from PTX:"
    look 30 env CUDA_FORCE_PTX_JIT=1 "$programs/bench/gpu/gpu_floor" launch
}

step_floor()
{
    for measure in launch graph early barrier copy cache; do
        look 20 "$programs/bench/gpu/gpu_floor" "$measure"
    done
}

# compare SECONDS OPTION...: the last half minute is for what is at work then.
compare()
{
    seconds=$(left "$1")
    shift
    look "$seconds" python3 -u "$root/bench/compare.py" --tern "$programs/bench/train_bench" \
        --device cuda:0 --only W1 --torch python3 --seconds "$((seconds - 30))" --patience 90 \
        --json "$report/bench.jsonl" "$@"
}

step_bench()
{
    compare 150 --batch 64 --variants eager graph \
        --plugin "$programs/bench/gpu/libtern-cuda-stream-ordered.so"
}

# ---- 2 ------------------------------------------------------------------------------------------

sanitizer()
{
    command -v compute-sanitizer && return
    for file in "${CUDA_HOME:-/usr/local/cuda}"/bin/compute-sanitizer \
        "${CUDA_HOME:-/usr/local/cuda}"/compute-sanitizer/compute-sanitizer \
        /opt/nvidia/*/compute-sanitizer /opt/nvidia/*/*/compute-sanitizer; do
        [ ! -x "$file" ] || { echo "$file" && return; }
    done
    return 1
}

# The options of a tool. memcheck also looks for memory that a program leaves behind, and keeps
# allocations apart.
options_of()
{
    echo "--tool $1 --require-cuda-init no --error-exitcode 9"
    [ "$1" != memcheck ] || echo "--leak-check full --check-device-heap yes --padding 512"
}

# sanitize TOOL: the tests, but for those of CUDA's rules, which provoke the errors that tools
# report. Where each block is an allocation of its own, memcheck knows where it ends: for the tests
# of kernels. A machine that does not let the tool run says so in the smallest test.
sanitize()
{
    found=$(sanitizer) || { note "  not here: compute-sanitizer"; return 77; }
    tool="$found $(options_of "$1" | tr '\n' ' ')"
    ended=0
    # shellcheck disable=SC2086 # options
    timeout -k 5 "$(left 90)" $tool "$programs/tests/device/test_meeting" cuda \
        >"$work/log" 2>&1 || ended=$?
    if [ "$ended" != 0 ] && [ "$ended" != 124 ] && ! grep -q 'SUMMARY: [1-9]' "$work/log"; then
        note "  refused: $(grep -i -m 1 -e error -e support "$work/log" || tail -n 1 "$work/log")"
        return 77
    fi
    export TERN_CACHE=0
    tests 110 "$1-kernels" --wrap "$tool" --limit 110 --jobs 10 --only '^(conformance|R)'
    export TERN_CACHE=1
    tests 60 "$1" --wrap "$tool" --limit 60 --jobs 8 --but '^(conformance|R|rules_)'
    return "$step_status"
}

step_products()
{
    for products in peak 64 1024; do
        look 30 "$programs/bench/gpu/gpu_products" "$products"
    done
}

# W2's second layer, four of ResNet-50's, its first, a depthwise one, one with a stride.
step_convs()
{
    set -- 128,32,26,64,3,1,0,1 64,64,56,64,3,1,1,1 64,256,14,256,3,1,1,1 64,512,7,512,3,1,1,1 \
        64,64,56,256,1,1,0,1 64,3,224,64,7,2,3,1 64,256,28,256,3,1,1,256 64,128,56,128,3,2,1,1
    look 30 "$programs/bench/gpu/gpu_convs" "$@"
    look 60 python3 "$root/bench/gpu/torch_convs.py" "$@"
}

# Each in a process of its own: what one of them breaks stays broken.
step_epilogues()
{
    for name in none BIAS RELU_AUX_BIAS GELU_AUX_BIAS DRELU DRELU_BGRAD DGELU_BGRAD \
        BGRADA BGRADB; do
        look 20 "$programs/bench/gpu/gpu_epilogues" "$name"
    done
}

# ---- 3 ------------------------------------------------------------------------------------------

# With an empty cache of the driver's, and with what that left there.
step_mnist()
{
    export CUDA_CACHE_PATH="$work/cuda-cache"
    for start in first second; do
        begun_at=$(date +%s%N)
        look 60 "$programs/examples/mlp_mnist/mlp_mnist" --device cuda --quiet --data "$(data)"
        note "  the $start start: $((($(date +%s%N) - begun_at) / 1000000)) ms from start to end"
    done
}

step_peers()
{
    compare 250 --batch 64 1024 --rounds 9 --variants graph reduce-overhead graph-compile \
        --jax python3
}

step_tf32()
{
    compare 190 --tf32 --batch 64 1024 --rounds 9 --variants graph graph-compile \
        --jax python3 --jax-variants scan
}

# ---- alone --------------------------------------------------------------------------------------

# The host's half under AddressSanitizer, beside the driver; then what it says of leaks.
step_asan()
{
    build=$build-asan
    if ! (build_for "$(architecture)" -Db_sanitize=address,undefined -Db_lundef=false \
        -Doptimization=1) >"$work/log" 2>&1; then
        note "  it does not build: $(tail -n 1 "$work/log")" && step_status=1
        return
    fi
    export TERN_CUDA_PLUGIN="$build/src/cuda/libtern-cuda.so" TERN_REQUIRE_CUDA=1
    for test in training graph moving; do
        look 120 env ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0 \
            "$build/tests/device/test_$test" cuda
    done
    ASAN_OPTIONS=protect_shadow_gap=0 timeout 120 "$build/tests/device/test_graph" cuda \
        >"$work/log" 2>&1 || true
    note "  leaks: $(grep -m 1 SUMMARY "$work/log" || echo none)"
}
