#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mlp_mnist.sh PROGRAM DEVICE: training with the data on another device is the training on the CPU:
# the same batches, so the same losses; and it tells all of two kinds of images apart.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/images.sh"
write_images "$work/data" 650 train # the last batch is a short one
write_images "$work/data" 100 t10k

# train DEVICE: its lines without the speed.
train()
{
    "$program" --data "$work/data" --device "$1" --epochs 2 --hidden 64 2>&1 |
        sed 's/ *[0-9]* samples\/s//; s/ seconds=.*//'
}
program=$1
train cpu:0 >"$work/here"
train "$2" >"$work/there"
cat "$work/there"
diff "$work/here" "$work/there" || { echo "FAILED: $2 (>) differs" >&2; exit 1; }
grep -q '^test_accuracy=1.0000 ' "$work/there" || { echo "FAILED: it has not learnt" >&2; exit 1; }
