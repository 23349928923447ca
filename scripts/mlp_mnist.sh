#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and trains the example on Fashion-MNIST.
# Usage: scripts/mlp_mnist.sh [options of mlp_mnist; --help lists them]
. "$(dirname "$0")/common.sh"

need gcc libc6-dev meson ninja-build pkg-config zlib1g-dev dataset-fashion-mnist
configure "$build" -Dexamples=enabled
targets=examples/mlp_mnist/mlp_mnist
# The CUDA backend takes minutes to build: only where there is a driver to run it.
plugin=src/cuda/libtern-cuda.so
if { command -v nvidia-smi || PATH=$PATH:/sbin ldconfig -p | grep 'libcuda\.so\.1'; } >/dev/null &&
    ninja -C "$build" -t query "$plugin" >/dev/null 2>&1; then
    targets="$targets $plugin"
fi
# shellcheck disable=SC2086 # one word a target
ninja -C "$build" $targets >&2
exec "$build/examples/mlp_mnist/mlp_mnist" "$@"
