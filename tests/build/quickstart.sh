#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quickstart.sh learns|fails: the program of the README builds as a stranger would build it. It
# learns to tell two kinds of images apart, or says which file is missing.
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
    [ "$(wc -l <"$work/log")" = 1 ] || fail "not one sentence"
    grep -q '^tern: .*nowhere' "$work/log" || fail "the sentence does not name the folder"
    exit 0
fi

# split COUNT NAME: COUNT images, in turn bright below with label 1 and bright above with label 9.
split()
{
    mkdir -p "$work/data"
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) for (k = 0; k < 784; k++)
        printf "%c", (k < 392) == (i % 2) ? "~" : " " }' >"$work/pixels"
    hex=$(printf '%04x' "$1")
    size="\\0\\0\\$(printf %o 0x"${hex%??}")\\$(printf %o 0x"${hex#??}")"
    { printf '\0\0\10\3'"$size"'\0\0\0\34\0\0\0\34'; cat "$work/pixels"; } |
        gzip >"$work/data/$2-images-idx3-ubyte.gz"
    { printf '\0\0\10\1'"$size"; awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
        printf "%c", i % 2 ? "\t" : "\001" }'; } | gzip >"$work/data/$2-labels-idx1-ubyte.gz"
}
split 640 train
split 100 t10k
"$work/quickstart" "$work/data" >"$work/out"
cat "$work/out"
[ "$(wc -l <"$work/out")" = 2 ] || fail "two epochs print two lines"
tail -n 1 "$work/out" | grep -q '^epoch 2: 100.0 %' || fail "it has not learnt two kinds of images"
