#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Asking for a backend that is not there stops the setup with a sentence that says so.
. "$(dirname "$0")/common.sh"

if meson setup "$work/b" "$TERN_SOURCE" -Dcuda=enabled >"$work/log" 2>&1; then
    fail "-Dcuda=enabled was accepted without a CUDA backend"
fi
grep -q 'ERROR: .*-Dcuda=enabled: .*no CUDA backend' "$work/log" ||
    { cat "$work/log"; fail "the reason is not said"; }
