#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TensorBoard, pandas and jq themselves read what a logger wrote: each value, and of a run that was
# resumed each step once. TensorBoard is started, and asked over HTTP for what it shows.
# Usage: scripts/log_interop.sh
# Environment: TERN_BUILD, the build directory; TERN_GOLDEN_VENV and PIP_EXTRA_INDEX_URL, as
# make_reference_venv of common.sh says. Exits 1 when something differs.
. "$(dirname "$0")/common.sh"

[ $# = 0 ] || { say "usage: scripts/log_interop.sh"; exit 2; }
need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libcmocka-dev jq
make_reference_venv
[ -f "$build/build.ninja" ] || configure "$build"
ninja -C "$build" tests/train/logger_writer >&2
PYTHONWARNINGS=ignore "$python" "$root/tests/train/log_interop.py" \
    "$build/tests/train/logger_writer"
