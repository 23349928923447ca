#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library shows exactly what the public headers declare and tests/reliability/abi-*.txt
# has, so that a change of the ABI is seen in review; the static one defines nothing else than names
# that begin with tern_. What it imports cannot be redirected, and calls that write into a buffer
# check its size where that is known.
. "$(dirname "$0")/common.sh"
[ -z "$TERN_FLAGS" ] || skip "instrumented libraries have symbols of their own"
install_tern

nm -D --defined-only "$libdir/libtern.so" | awk '{ print $3 }' | sort >"$work/exported"
find "$TERN_SOURCE/include/tern" -name '*.h' -exec cat {} + | tr '\n' ' ' | sed 's/TERN_API/\n&/g' |
    sed -n 's/^TERN_API[^(;]*[ *]\(tern_[a-z0-9_]*\)(.*/\1/p' | sort >"$work/declared"
[ "$(wc -l <"$work/declared")" -gt 100 ] || fail "too few declarations were found"
diff "$work/declared" "$work/exported" || fail "declared (<) and exported (>) differ"
kept_abi
sed -n 's/^ *(function \*)\(.*\),/\1/p' "$kept" | sort >"$work/listed"
diff "$work/listed" "$work/exported" || fail "listed (<) and exported (>) differ: $write"

readelf -dlW "$libdir/libtern.so" >"$work/headers"
grep -q GNU_RELRO "$work/headers" && grep FLAGS_1 "$work/headers" | grep -q NOW ||
    fail "the table of imports stays writable"
if [ -n "$TERN_FORTIFIED" ]; then
    for library in libtern.so libtern.a; do
        nm -u "$libdir/$library" | sed 's/@.*//; s/.* //' | sort -u >"$work/imports"
        grep -qx '__vsnprintf_chk' "$work/imports" || fail "calls in $library check no sizes"
    done
fi

nm -g --defined-only "$libdir/libtern.a" | awk 'NF == 3 { print $3 }' | grep -v '^tern_' &&
    fail "libtern.a defines these globals"
exit 0
