#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and trains the example on Fashion-MNIST.
# Usage: scripts/mlp_mnist.sh [options of mlp_mnist; --help lists them]
. "$(dirname "$0")/common.sh"

need gcc libc6-dev meson ninja-build pkg-config zlib1g-dev dataset-fashion-mnist
configure "$build" -Dexamples=enabled
ninja -C "$build" examples/mlp_mnist/mlp_mnist >&2
exec "$build/examples/mlp_mnist/mlp_mnist" "$@"
