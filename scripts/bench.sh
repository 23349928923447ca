#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and times training steps beside PyTorch; how, says
# bench/compare.py --help.
# Usage: scripts/bench.sh [--torch PYTHON]... [other options of bench/compare.py]
#   --torch PYTHON   an interpreter that has PyTorch (Debian's /usr/bin/python3 when none is named)
. "$(dirname "$0")/common.sh"

need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev
case " $* " in
*" --torch "*) ;;
*)
    need python3-torch libopenblas0-pthread
    set -- --torch /usr/bin/python3 "$@"
    ;;
esac
configure "$build"
ninja -C "$build" bench/train_bench >&2
exec python3 "$root/bench/compare.py" --tern "$build/bench/train_bench" "$@"
