#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# minimal.sh PROGRAM: the shortest program learns: its loss falls, and it has no more to say.
set -eu
[ -d /usr/share/datasets/fashion-mnist ] || { echo "skipped: Fashion-MNIST is not here"; exit 77; }
seen=$("$1" 2>&1)
echo "$seen"
echo "$seen" | awk '{ loss[NR] = $4 } END { exit !(NR == 4 && $2 == "800:" &&
    loss[1] < 1 && loss[4] < 0.65) }' || { echo "FAILED: it does not learn" >&2; exit 1; }
