#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where the library looks for the CUDA backend: beside itself, wherever the working directory is by
# then; and in a setuid program neither where the environment says nor below a relative path.
# Arguments: the shared library, the program of plugin_search.c.
. "$(dirname "$0")/common.sh"
library=$(realpath "$1") search=$(realpath "$2")

chmod 755 "$work"
work=$(realpath "$work")
cd "$work"
mkdir lib there there/lib
cp "$library" lib/libtern.so.0
$CC -shared -Wl,-soname,libcuda.so.1 -o libcuda.so.1 -x c /dev/null
: >lib/libtern-cuda.so # not a library: the loader's complaint names the file that was chosen
: >there/lib/libtern-cuda.so

# asks PROGRAM... : its answer is in $work/answer.
asks()
{
    "$@" >"$work/answer" || fail "$* failed"
}

chooses()
{
    grep -q "$1" "$work/answer" || fail "'$(cat "$work/answer")' does not name $1"
}

avoids()
{
    ! grep -q "$1" "$work/answer" || fail "'$(cat "$work/answer")' names $1"
}

unset TERN_CUDA_PLUGIN
asks "$search" "$work/libcuda.so.1" lib/libtern.so.0 there
chooses "$work/lib/libtern-cuda.so"
asks env LD_LIBRARY_PATH=lib "$search" "$work/libcuda.so.1" libtern.so.0 there
chooses "$work/lib/libtern-cuda.so"
asks env TERN_CUDA_PLUGIN=/nowhere/plugin.so "$search" "$work/libcuda.so.1" lib/libtern.so.0 there
chooses /nowhere/plugin.so

# The rest needs a setuid program, which only root can make and not every file system honours.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
    echo 'setuid programs were left out: this is not root, or there is no setpriv'
    exit 0
fi
cp "$search" privileged
chmod 4755 privileged
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
asks $as_nobody "$work/privileged" "$work/libcuda.so.1" "$work/lib/libtern.so.0" there
if ! grep -q '^privileged: ' "$work/answer"; then
    echo 'setuid programs were left out: the file system does not honour them'
    exit 0
fi
chooses "$work/lib/libtern-cuda.so"
asks env TERN_CUDA_PLUGIN=/nowhere/plugin.so $as_nobody "$work/privileged" "$work/libcuda.so.1" \
    "$work/lib/libtern.so.0" there
avoids /nowhere
asks $as_nobody "$work/privileged" "$work/libcuda.so.1" lib/libtern.so.0 there
avoids libtern-cuda.so:
