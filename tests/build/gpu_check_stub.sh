#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The parts of scripts/gpu_check.sh run to their ends with stubs for the programs and NVIDIA's
# tools, and find no other tool than those below: one fails, one hangs, one is refused.
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/common.sh"
bin=$work/bin
stage=$work/stage
export TERN_PACK="$work/pack" TERN_BUILD="$work/b" TERN_REPORT="$work/report"
mkdir -p "$bin" "$stage" "$TERN_PACK/data"

for tool in awk bash cat cp cut date dirname env grep head id ldd mkdir mktemp rm \
    sed seq sh sleep sort tail tar taskset tee timeout tr uname xz; do
    file=$(command -v "$tool") && ln -s "$file" "$bin/$tool"
done
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$bin/python3"

# script FILE LINE...
script()
{
    file=$1
    shift
    mkdir -p "$(dirname "$file")"
    printf '%s\n' '#!/bin/sh' "$@" >"$file"
    chmod +x "$file"
}

# part NAME: with its report alone; in $status how it ended.
part()
{
    rm -rf "$TERN_REPORT"
    status=0
    PATH=$bin TERN_PART_SECONDS=15 "$TERN_SOURCE/scripts/gpu_check.sh" "$1" 2>"$work/log" ||
        status=$?
}

# says PATTERN: the report of the part has such a line.
says()
{
    grep -q "$1" "$TERN_REPORT/report.txt" ||
        { cat "$work/log"; fail "the report does not say: $1"; }
}

script "$bin/nvidia-smi" 'case $* in *compute_cap*) echo "Stub, 580.1, 9.0" ;; esac'
# Options are pairs. One tool sees what it runs, one is not allowed to.
script "$bin/compute-sanitizer" \
    'case $* in *racecheck*) echo "Device not supported"; exit 1 ;; esac' \
    'while [ "${1#--}" != "$1" ]; do shift 2; done' 'exec "$@"'
script "$stage/examples/mlp_mnist/mlp_mnist" 'echo test_accuracy=1'
script "$stage/bench/gpu/gpu_facts" 'echo "facts of $*"'
script "$stage/bench/gpu/gpu_floor" 'case $* in barrier) exit 3 ;; copy) sleep 60 ;; esac'
script "$stage/bench/gpu/gpu_products" 'echo "products of $*"'
script "$stage/bench/gpu/gpu_convs" 'echo "convs of $1"'
script "$stage/bench/gpu/gpu_epilogues" 'echo "epilogue $*"'
script "$stage/tests/device/test_meeting" 'echo met'
script "$stage/tests/fails" 'echo "[  FAILED  ] 1 test(s), listed below:"' \
    'echo "[  FAILED  ] the planted failure"' 'exit 3'
script "$stage/tests/hangs" '[ -n "$TERN_CACHE" ] || { echo the planted hang; sleep 60; }'
script "$stage/tests/skips" 'exit 77'
script "$stage/tests/data" '[ -d "$1" ] && [ "$TERN_REQUIRE_CUDA" = 1 ]'
for name in fails hangs skips; do
    echo "{\"name\": \"R0_$name\", \"limit\": 2, \"words\": [\"@PROGRAMS@/tests/$name\"]," \
        '"environment": {}}'
done >"$TERN_PACK/tests"
echo '{"name": "meeting", "limit": 9, "words": ["@PROGRAMS@/tests/data", "@DATA@"],' \
    '"environment": {}}' >>"$TERN_PACK/tests"
tar -C "$stage" -cf - . | xz >"$TERN_PACK/programs.tar.xz"
echo abc1234 >"$TERN_PACK/commit"
echo 'of scripts' >"$TERN_PACK/about"

part 1
[ "$status" = 1 ] || fail "part 1 ended with $status"
says 'commit abc1234, Stub, 580.1, 9.0$'
says '^programs: carried, of commit abc1234, of scripts$'
says '^machine: passed'
says '^  facts of start$'
says '^start: passed'
says '^  OK .* s  meeting$'
says '^  FAIL .* s  R0_fails$'
says '^  TIMEOUT .* s  R0_hangs$'
says '^  SKIP .* s  R0_skips$'
says '^  *failed  the planted failure$'
says '^  1 passed, 2 failed, 1 skipped$'
says '^suite: FAILED'
says '^facts: passed'
says '^  ended with 3: programs/bench/gpu/gpu_floor barrier$'
says '^  ended after [0-9]* s: programs/bench/gpu/gpu_floor copy$'
says '^  no time was left for: programs/bench/gpu/gpu_floor cache$'
says '^floor: FAILED'
says '^bench: FAILED'
for line in 'the planted failure$' '^status 3$' '^the planted hang$' 'R0_hangs: TIMEOUT$'; do
    grep -q "$line" "$TERN_REPORT/failures.txt" || fail "the failures do not say: $line"
done
[ "$(find "$TERN_REPORT" -type f | wc -l)" -le 8 ] || fail "the report has too many files"

part 2
[ "$status" = 1 ] || fail "part 2 ended with $status"
says '^  FAIL .* s  R0_fails$'
says '^  OK .* s  meeting$'
says '^  OK .* s  R0_hangs$'
says '^memcheck: FAILED'
says '^  refused: Device not supported$'
says '^racecheck: skipped'
says '^  products of 1024$'
says '^products: passed'
says '^  convs of 128,32,26,64,3,1,0,1$'
says '^  .*PyTorch'
says '^convs: passed'
says '^epilogues: passed'

part 3
[ "$status" = 1 ] || fail "part 3 ended with $status"
says '^  test_accuracy=1$'
says '^mnist: passed'
says '^peers: FAILED'
says '^tf32: FAILED'

part floors
[ "$status" = 2 ] || fail "an unknown part ended with $status"

# Programs that do not start, where nothing can be built.
script "$stage/examples/mlp_mnist/mlp_mnist" 'echo of another machine; exit 1'
tar -C "$stage" -cf - . | xz >"$TERN_PACK/programs.tar.xz"
part 1
[ "$status" = 1 ] || fail "a part without programs ended with $status"
says '^the carried programs do not start: of another machine$'
says '^nothing can be built here$'
