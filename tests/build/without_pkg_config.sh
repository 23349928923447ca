#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without pkg-config the setup finds zlib and cmocka by the compiler, and tern.pc names zlib so that
# the static library links.
. "$(dirname "$0")/common.sh"

PKG_CONFIG=/bin/false meson setup "$work/b" "$TERN_SOURCE" -Dtests=enabled -Dexamples=disabled \
    -Dcuda=disabled -Dcudasim=disabled >"$work/log" 2>&1 || { cat "$work/log"; fail "meson setup"; }
pc=$work/b/meson-private/tern.pc
grep -q '^Libs.private:.* -lz\b' "$pc" || { cat "$pc"; fail "tern.pc does not link zlib"; }
if grep '^Requires.private' "$pc"; then
    fail "tern.pc asks for a package that pkg-config did not find"
fi
