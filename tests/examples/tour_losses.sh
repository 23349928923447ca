#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tour_losses.sh PROGRAM: each kind of problem is learnt as well as the program asks for.
set -eu
[ -d /usr/share/datasets/fashion-mnist ] || { echo "skipped: Fashion-MNIST is not here"; exit 77; }
seen=$("$1" 2>&1) || { echo "$seen"; echo "FAILED: exit status not 0" >&2; exit 1; }
echo "$seen"
[ "$(echo "$seen" | grep -c ': yes$')" = 6 ] || { echo "FAILED: not 6 problems" >&2; exit 1; }
