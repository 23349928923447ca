#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the line and branch coverage of src by the whole suite, kernels for CUDA as the simulated
# device runs them; fails under 90 % of the lines, and under 95 % of those kernels.
# Usage: scripts/coverage.sh [options of gcovr, for example --html-details coverage.html]
. "$(dirname "$0")/common.sh"

need gcc libc6-dev g++ meson ninja-build pkg-config python3 zlib1g-dev libpng-dev libjpeg-dev \
    libcmocka-dev dataset-fashion-mnist gcovr
dir=$build-coverage
configure "$dir" -Dtests=enabled -Dexamples=enabled -Db_coverage=true -Doptimization=1 \
    -Dcuda=disabled \
    -Dc_args=-fprofile-update=atomic
ninja -C "$dir" meson-test-prereq >&2
find "$dir" -name '*.gcda' -delete
# Every instruction set compiles the same lines: each has to run for the figure to be fair.
status=0
for isa in portable avx2 avx512; do
    TERN_CPU_ISA=$isa meson test -C "$dir" --no-rebuild --print-errorlogs -t 10 \
        --suite unit --suite conformance >&2 || status=1
done
meson test -C "$dir" --no-rebuild --print-errorlogs -t 10 \
    --no-suite unit --no-suite conformance --no-suite style --no-suite docs >&2 || status=1
gcovr --root "$root" --filter "$root/src/" --object-directory "$dir" \
    --exclude-unreachable-branches --print-summary --fail-under-line 90 "$@" "$dir" || status=1
say "kernels for CUDA:"
gcovr --root "$root" --filter "$root/src/cuda/.*\.cuh?\$" --object-directory "$dir" \
    --print-summary --fail-under-line 95 "$dir" || status=1
exit $status
