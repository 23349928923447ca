#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cuda_option.sh missing|broken auto|enabled|disabled: what the setup makes of such a CUDA toolkit
# with the option cuda set so.
. "$(dirname "$0")/common.sh"
toolkit=$work/toolkit

broken_toolkit()
{
    mkdir -p "$toolkit/bin" "$toolkit/include" "$toolkit/lib64"
    printf '#!/bin/sh\necho planted fault >&2\nexit 1\n' >"$toolkit/bin/nvcc"
    chmod +x "$toolkit/bin/nvcc"
    for name in cudart cublas curand; do
        echo 'int nothing;' | $CC -shared -x c -o "$toolkit/lib64/lib$name.so" -
    done
}

case $1 in
missing) reason="no nvcc: looked for $toolkit/bin/nvcc" ;;
broken) reason='nvcc does not work: planted fault'; broken_toolkit ;;
esac
case $2 in
auto) status=0 expected="CUDA backend *: no: $reason" ;;
enabled) status=1 expected="ERROR: .*-Dcuda=enabled: $reason" ;;
disabled) status=0 expected='CUDA backend *: no: switched off' ;;
esac

found=0
meson setup "$work/b" "$TERN_SOURCE" -Dtests=disabled -Dexamples=disabled "-Dcuda=$2" \
    "-Dtoolkit=$toolkit" >"$work/log" 2>&1 || found=1
[ "$found" = "$status" ] || { cat "$work/log"; fail "the setup ended with $found"; }
grep -q "$expected" "$work/log" || { cat "$work/log"; fail "it does not say: $expected"; }
