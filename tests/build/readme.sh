#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program in README.md is examples/quickstart.c, letter for letter.
. "$(dirname "$0")/common.sh"
sed -n '/^```c$/,/^```$/p' "$TERN_SOURCE/README.md" | sed '1d;$d' >"$work/shown"
[ -s "$work/shown" ] || fail "README.md shows no program"
diff "$work/shown" "$TERN_SOURCE/examples/quickstart.c" || fail "README.md shows another program"
