#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library needs no CUDA library, and opens none, nor the plugin, before a CUDA device is asked
# for. Arguments: the shared library, a program that trains on the CPU, one that asks for CUDA.
. "$(dirname "$0")/common.sh"
library=$1 trains=$2 asks=$3

readelf -d "$library" >"$work/needed" || fail "readelf cannot read $library"
grep -q NEEDED "$work/needed" || fail "readelf lists no library that $library needs"
if grep NEEDED "$work/needed" | grep -i -e cuda -e cublas -e curand; then
    fail "$library needs a CUDA library"
fi

# The loader says every file that it looks for.
LD_DEBUG=libs LD_DEBUG_OUTPUT="$work/trains" "$trains" >/dev/null || fail "$trains failed"
cat "$work"/trains.* >"$work/files"
grep -q 'libcmocka' "$work/files" || fail "the loader said nothing"
if grep -i -e 'libcu' -e 'tern-cuda' "$work/files"; then
    fail "a CUDA library was looked for by a program that never asked for a device"
fi

# The same, of a program that does ask, so that the silence above means something.
env -u TERN_CUDA_PLUGIN LD_DEBUG=libs LD_DEBUG_OUTPUT="$work/asks" "$asks" tell >/dev/null || true
cat "$work"/asks.* | grep -q 'libcuda.so.1' || fail "the loader does not show what is opened"
