#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program in README.md is examples/minimal.c, letter for letter, in 30 lines or less.
# shellcheck disable=SC1091,SC2013,SC2016,SC2086,SC2154
. "$(dirname "$0")/../build/common.sh"
sed -n '/^<!-- examples\/minimal.c -->$/,/^```$/p' "$TERN_SOURCE/README.md" | sed '1,2d;$d' \
    >"$work/shown"
[ -s "$work/shown" ] || fail "README.md shows no program"
diff "$work/shown" "$TERN_SOURCE/examples/minimal.c" || fail "README.md shows another program"
[ "$(wc -l <"$work/shown")" -le 30 ] || fail "README.md shows a program of more than 30 lines"
