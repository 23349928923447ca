#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that were compiled with the first release of this minor version (from 1.0 on: of this
# major one) run with the library as it is now: the program that tests/reliability keeps of them
# compiles with the headers and links with the library.
. "$(dirname "$0")/common.sh"
[ -z "$TERN_FLAGS" ] || skip "instrumented libraries have symbols of their own"
[ "$(echo __SIZEOF_POINTER__ | $CC -E -P -)" = 8 ] || skip "the sizes are those of 64-bit machines"
install_tern
kept_abi

$CC -std=c11 $(pkg-config --cflags tern) -x c -o "$work/program" "$kept" -x none \
    $(pkg-config --libs tern) >"$work/log" 2>&1 || {
    cat "$work/log"
    fail "the ABI is not that of $abi. If $abi.0 was released, raise the version in meson.build;" \
        "then: $write"
}
LD_LIBRARY_PATH=$libdir "$work/program" || fail "the program does not start"
