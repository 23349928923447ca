#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and trains the example on Fashion-MNIST.
# Usage: scripts/mlp_mnist.sh [--cuda] [options of mlp_mnist; --help lists them]
#   --cuda     builds the CUDA backend even where there is no driver, which runs it
. "$(dirname "$0")/common.sh"

train_example mlp_mnist "$@"
