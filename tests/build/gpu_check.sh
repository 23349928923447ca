#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Without a GPU scripts/gpu_check.sh says what it leaves out, and that nothing was checked; what it
# does not know is an error.
# shellcheck disable=SC2154
. "$(dirname "$0")/common.sh"
if nvidia-smi >/dev/null 2>&1; then
    skip "there is a GPU"
fi
export TERN_BUILD="$work/b" TERN_REPORT="$work/report" TERN_PACK="$work/pack"

# ends STATUS WORD...
ends()
{
    wanted=$1
    shift
    status=0
    "$TERN_SOURCE/scripts/gpu_check.sh" "$@" >"$work/out" 2>"$work/log" || status=$?
    [ "$status" = "$wanted" ] || { cat "$work/log"; fail "$*: ends with $status, not $wanted"; }
}

(unset TERN_REQUIRE_CUDA && ends 77 1 suite)
(export TERN_REQUIRE_CUDA=1 && ends 1 racecheck)
for words in '1 suite' racecheck; do
    grep -q "^$words: skipped, no NVIDIA driver\$" "$TERN_REPORT/report.txt" ||
        fail "the report does not say that $words was skipped"
done
[ "$(grep -c 'no GPU$' "$TERN_REPORT/report.txt")" = 2 ] ||
    fail "the report has not a heading for each run"

ends 2 1 suites
grep -q 'unknown part or step: suites' "$work/log" || fail "the unknown step is not named"
ends 2
grep -q '^  *suite  *1  every test that runs on a GPU' "$work/out" || fail "the steps are not told"
