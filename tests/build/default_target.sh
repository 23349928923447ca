#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `ninja` alone makes the libraries and the examples: nothing of the tests, the simulated device and
# the programs that measure.
. "$(dirname "$0")/common.sh"
sed -n 's/^build all: phony //p' "$TERN_BUILD/build.ninja" | tr ' ' '\n' >"$work/made"
grep -q '^libtern\.so' "$work/made" || fail "the library is not made: $(head -n 5 "$work/made")"
if grep -e '^tests/' -e '^bench/' -e '-prereq$' "$work/made"; then
    fail "these are made as well"
fi
