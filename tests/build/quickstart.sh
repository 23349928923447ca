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
[ "$(wc -l <"$work/out")" = 2 ] || fail "two epochs print two lines"
tail -n 1 "$work/out" | grep -q '^epoch 2: 100.0 %' || fail "it has not learnt two kinds of images"
