#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test. The last line counts the cases.
# Usage: scripts/test.sh [options of `meson test`, for example --suite unit]
. "$(dirname "$0")/common.sh"

need gcc libc6-dev g++ meson ninja-build pkg-config python3 zlib1g-dev libcmocka-dev \
    dataset-fashion-mnist
configure "$build" -Dtests=enabled -Dexamples=enabled -Dwerror=true
ninja -C "$build" >&2
status=0
meson test -C "$build" --no-rebuild --print-errorlogs "$@" || status=$?
python3 "$root/scripts/count_cases.py" "$build/meson-logs/testlog.json" || status=1
exit $status
