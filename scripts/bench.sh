#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and times tern beside PyTorch and JAX on the CPU: training
# steps, single operations and layers, whole programs. A peer that cannot be had is named and left
# out. The results go to bench.jsonl in the build directory, the tables to stdout at the end.
# Usage: scripts/bench.sh [--quick] [--write] [steps] [sizes] [operations] [programs] [-- OPTION...]
#        scripts/bench.sh optimizers   the update alone, beside a copy and PyTorch's
#        scripts/bench.sh loaders      batches from memory and from image files, beside PyTorch's
#        scripts/bench.sh logging      training with a log beside training without, and its calls
#   --quick    fewer rounds: which rows, not how far
#   --write    the tables become docs/speed.md, docs/speed-of-sizes.md, their charts and a part of
#              README.md
#   OPTION     of bench/compare.py, bench/operations.py or bench/programs.py, as --only W1
. "$(dirname "$0")/common.sh"

parts='' rounds='' runs='' pages=''
while [ $# -gt 0 ]; do
    case $1 in
    --quick) rounds='--rounds 3' runs='--runs 1' ;;
    --write) pages="--write $root" ;;
    steps | sizes | operations | programs | optimizers | loaders | logging) parts="$parts $1" ;;
    --)
        shift
        break
        ;;
    *)
        sed -n 's/^# \{0,1\}//; 3,13p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
results=$build/bench.jsonl sizes=$build/bench-sizes.jsonl

# Sets `new` to a Python that has the PyTorch and the JAX of today, and `old` to Debian's, or to "".
find_peers()
{
    new='' old=''
    # In shells of their own: what cannot be had ends them.
    if (make_reference_venv && need g++); then
        make_reference_venv
        new=$python
        "$new" -c 'import jax' 2>/dev/null || "$new" -m pip install --quiet jax==0.10.2 ||
            say "left out: JAX cannot be had"
    else
        say "left out: PyTorch 2.15 and JAX cannot be had"
    fi
    if (need python3-torch libopenblas0-pthread); then
        old=/usr/bin/python3
    else
        say "left out: Debian's PyTorch cannot be had"
    fi
}

# time_steps OPTION..., and so on: the part, with all peers.
time_steps()
{
    # shellcheck disable=SC2086 # no word or several
    python3 "$root/bench/compare.py" --tern "$build/bench/train_bench" --json "$results" $rounds \
        --variants eager compile ${new:+--torch "$new"} ${old:+--torch "$old=eager"} \
        ${new:+--jax "$new"} "$@"
}

time_sizes()
{
    # shellcheck disable=SC2086
    python3 "$root/bench/compare.py" --tern "$build/bench/train_bench" --json "$sizes" $rounds \
        --variants eager ${new:+--torch "$new"} ${new:+--jax "$new"} --shapes 32x1 32x4 64x4 64x64 \
        128x4 128x16 256x4 512x4 1024x2 2048x1 4096x1 "$@"
    # shellcheck disable=SC2086
    python3 "$root/bench/compare.py" --tern "$build/bench/train_bench" --json "$sizes" $rounds \
        --variants eager ${new:+--torch "$new"} --shapes 32x1000 "$@"
    # shellcheck disable=SC2086
    python3 "$root/bench/curve.py" "$sizes" $pages
}

time_operations()
{
    # shellcheck disable=SC2086
    python3 "$root/bench/operations.py" --tern "$build/bench/operations_bench" $rounds \
        --json "$results" --variants eager compile ${new:+--torch "$new"} ${new:+--jax "$new"} "$@"
}

time_programs()
{
    # shellcheck disable=SC2086
    python3 "$root/bench/programs.py" --tern "$build/examples/mlp_mnist/mlp_mnist" $runs \
        --json "$results" ${new:+--torch "$new"} ${old:+--torch "$old"} "$@"
}

time_optimizers()
{
    ninja -C "$build" bench/optim_step_bench >&2
    "$build/bench/optim_step_bench"
    [ -z "$new" ] || "$new" "$root/bench/optim_step.py" --tern "$build/bench/optim_step_bench" "$@"
}

time_loaders()
{
    ninja -C "$build" bench/loader_bench >&2
    [ -n "$new" ] || die "PyTorch 2.15 cannot be had"
    "$new" -c 'import torchvision' 2>/dev/null || "$new" -m pip install --quiet torchvision ||
        say "left out: files, as torchvision cannot be had"
    "$new" "$root/bench/loader.py" --tern "$build/bench/loader_bench" "$@"
}

time_logging()
{
    ninja -C "$build" bench/logging_bench >&2
    folder=$(mktemp -d)
    "$build/bench/logging_bench" "$folder/run"
    rm -rf "$folder"
    python3 "$root/bench/logging.py" --tern "$build/examples/mlp_mnist/mlp_mnist" "$@"
}

need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev dataset-fashion-mnist
find_peers
configure "$build" -Dexamples=enabled
ninja -C "$build" bench/train_bench bench/operations_bench examples/mlp_mnist/mlp_mnist >&2
: >"$results" >"$sizes"
for part in ${parts:-steps sizes operations programs}; do
    "time_$part" "$@"
done
[ -s "$results" ] || exit 0 # of sizes alone
# shellcheck disable=SC2086
exec python3 "$root/bench/report.py" "$results" $pages
