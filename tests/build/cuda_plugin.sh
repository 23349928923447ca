#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The plugin is installed where the library looks for it, shows nothing but its entry, and needs no
# part of the library.
. "$(dirname "$0")/common.sh"
[ -f "$TERN_BUILD/src/cuda/libtern-cuda.so" ] || skip "there is no CUDA toolkit"
[ -z "$TERN_FLAGS" ] || skip "instrumented libraries have symbols of their own"
install_tern

plugin=$libdir/tern/libtern-cuda.so
[ -f "$plugin" ] || fail "$plugin is not installed"
shown=$(nm -D --defined-only "$plugin" | awk '{ print $3 }')
[ "$shown" = tern_backend_v1 ] || fail "it shows: $shown"
needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$needed" | grep -q '^libcublas' || fail "it needs no cuBLAS: $needed"
echo "$needed" | grep '^libtern' && fail "it needs the library"
nm -D --undefined-only "$plugin" | grep ' tern_' && fail "it leaves these to the library"

# The library itself needs no CUDA library.
readelf -d "$libdir/libtern.so" | grep -i 'NEEDED.*\(cuda\|cublas\|curand\)' &&
    fail "libtern.so needs them"
exit 0
