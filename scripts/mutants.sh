#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plants each fault of mutants.table in a copy of the tree and runs the tests that are to find it;
# says the share found, and fails under 95 %, or where a fault that lives is not explained.
# Usage: scripts/mutants.sh [PART]     only faults whose file begins with PART, for example src/nn
. "$(dirname "$0")/common.sh"

need gcc libc6-dev g++ meson ninja-build pkg-config python3 zlib1g-dev libpng-dev libjpeg-dev \
    libcmocka-dev dataset-fashion-mnist
copy=$build-mutants
mkdir -p "$copy/tree"
python3 "$root/scripts/mutants.py" copy "$root" "$copy/tree"
if [ ! -f "$copy/build/build.ninja" ]; then
    meson setup "$copy/build" "$copy/tree" -Dtests=enabled -Dexamples=disabled -Dcuda=disabled \
        -Doptimization=1 >&2
fi
exec python3 "$root/scripts/mutants.py" run "$copy/tree" "$copy/build" "${1:-}"
