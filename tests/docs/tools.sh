#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools.sh asan|valgrind: run as docs/finding-a-mistake.md says, the tool finds the mistake of
# docs/snippets/dangling.c and names its function; without TERN_CACHE=0 AddressSanitizer does not.
# shellcheck disable=SC2015,SC2086,SC2154
. "$(dirname "$0")/../build/common.sh"
[ -z "$TERN_FLAGS" ] || skip "the library is instrumented already"
install_tern
export LD_LIBRARY_PATH="$libdir"
flags=$(pkg-config --cflags --libs tern)
source=$TERN_SOURCE/docs/snippets/dangling.c

# finds WORDS: the tool's words and the function that reads.
finds()
{
    grep -q "$1" "$work/log" && grep -q 'read_late' "$work/log" ||
        { cat "$work/log"; fail "the tool does not say: $1"; }
}

case $1 in
asan)
    echo 'int main(void) { return 0; }' >"$work/empty.c"
    $CC -fsanitize=address -o "$work/empty" "$work/empty.c" 2>/dev/null && "$work/empty" ||
        skip "there is no AddressSanitizer"
    $CC -g -fsanitize=address -o "$work/train" "$source" $flags
    "$work/train" >"$work/log" 2>&1 || { cat "$work/log"; fail "found with the cache too"; }
    TERN_CACHE=0 "$work/train" >"$work/log" 2>&1 && fail "AddressSanitizer finds nothing"
    finds heap-use-after-free
    ;;
valgrind)
    command -v valgrind >/dev/null || skip "there is no valgrind"
    $CC -g -o "$work/train" "$source" $flags
    TERN_CACHE=0 TERN_CPU_ISA=avx2 valgrind --error-exitcode=9 "$work/train" >"$work/log" 2>&1 &&
        fail "valgrind finds nothing"
    finds 'Invalid read of size 4'
    ;;
esac
