#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# training.sh PROGRAM DEVICE fits|too_large|full OPTION...: training on another device is the
# training on the CPU: the same batches, so the same losses. The data is kept there; what is too
# large is not, and said. With "full" there is no room for anything, which is one sentence.
set -eu
export TERN_CPU_DEVICES=2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/images.sh"
program=$1 device=$2 case=$3
shift 3

# write_many: 60000 images and labels in plain files, 47 MB of a text over and over.
write_many()
{
    { printf '\0\0\10\3\0\0\352\140\0\0\0\34\0\0\0\34'; yes 'of  many ~~ bright|and  dark images' |
        head -c 47040000; } >"$work/data/train-images-idx3-ubyte"
    { printf '\0\0\10\1\0\0\352\140'; yes | head -c 60000 | tr 'y\n' '\001\005'; } \
        >"$work/data/train-labels-idx1-ubyte"
}

# train DEVICE OPTION...: its lines without the speed.
train()
{
    where=$1
    shift
    "$program" --data "$work/data" --device "$where" "$@" 2>&1 |
        sed 's/ *[0-9]* samples\/s//; s/ *waits [0-9]* %//; s/ seconds=.*//'
}

write_images "$work/data" 100 t10k
if [ "$case" = full ]; then
    write_images "$work/data" 650 train
    "$program" --data "$work/data" --device "$device" 2>"$work/told" &&
        { echo "FAILED: it trains on a device without memory" >&2; exit 1; }
    cat "$work/told"
    place=$(grep -c '^  at ' "$work/told") || true # and nothing else
    [ "$(grep -c "$device cannot be used: .*memory" "$work/told"),$(wc -l <"$work/told")" = \
        "1,$((1 + place))" ] || { echo "FAILED: that is not the one sentence" >&2; exit 1; }
    exit 0
fi
if [ "$case" = fits ]; then
    write_images "$work/data" 650 train # the last batch is a short one
else
    write_many
fi
train cpu:0 "$@" >"$work/here"
train "$device" "$@" >"$work/there"
cat "$work/there"

if [ "$case" != fits ]; then
    grep -Fxq "60000 images do not fit on $device: batches are copied there" "$work/there" ||
        { echo "FAILED: it does not say that they do not fit" >&2; exit 1; }
    grep -v 'do not fit' "$work/there" >"$work/rest"
    mv "$work/rest" "$work/there"
fi
diff "$work/here" "$work/there" || { echo "FAILED: $device (>) differs" >&2; exit 1; }
[ "$case" != fits ] || grep -q '^test_accuracy=1.0000 ' "$work/there" ||
    { echo "FAILED: it has not learnt" >&2; exit 1; }
