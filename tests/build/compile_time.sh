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

# define NAME STATEMENT: a function that consists of it.
define()
{
    cat <<END
void $1($parameters);
void $1($parameters)
{
    (void)net, (void)x, (void)opt, (void)set, (void)loader, (void)dev, (void)dtype;
    $2
}
END
}

# compile COMPILER FLAG OPTIONS: the file $work/statement; what is said of it is in $work/log.
compile()
{
    # shellcheck disable=SC2086
    $1 $options $3 "$2" "$TERN_SOURCE/include" -o "$work/object" "$work/statement" \
        >"$work/log" 2>&1
}

# says KIND COMPILER FLAG STATEMENT: whether the compiler's words are of that kind.
says()
{
    { printf '#include <stdio.h>\n#include <tern/tern.h>\n'; define statement "$4"; } \
        >"$work/statement"
    case $1 in
    fails) ! compile "$2" "$3" -fsyntax-only ;;
    silent) compile "$2" "$3" "-c $warnings" && [ ! -s "$work/log" ] ;;
    warns) compile "$2" "$3" -c && grep -q 'warning:' "$work/log" ;;
    counts) # clang has no word for it
        compile "$2" "$3" -c || return 1
        case $2 in gcc* | g++*) grep -q 'warning:' "$work/log" ;; esac
        ;;
    hints)
        compile "$2" "$3" -c || return 1
        case $2$3 in g??-isystem) ;; *) grep -q 'warning:' "$work/log" ;; esac
        ;;
    esac
}

# all_silent COMPILER FLAG: whether no word is said of all the silent statements in one file.
all_silent()
{
    {
        printf '#include <stdio.h>\n#include <tern/tern.h>\n'
        grep '^silent' "$list" | while read -r kind statement; do
            number=$((${number:-0} + 1))
            define "$kind$number" "$statement"
        done
    } >"$work/statement"
    compile "$1" "$2" "-c $warnings" && [ ! -s "$work/log" ]
}

bad=0
count=0
found=0
for compiler in $compilers; do
    command -v "$compiler" >/dev/null || continue
    found=$((found + 1))
    quiet=
    for flag in -I -isystem; do
        all_silent "$compiler" $flag && quiet="$quiet $flag "
    done
    while read -r kind statement; do
        case $kind in '' | '#') continue ;; esac
        [ "$kind" = fails ] && flags=-isystem || flags='-I -isystem'
        for flag in $flags; do
            count=$((count + 1))
            case $kind$quiet in silent*" $flag "*) continue ;; esac
            says "$kind" "$compiler" "$flag" "$statement" && continue
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
