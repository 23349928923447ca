#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without a GPU scripts/gpu_check.sh says what it leaves out; what it does not know is an error.
. "$(dirname "$0")/common.sh"
if nvidia-smi >/dev/null 2>&1; then
    skip "there is a GPU"
fi
check=$TERN_SOURCE/scripts/gpu_check.sh
export TERN_BUILD="$work/b" TERN_REPORT="$work/report"

"$check" suite memcheck:1/4 first:floor bench:64 2>"$work/log" || fail "a skipped part is a failure"
"$check" racecheck 2>"$work/log" || fail "a skipped part is a failure"
for part in suite memcheck:1/4 first:floor bench:64 racecheck; do
    grep -q "^$part: skipped, no NVIDIA driver\$" "$work/report" ||
        { cat "$work/report"; fail "the report does not say that $part was skipped"; }
done
[ "$(grep -c 'no GPU$' "$work/report")" = 2 ] || fail "the report has not a heading for each run"

status=0
"$check" suites 2>"$work/log" || status=$?
[ $status = 2 ] || fail "an unknown part ends with $status"
grep -q 'unknown part: suites' "$work/log" || fail "the unknown part is not named"
