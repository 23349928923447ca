#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cuda_option.sh missing|broken auto|enabled|disabled: what the setup makes of such a CUDA toolkit
# with the option cuda set so.
. "$(dirname "$0")/common.sh"

case $1 in
missing) reason="no nvcc: looked for $toolkit/bin/nvcc" ;;
broken)
    reason='nvcc does not work: planted fault'
    stub_toolkit 'echo planted fault >&2; exit 1'
    ;;
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
