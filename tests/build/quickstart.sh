#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh learns|fails|c++17|c++20|python: the quickstart builds as a stranger would
# build it. It learns to tell two kinds of images apart, or says which file is missing; the
# one in C++, by every compiler that is here, and the one in Python say what that in C says.
. "$(dirname "$0")/common.sh"
install_tern
$CC -std=c11 $warnings $TERN_FLAGS $(pkg-config --cflags tern) -o "$work/quickstart" \
    "$TERN_SOURCE/examples/quickstart.c" $(pkg-config --libs tern)
export LD_LIBRARY_PATH="$libdir"

if [ "$1" = fails ]; then
    if "$work/quickstart" "$work/nowhere" >"$work/out" 2>"$work/log"; then
        fail "there was no data, but the exit status is 0"
    fi
    cat "$work/log"
    [ "$(wc -l <"$work/log")" = 2 ] || fail "not one sentence and one place"
    sed -n 2p "$work/log" | grep -q '^  at .*quickstart' || fail "the place is not in the program"
    grep -q '^tern: .*nowhere' "$work/log" || fail "the sentence does not name the folder"
    exit 0
fi

. "$(dirname "$0")/../examples/images.sh"
write_images "$work/data" 640 train
write_images "$work/data" 100 t10k
"$work/quickstart" "$work/data" >"$work/out"
cat "$work/out"
[ "$(wc -l <"$work/out")" = 1 ] || fail "not one line"
grep -q '^100.0 %' "$work/out" || fail "it has not learnt two kinds of images"

compilers=$CXX
[ -n "$TERN_FLAGS" ] || compilers="g++ clang++" # a sanitizer is the library's compiler's
for compiler in $compilers; do
    case $1 in c++*) command -v "$compiler" >/dev/null || continue ;; *) continue ;; esac
    $compiler -std="$1" $warnings $TERN_FLAGS -I"$(pkg-config --variable=includedir tern)" -o \
        "$work/quickstart_cpp" "$TERN_SOURCE/examples/quickstart.cpp" $(pkg-config --libs tern)
    "$work/quickstart_cpp" "$work/data" >"$work/out_cpp"
    cmp "$work/out" "$work/out_cpp" || fail "$compiler's program says something else"
done

if [ "$1" = python ]; then
    command -v python3 >/dev/null || skip "no Python"
    [ -z "$TERN_FLAGS" ] || skip "a sanitizer is no Python's"
    example="$TERN_SOURCE/examples/python/quickstart.py"
    json=$(find "$root" -path '*/share/tern/tern.json')
    [ "$(wc -l <"$example")" -le 150 ] || fail "the example is longer than 150 lines"
    python3 "$example" "$libdir/libtern.so" "$json" "$work/data" >"$work/out_python"
    cmp "$work/out" "$work/out_python" || fail "Python's program says something else"
    if python3 "$example" "$libdir/libtern.so" "$json" "$work/nowhere" 2>"$work/log"; then
        fail "there was no data, but the exit status is 0"
    fi
    grep -q '^tern: .*nowhere' "$work/log" || fail "the sentence does not name the folder"
fi
