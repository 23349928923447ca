#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_tour.sh PROGRAM DEVICE OTHER: the tour goes to these devices and shows what it says.
set -eu
export TERN_CPU_DEVICES=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
d=$2 o=$3
"$1" --quick >"$work/out" 2>"$work/log" || { cat "$work/out" "$work/log"; exit 1; }
cat "$work/out" "$work/log"
failed=0

# expect WORDS...: there is a line of exactly these words.
expect()
{
    grep -Fxq "  $*" "$work/out" || { echo "FAILED: there is no line: $*" >&2; failed=1; }
}

# expect_like PATTERN: there is a line that it matches from the beginning to the end.
expect_like()
{
    grep -xq "  $1" "$work/out" || { echo "FAILED: there is no line like: $1" >&2; failed=1; }
}

[ -s "$work/log" ] && { echo "FAILED: it complains" >&2; failed=1; }
[ "$(grep -c '^[0-9]*\. ' "$work/out")" = 19 ] || { echo "FAILED: not 19 sections" >&2; failed=1; }

expect "the tour goes to $d and $o"
expect "CPU devices: $TERN_CPU_DEVICES"
expect_like "it says: zeros: there is no device ${d%:*}:[0-9]*: .* are available.*"
expect "at first: cpu:0"
expect "inside tern_with_device($d): $d"
expect "after it: cpu:0"

expect "y = tern_to(x, $d): x is on cpu:0, y on $d"
expect "same values: yes"
expect "tern_to(y, $d) is y itself: yes"
expect "filling y with 9 changes x: no"
expect "tern_module_to(net, $d) returns net itself: yes"
expect "its weight is the same tensor, now on $d: yes"
expect "20 steps of the same optimizer: loss falls: yes"
expect "the optimizer's state is on $d"
expect_like "it says: .*the criterion's weight is on cpu:0, input on $d: call tern_module_to.*"
expect "after tern_module_to(criterion, $d) the loss is 1.0986" # log 3
expect "tern_copy_ from cpu:0 to $d to $o keeps the values: yes"
expect "the gradient of a tensor on cpu:0 through a move to $d is on cpu:0"

expect "two tensors on $o, multiplied while $d is the default: $o"
expect_like "it says: mul: a is on $o and b on $d: .*"
expect "moved there first: $d"
expect "a (3,) on $d times a 0-dim on cpu:0 is on $d, sum 6"
expect_like "it says: mul: a is on $d and b on cpu:0: .*"
for call in 'tern_zeros_like(x)' 'tern_full_like(x, 3)' 'tern_new_zeros(x, (4,))' \
    'tern_new_tensor(x, (1,), {5})' 'tern_rand_like(x)'; do
    expect "$call is float64 on $d"
done

expect "the parameters of Linear(255, 64) take 65536 bytes"
expect "after tern_module_to_dtype(net, float16), in place (yes), they take 32768"
expect "what it makes is float16 on $d"
expect "float32: 2 * 40000 = 80000, finite: yes"
expect "float16: 2 * 40000 = inf, finite: no"
expect "bfloat16: 2 * 39936 = 79872, finite: yes"

expect "a second draw on $d goes on in its stream, with other numbers: yes"
expect "seeded again, the first draw on $d is back, whatever other devices drew: yes"

expect "the front is on $d, the back on $o"
expect_like "60 steps: the loss falls below a tenth: yes .*"
for step in 1 2 3 4; do
    expect_like "step $step: loss [0-9]*\.[0-9]* on $d, [0-9]*\.[0-9]* on both"
done
expect "the same losses but for rounding: yes"
ms='[0-9]*\.[0-9]* ms'
expect_like "2 products of (32, 32): $ms on $d, $ms on $o, their sum $ms"
expect_like "queued on both before waiting for either: $ms, [0-9]*\.[0-9]* of the sum"
expect_like "side by side they take what the slower one takes alone: .*"
expect_like "5 steps that read their loss: .* ms a step"

case $d in
cuda:*)
    expect_like "(64, 64): cpu:0 .* ms, .* GFLOP/s; $d .* ms, .* GFLOP/s: .* times as fast"
    expect "after tern_cuda_set_device(${o#cuda:}) the word cuda means $o;" \
        "new tensors still go to cpu:0"
    expect "tern_cuda_manual_seed_all(8) sets the streams of the GPUs alone:" \
        "other numbers there: yes"
    expect "and the same ones on the CPU: yes"
    expect_like "with a tensor of 32 MiB: 32.* MiB allocated, .*"
    expect_like "when it is dead: [0-9.]* MiB allocated, at most 32.*"
    expect_like "near 1 they share something, .*"
    expect_like "the last losses are the same bits: yes .*"
    expect "and so are the weights: yes"
    ;;
*)
    expect_like "(64, 64): cpu:0 [0-9.]* ms, [0-9]* GFLOP/s" # and not beside itself
    expect_like "near 1 here: .* on the same cores"
    expect_like "left out: there is no GPU: .*"
    alone=$(TERN_CPU_DEVICES=1 "$1" --quick | grep -c '^  left out: ')
    [ "$alone" = 6 ] || { echo "FAILED: one device leaves $alone out, not 6" >&2; failed=1; }
    ;;
esac
exit "$failed"
