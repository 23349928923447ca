#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh c|cpp|internal: every public header can be the only one, and so can every header of src
# that is no template. There is at least one.
# shellcheck disable=SC1091,SC2013,SC2016,SC2086,SC2154
. "$(dirname "$0")/../build/common.sh"
cd "$TERN_SOURCE" # of names without blanks, wherever the tree is
flags=-Iinclude
headers=$(find include/tern -name '*.h' | sort)
case $1 in
c) command="$CC -std=c11 -x c" ;;
cpp)
    [ -n "$CXX" ] || skip "no C++ compiler"
    command="$CXX -std=c++17 -x c++"
    ;;
internal)
    command="$CC -std=c11 -x c -D_GNU_SOURCE -Wno-unused-function"
    flags="$flags -Isrc"
    headers=$(find src -name '*.h' | sort)
    ;;
esac

# A template waits for words that the including source defines, and says so in its first lines; so
# does what includes one.
is_template()
{
    head -n 10 "$1" | grep -qi 'a template\|including source' && return 0
    for part in $(sed -n 's/^#include "\(.*\)"/\1/p' "$1"); do
        is_template "src/$part" && return 0
    done
    return 1
}

in_tern_h()
{
    [ "${1##*/}" = tern.h ] || grep -q "#include <tern/${1#include/tern/}>" include/tern/tern.h
}

bad=0
count=0
templates=0
for header in $headers; do
    if [ "$1" = internal ]; then
        is_template "$header" && { templates=$((templates + 1)); continue; }
    else
        in_tern_h "$header" || fail "tern.h does not include ${header##*/}"
    fi
    count=$((count + 1))
    printf '#include "%s"\nint main(void) { return 0; }\n' "$header" |
        $command $warnings -fsyntax-only $flags - || bad=$((bad + 1))
done
printf '%d headers alone, %d templates left out\n' $count $templates
[ $count -gt 5 ] || fail "only $count headers"
[ $bad = 0 ] || fail "$bad of $count headers"
