#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_archs.sh 'CAPABILITY...' 'CODE...': what -Dgpu_archs=native has nvcc make where nvidia-smi
# shows GPUs of these compute capabilities; without any it is an error. Both are stubs.
. "$(dirname "$0")/common.sh"
stub_toolkit 'exit 0'
printf '#!/bin/sh\nprintf "%%s\\n" %s\n' "$1" >"$work/nvidia-smi"
chmod +x "$work/nvidia-smi"

status=0
PATH=$work:$PATH meson setup "$work/b" "$TERN_SOURCE" -Dtests=disabled -Dexamples=disabled \
    "-Dtoolkit=$toolkit" -Dgpu_archs=native >"$work/log" 2>&1 || status=$?
if [ -z "$1" ]; then
    [ "$status" != 0 ] || fail "the setup goes on without a GPU"
    grep -q 'ERROR: .*-Dgpu_archs=native: nvidia-smi shows no GPU' "$work/log" ||
        { cat "$work/log"; fail "the error does not say what is missing"; }
    exit 0
fi
[ "$status" = 0 ] || { cat "$work/log"; fail "the setup ended with $status"; }
grep -o ',code=[a-z0-9_]*' "$work/b/build.ninja" | sort -u >"$work/found"
printf ',code=%s\n' $2 | sort >"$work/expected"
diff "$work/expected" "$work/found" || fail "expected (<) and found (>) code differ"
