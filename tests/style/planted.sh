#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The scripts beside it pass on a copy of the tree and fail once a fault is planted in it.
# shellcheck disable=SC1091,SC2013,SC2016,SC2086,SC2154
. "$(dirname "$0")/../build/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
tree=$TERN_SOURCE
export TERN_SOURCE="$work/copy"

# fresh: the copy is as the tree.
fresh()
{
    rm -rf "$TERN_SOURCE"
    mkdir -p "$TERN_SOURCE/examples" "$TERN_SOURCE/src"
    cp -R "$tree/include" "$tree/README.md" "$TERN_SOURCE"
    cp -R "$tree/src/base" "$TERN_SOURCE/src" # enough, and quick
    cp "$tree/examples/minimal.c" "$TERN_SOURCE/examples"
}

passes()
{
    script=$1
    shift
    "$here/$script" "$@" >"$work/log" 2>&1 && return
    cat "$work/log"
    fail "$script $*: fails without a fault"
}

# finds PART SCRIPT WORD...: fails now, and says PART. Then the copy is as the tree again.
finds()
{
    part=$1
    script=$2
    shift 2
    "$here/$script" "$@" >"$work/log" 2>&1 && fail "$script $*: did not find '$part'"
    grep -q "$part" "$work/log" || { cat "$work/log"; fail "$script $*: did not say '$part'"; }
    fresh
}

fresh
passes readme.sh
passes headers.sh c
passes headers.sh internal

sed -i 's/seed(42)/seed(43)/' "$TERN_SOURCE/README.md"
finds 'seed(43)' readme.sh
sed -i 's/seed(42)/seed(43)/' "$TERN_SOURCE/examples/minimal.c"
finds 'seed(43)' readme.sh

sed -i '/#include <tern\/base.h>/d' "$TERN_SOURCE/include/tern/threads.h"
sed -i '/#include <tern\/error.h>/d' "$TERN_SOURCE/include/tern/threads.h"
finds threads.h headers.sh c
sed -i '/<tern\/idx.h>/d' "$TERN_SOURCE/include/tern/tern.h"
finds 'does not include idx.h' headers.sh c
sed -i '/#include/d' "$TERN_SOURCE/src/base/text.h"
finds text.h headers.sh internal

if command -v doxygen >/dev/null; then
    passes reference.sh
    sed -i 's/^TERN_END_DECLS$/TERN_API int tern_planted(int x);\n&/' \
        "$TERN_SOURCE/include/tern/idx.h"
    finds 'tern_planted.* is not documented' reference.sh
    sed -i 's|^/// Reads a whole file|/// See @ref tern_nothing. Reads a whole file|' \
        "$TERN_SOURCE/include/tern/idx.h"
    finds 'tern_nothing' reference.sh
    sed -i 's|TERN_CUDA  *///< .*|TERN_CUDA|' "$TERN_SOURCE/include/tern/device.h"
    finds TERN_CUDA reference.sh
fi

if [ -n "$CXX" ]; then
    passes headers.sh cpp
    sed -i 's/^TERN_END_DECLS$/int tern_planted(int new);\n&/' "$TERN_SOURCE/include/tern/base.h"
    passes headers.sh c
    finds base.h headers.sh cpp
fi
