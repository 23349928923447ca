#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The reference is built without a warning and shows every public symbol.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../build/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
"$here/../../docs/reference.sh" xml "$work/reference"
python3 "$here/reference.py" "$work/reference/xml" "$TERN_SOURCE"
