#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_time.sh c11|c++17|c++20: what compilers say of the statements beside it, each alone, by
# gcc and by clang where they are, with the headers as the project's own and as the system's, where
# compilers say less.
. "$(dirname "$0")/common.sh"
list=$(dirname "$0")/compile_time.txt
case $1 in
c11)
    compilers="gcc clang"
    options="-x c -std=$1"
    ;;
c++*)
    compilers="g++ clang++"
    options="-x c++ -std=$1"
    list=$(dirname "$0")/compile_time_cpp.txt
    ;;
esac

parameters='tern_module *net, tern_tensor *x, tern_optim *opt, tern_dataset *set, '
parameters="$parameters tern_loader *loader, tern_device dev, tern_dtype dtype"

# says KIND COMPILER FLAG STATEMENT: whether the compiler's words are of that kind.
says()
{
    cat >"$work/statement" <<END
#include <stdio.h>
#include <tern/tern.h>
void statement($parameters);
void statement($parameters)
{
    (void)net, (void)x, (void)opt, (void)set, (void)loader, (void)dev, (void)dtype;
    $4
}
END
    more=
    [ "$1" != silent ] || more=$warnings
    # shellcheck disable=SC2086
    if $2 $options $more "$3" "$TERN_SOURCE/include" -c -o "$work/object" "$work/statement" \
        >"$work/log" 2>&1; then
        case $1 in
        fails) return 1 ;;
        warns) grep -q 'warning:' "$work/log" ;;
        hints) case $2$3 in g??-isystem) ;; *) false ;; esac || grep -q 'warning:' "$work/log" ;;
        silent) [ ! -s "$work/log" ] ;;
        esac
    else
        [ "$1" = fails ]
    fi
}

bad=0
count=0
found=0
for compiler in $compilers; do
    command -v "$compiler" >/dev/null || continue
    found=$((found + 1))
    while read -r kind statement; do
        case $kind in '' | '#') continue ;; esac
        [ "$kind" = fails ] && flags=-isystem || flags='-I -isystem'
        for flag in $flags; do
            count=$((count + 1))
            says "$kind" "$compiler" $flag "$statement" && continue
            bad=$((bad + 1))
            printf '%s %s: not "%s": %s\n' "$compiler" $flag "$kind" "$statement"
            cat "$work/log"
        done
    done <"$list"
done
[ $found -gt 0 ] || skip "no compiler by these names: $compilers"
printf '%d statements, %d compilers\n' $count $found
[ $count -gt 10 ] || fail "only $count statements"
[ $bad = 0 ] || fail "$bad of $count statements"
