#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lines of docs/getting-started.md that build a program against an installed tern do so, with
# the program of that guide: by pkg-config, and as a Meson project.
. "$(dirname "$0")/../build/common.sh"

# block MARK: the block after the comment <!-- run: MARK -->.
block()
{
    awk -v mark="<!-- run: $1 -->" '$0 == mark { here = 1; next }
        here && /^```/ { if (inside) exit; inside = 1; next }
        inside' "$TERN_SOURCE/docs/getting-started.md"
}

install_tern
export LD_LIBRARY_PATH="$libdir"
cp "$TERN_SOURCE/docs/snippets/train.c" "$work/"
cd "$work"

block program >build.sh
grep -q '^cc ' build.sh || fail "the guide has no line for the compiler"
cc()
{
    command $CC $warnings $TERN_FLAGS "$@"
}
. ./build.sh
./train | tail -n 1 | grep -q '^epoch 10: .* % right$' ||
    fail "the program does not end as it should"

block meson.build >meson.build
grep -q "dependency('tern'" meson.build || fail "the guide has no meson.build"
[ -z "$TERN_FLAGS" ] || skip "Meson would have to be told of the sanitizer"
meson setup b >log 2>&1 || { cat log; fail "meson setup"; }
ninja -C b >log 2>&1 || { cat log; fail "ninja"; }
b/train >out || fail "the program that Meson built fails"
