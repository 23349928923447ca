#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trap_in_gdb.sh PROGRAM: with TERN_TRAP=1 gdb stops where the program's first error is raised,
# shows the call that led to it, and the program can go on.
set -eu
command -v gdb >/dev/null || { echo "skipped: there is no gdb"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
TERN_TRAP=1 DEBUGINFOD_URLS='' gdb -batch -ex 'set startup-with-shell off' -ex run \
    -ex 'print (char *)tern_error_message()' -ex backtrace -ex continue \
    --args "$1" fail >"$log" 2>&1 \
    </dev/null || true
if grep -q -i -e 'ptrace: Operation not permitted' -e 'not being run' "$log" &&
    ! grep -q SIGTRAP "$log"; then
    echo "skipped: programs may not be traced here"
    exit 77
fi
said()
{
    grep -q "$1" "$log" || { cat "$log"; echo "FAILED: gdb does not say: $1"; exit 1; }
}
said 'received signal SIGTRAP'
said 'matmul: a (2, 3) and b (2, 3)'
said 'fail_once () at .*test_trap.c:[0-9]'
# gdb may lose a program whose threads end with it, so the program itself says that it went on.
said 'went on after the error'
