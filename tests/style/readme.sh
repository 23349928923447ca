#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The program in README.md is examples/quickstart.c, letter for letter.
# shellcheck disable=SC1091,SC2013,SC2016,SC2086,SC2154
. "$(dirname "$0")/../build/common.sh"
sed -n '/^```c$/,/^```$/p' "$TERN_SOURCE/README.md" | sed '1d;$d' >"$work/shown"
[ -s "$work/shown" ] || fail "README.md shows no program"
diff "$work/shown" "$TERN_SOURCE/examples/quickstart.c" || fail "README.md shows another program"
