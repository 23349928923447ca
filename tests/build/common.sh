# SPDX-License-Identifier: Apache-2.0
# For the cases beside it: a folder of one's own that goes away again, the library installed in it
# from the build at hand, and consumers that know nothing of the tree but what pkg-config says.
# From meson: TERN_SOURCE, TERN_BUILD (folders), CC and CXX (commands), TERN_FLAGS (sanitizers),
# TERN_FORTIFIED (where calls check the sizes of buffers).
# shellcheck shell=sh disable=SC2034,SC2046,SC2086

set -eu
export LC_ALL=C # sorted lists are compared
case ${TMPDIR:-} in *' '*) unset TMPDIR ;; esac # what pkg-config says is split at blanks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# Under a sanitizer freed memory is not kept: a program may end without tern_shutdown.
[ -z "$TERN_FLAGS" ] || export TERN_CACHE=0
warnings='-Wall -Wextra -Wpedantic -Werror'

fail()
{
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

skip()
{
    printf 'skipped: %s\n' "$*"
    exit 77
}

toolkit=$work/toolkit

# stub_toolkit COMMANDS: a CUDA toolkit whose nvcc does these.
stub_toolkit()
{
    mkdir -p "$toolkit/bin" "$toolkit/include" "$toolkit/lib64"
    printf '#!/bin/sh\n%s\n' "$1" >"$toolkit/bin/nvcc"
    chmod +x "$toolkit/bin/nvcc"
    for name in cudart cublas curand; do
        echo 'int nothing;' | $CC -shared -x c -o "$toolkit/lib64/lib$name.so" -
    done
}

install_tern()
{
    DESTDIR=$root meson install -C "$TERN_BUILD" --no-rebuild --quiet >"$work/install.log" 2>&1 ||
        { cat "$work/install.log"; fail "meson install"; }
    pc=$(find "$root" -name tern.pc)
    [ -f "$pc" ] || fail "tern.pc is not installed once: '$pc'"
    export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root"
    libdir=$(pkg-config --variable=libdir tern)
    case $libdir in
    "$root"*) ;;
    *) libdir=$root$libdir ;;
    esac
}

# Of the installed tern: its $abi, the file $kept that says what programs rely on in that, and the
# command to $write it.
kept_abi()
{
    abi=$(pkg-config --modversion tern |
        sed 's/^\(0\.[0-9]*\).*/\1/; s/^\([1-9][0-9]*\)\..*/\1/')
    kept=$TERN_SOURCE/tests/reliability/abi-$abi.txt
    write="python3 tests/build/abi.py include >${kept#"$TERN_SOURCE"/}"
    [ -f "$kept" ] || fail "nothing is kept of this version: $write"
}

# consumer STANDARD shared|static FILE: builds FILE in the way and runs it.
consumer()
{
    case $1 in
    c++*) command="$CXX -std=$1" ;;
    *) command="$CC -std=$1" ;;
    esac
    options=
    if [ "$2" = static ]; then
        rm "$libdir"/libtern.so*
        options=--static
    fi
    $command $warnings $TERN_FLAGS $(pkg-config --cflags tern) -o "$work/consumer" "$3" \
        $(pkg-config $options --libs tern)
    LD_LIBRARY_PATH=$libdir "$work/consumer"
}

# plain_build OPTION...: sets up the project in $work in $work/b and builds it, as fast as can be:
# not optimized, and by a cross file for a machine without the instruction sets that have kernels
# of their own.
plain_build()
{
    printf '#!/bin/sh\nexec %s "$@" -O0 -g0\n' "$CC" >"$work/cc"
    chmod +x "$work/cc"
    cat >"$work/plain" <<END
[binaries]
c = '$work/cc'
ar = 'ar'
pkgconfig = 'pkg-config'
[host_machine]
system = 'linux'
cpu_family = 'plain'
cpu = 'plain'
endian = 'little'
[properties]
needs_exe_wrapper = false
END
    meson setup "$work/b" "$work" --cross-file "$work/plain" "$@" >"$work/log" 2>&1 ||
        { cat "$work/log"; fail "meson setup"; }
    ninja -C "$work/b" >"$work/log" 2>&1 || { cat "$work/log"; fail "ninja"; }
}
