#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs every test. The last line counts the cases.
# Usage: scripts/test.sh [options of `meson test`, for example --suite unit]
. "$(dirname "$0")/common.sh"

need gcc libc6-dev g++ meson ninja-build pkg-config python3 zlib1g-dev libcmocka-dev \
    dataset-fashion-mnist
werror=false # a compiler newer than this tree may warn of more: only our own runs insist
[ -z "${CI:-}" ] || werror=true
configure "$build" -Dtests=enabled -Dexamples=enabled -Dwerror=$werror
ninja -C "$build" >&2
status=0
meson test -C "$build" --no-rebuild --print-errorlogs "$@" || status=$?
python3 "$root/scripts/count_cases.py" "$build/meson-logs/testlog.json" || status=1
exit $status
