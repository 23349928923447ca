#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh c|cpp: every public header can be the only one, and there is at least one.
. "$(dirname "$0")/common.sh"
case $1 in
c) command="$CC -std=c11 -x c" ;;
cpp)
    [ -n "$CXX" ] || skip "no C++ compiler"
    command="$CXX -std=c++17 -x c++"
    ;;
esac

bad=0
count=0
for header in "$TERN_SOURCE"/include/tern/*.h; do
    count=$((count + 1))
    printf '#include <tern/%s>\nint main(void) { return 0; }\n' "${header##*/}" |
        $command $warnings -fsyntax-only -I"$TERN_SOURCE/include" - || bad=$((bad + 1))
    grep -q "#include <tern/${header##*/}>" "$TERN_SOURCE/include/tern/tern.h" ||
        [ "${header##*/}" = tern.h ] || fail "tern.h does not include ${header##*/}"
done
[ $count -gt 10 ] || fail "only $count headers"
[ $bad = 0 ] || fail "$bad of $count headers"
