#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# same_losses.sh TRAIN_BENCH PLUGIN OTHER: with both plugins for CUDA the same steps have the same
# losses, eagerly and replayed from a graph.
set -eu

# losses PLUGIN [graph]
losses()
{
    plugin=$1
    shift
    echo 'losses 8' | TERN_CUDA_PLUGIN=$plugin "$bench" 5,16,3 4 cross_entropy cuda:0 "$@"
}

bench=$1
for words in '' graph; do
    first=$(losses "$2" $words)
    second=$(losses "$3" $words)
    echo "${words:-eager}: $first"
    [ "$(echo "$first" | tr ' ' '\n' | grep . | sort -u | wc -l)" = 8 ] ||
        { echo "these are not 8 losses"; exit 1; }
    [ "$first" = "$second" ] || { echo "not $second"; exit 1; }
done
