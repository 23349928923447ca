#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each file that `meson install` installs is in one list of debian/*.install (packages.py).
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || skip "no Python"
install_tern
python3 "$(dirname "$0")/packages.py" "$TERN_SOURCE" "$TERN_BUILD" "$root"
