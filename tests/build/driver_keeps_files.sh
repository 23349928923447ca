#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# driver_keeps_files.sh PROGRAM: a test that asks for CUDA passes beside a driver, here a stub,
# that keeps a file open.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"
[ -z "$TERN_FLAGS" ] || skip "the stub knows nothing of sanitizers"
cat >"$work/driver.c" <<'END'
#include <fcntl.h>
__attribute__((constructor)) static void start(void)
{
    open("/dev/null", O_RDONLY);
}
END
$CC -shared -fPIC -o "$work/libcuda.so.1" "$work/driver.c"

unset TERN_CUDA_PLUGIN
TERN_CPU_DEVICES=4 LD_DEBUG=libs LD_DEBUG_OUTPUT="$work/opened" LD_LIBRARY_PATH="$work" "$1" cpu \
    >"$work/log" 2>&1 || { cat "$work/log"; fail "the driver's file is held against the test"; }
cat "$work"/opened.* | grep -q "init: $work/libcuda.so.1" || fail "the stub was not opened"
