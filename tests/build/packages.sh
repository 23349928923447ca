#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || skip "no Python"
install_tern
python3 "$(dirname "$0")/packages.py" "$TERN_SOURCE" "$TERN_BUILD" "$root"
