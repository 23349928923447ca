#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# decimal_comma.sh NAME PROGRAM...: every program passes where numbers are written with a comma. The
# locale is made here, in a folder that goes away again.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v localedef >/dev/null || { echo 'skipped: there is no localedef'; exit 77; }
localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >"$work/log" 2>&1 ||
    { cat "$work/log"; echo 'skipped: the sources of de_DE are not here'; exit 77; }
export LOCPATH="$work" LC_ALL=de_DE.UTF-8 TERN_TEST_LOCALE=,

bad=0
count=0
for program in "$@"; do
    count=$((count + 1))
    devices=1
    group=
    # Beside a program it may be a group of the suite errors, which works with two devices.
    [ -e "$program" ] || { devices=2 group=${program##* } program=${program% *}; }
    TERN_CPU_DEVICES=$devices "$program" ${group:+"$group"} >"$work/log" 2>&1 || [ $? = 77 ] ||
        { cat "$work/log"; echo "FAILED: $program $group"; bad=$((bad + 1)); }
done
echo "$count programs, $bad failed"
[ "$count" -gt 0 ] && [ "$bad" = 0 ]
