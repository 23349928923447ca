#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains mlp_mnist with the optimizers that want large batches, Rprop and L-BFGS, in tern and in
# PyTorch, from the same weights by the same batches, and compares the test accuracies.
# Usage: scripts/large_batches.sh
# Environment: TERN_BUILD, the build directory; TERN_GOLDEN_VENV and PIP_EXTRA_INDEX_URL, as
# make_reference_venv of common.sh says. Exits 1 where two differ by more than 0.005.
. "$(dirname "$0")/common.sh"

[ $# = 0 ] || { say "usage: scripts/large_batches.sh"; exit 2; }
need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev dataset-fashion-mnist
make_reference_venv
[ -f "$build/build.ninja" ] || configure "$build" -Dexamples=enabled
ninja -C "$build" examples/mlp_mnist/mlp_mnist >&2
exec "$python" "$root/tests/examples/large_batches.py" "$build/examples/mlp_mnist/mlp_mnist"
