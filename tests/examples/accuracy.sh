#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# accuracy.sh PROGRAM LEAST OPTION...: the program gets at least that share of the test images
# right.
set -eu
program=$1 least=$2
shift 2
data=${TERN_TEST_DATA:-/usr/share/datasets/fashion-mnist}
[ -f "$data/train-images-idx3-ubyte.gz" ] ||
    { echo "skipped: there is no Fashion-MNIST in $data"; exit 77; }
result=$("$program" --quiet --data "$data" "$@")
echo "$result"
echo "$result" | awk -F '[= ]' -v least="$least" '$2 >= least { good = 1 } END { exit !good }' ||
    { echo "FAILED: less than $least" >&2; exit 1; }
