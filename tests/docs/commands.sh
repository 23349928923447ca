#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The lines of docs/getting-started.md that build a program against an installed tern do so, with
# the program of that guide: by pkg-config, as a Meson project and as one of CMake.
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

# In a place of its own, without a word to the loader.
block prefix >build.sh
grep -q -- '-rpath' build.sh || fail "the guide does not say where a program finds the library"
moved=$root/$(pkg-config --variable=prefix tern | sed "s|^$root||")
sed -i "s|pkg-config|& --define-variable=prefix=$moved|g" build.sh
(
    unset LD_LIBRARY_PATH PKG_CONFIG_SYSROOT_DIR
    . ./build.sh
    ./train >out
) || fail "the program does not find the library"

block meson.build >meson.build
grep -q "dependency('tern'" meson.build || fail "the guide has no meson.build"
[ -z "$TERN_FLAGS" ] || skip "Meson would have to be told of the sanitizer"
meson setup b >log 2>&1 || { cat log; fail "meson setup"; }
ninja -C b >log 2>&1 || { cat log; fail "ninja"; }
b/train >out || fail "the program that Meson built fails"

command -v cmake >/dev/null || skip "no cmake"
block CMakeLists.txt >CMakeLists.txt
grep -q 'find_package(tern' CMakeLists.txt || fail "the guide has no CMakeLists.txt"
rm -rf b
cmake -B b -Dtern_DIR="$libdir/cmake/tern" >log 2>&1 || { cat log; fail "cmake"; }
cmake --build b >log 2>&1 || { cat log; fail "cmake --build"; }
b/train >out || fail "the program that CMake built fails"
