#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch, safetensors and numpy themselves read what tern wrote, and tern what they wrote: values
# bit for bit, an AdamW and an LBFGS run that go on in tern and back, states of generators,
# torchvision's resnet18.
# Usage: scripts/interop.sh
# Environment: TERN_BUILD, the build directory; TERN_GOLDEN_VENV and PIP_EXTRA_INDEX_URL, as
# make_reference_venv of common.sh says. Exits 1 when something differs.
. "$(dirname "$0")/common.sh"

[ $# = 0 ] || { say "usage: scripts/interop.sh"; exit 2; }
need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libcmocka-dev
make_reference_venv
[ -f "$build/build.ninja" ] || configure "$build"
ninja -C "$build" tests/io/interop >&2
PYTHONWARNINGS=ignore "$python" "$root/tests/io/interop.py" "$build/tests/io/interop"
