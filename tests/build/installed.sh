#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Headers, their description, both libraries, the soname, tern.pc and the programs arrive; tern.pc
# says the version, and so do the programs, which find the library beside them.
. "$(dirname "$0")/common.sh"
install_tern

include=$(pkg-config --cflags-only-I tern | sed 's/^-I//; s/ .*//')
find "$TERN_SOURCE/include" -name '*.h' | while read -r header; do
    cmp "$header" "$include/${header#"$TERN_SOURCE/include/"}" || fail "the header ${header##*/}"
done || exit 1
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$TERN_SOURCE/meson.build" | head -n 1)
[ "$(pkg-config --modversion tern)" = "$version" ] || fail "tern.pc is not of version $version"
command -v python3 >/dev/null && { find "$root" -path '*/share/tern/tern.json' | grep -q . ||
    fail "no description of the headers"; }
[ -f "$libdir/libtern.a" ] || fail "no libtern.a"
abi=${version%.*} # until 1.0
for link in libtern.so "libtern.so.$abi"; do
    [ "$(readlink -f "$libdir/$link")" = "$libdir/libtern.so.$version" ] ||
        fail "$link is no link to libtern.so.$version"
done
objdump -p "$libdir/libtern.so" | grep -q "SONAME *libtern.so.$abi\$" || fail "the soname"
pkg-config --static --libs tern | grep -q -e '-lz' || fail "the static libraries lack zlib"
if pkg-config --libs tern | grep -q -e '-lz'; then fail "the shared library asks for zlib"; fi
for tool in tern-file tern-watch; do
    program=$(find "$root" -path "*/bin/$tool")
    [ "$(env -u LD_LIBRARY_PATH "$program" --version)" = "$tool $version" ] || fail "$tool"
    find "$root" -path "*/man/man1/$tool.1*" | grep -q . || fail "no manual page of $tool"
done
