#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_time.sh c11|c++17|c++20: what compilers say of the statements beside it, by gcc and by
# clang where they are, with the headers as the project's own and as the system's, where compilers
# say less. Those of a kind are compiled together, and those alone of which that proves nothing.
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

# asked COMPILER FLAG: writes the list as it is for this compiler, which warns of what counts and
# hints or just compiles it. With the other flag as many fail.
asked()
{
    case $1 in clang*) counts=compiles ;; *) counts=warns ;; esac
    case $1$2 in g??-isystem) hints=compiles ;; *) hints=warns ;; esac
    [ "$2" = -isystem ] && fails=fails || fails='#    '
    sed "s/^counts /$counts /; s/^hints /$hints /; s/^fails /$fails /" "$list" >"$work/asked"
}

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

# says KIND COMPILER FLAG OPTION...: whether what is said of $work/statement is of that kind.
says()
{
    kind=$1
    compiler=$2
    flag=$3
    shift 3
    case $kind in
    fails) ! compile "$compiler" "$flag" "-fsyntax-only $*" ;;
    silent) compile "$compiler" "$flag" "-c $warnings" && [ ! -s "$work/log" ] ;;
    warns) compile "$compiler" "$flag" -c && grep -q 'warning:' "$work/log" ;;
    compiles) compile "$compiler" "$flag" -c ;;
    esac
}

# together KIND COMPILER FLAG: prints the numbers of lines whose statements, all in one file, are
# of the kind. Each is in a file of its number to the compiler, and so are functions between them:
# an error there is of a statement that goes on past its end.
together()
{
    {
        printf '#include <stdio.h>\n#include <tern/tern.h>\n'
        grep -n "^$1 " "$work/asked" | while IFS=: read -r number line; do
            printf '#line 1 "%d.txt"\n' "$number"
            define "statement$number" "${line#"$1"}"
            printf '#line 1 "between.txt"\n'
            define "between$number" ''
        done
    } >"$work/statement"
    case $2 in # every error, where the statement is and not the macro
    clang*) every=-ferror-limit=0 ;;
    *) every=-ftrack-macro-expansion=0 ;;
    esac
    says "$1" "$2" "$3" $every || return 0
    case $1 in
    silent | compiles) grep -n "^$1 " "$work/asked" | cut -d: -f1 ;;
    fails)
        grep -q '^between' "$work/log" ||
            sed -n 's/^\([0-9]*\)\.txt:[0-9:]* error: .*/\1/p' "$work/log"
        ;;
    warns) sed -n 's/^\([0-9]*\)\.txt:[0-9:]* \(warning\|note\): .*/\1/p' "$work/log" ;;
    esac
}

# alone COMPILER FLAG KIND STATEMENT
alone()
{
    { printf '#include <stdio.h>\n#include <tern/tern.h>\n'; define statement "$4"; } \
        >"$work/statement"
    says "$3" "$1" "$2"
}

bad=0
count=0
found=0
for compiler in $compilers; do
    command -v "$compiler" >/dev/null || continue
    found=$((found + 1))
    for flag in -I -isystem; do
        asked "$compiler" "$flag"
        proved=" $(for kind in fails silent warns compiles; do
            together "$kind" "$compiler" "$flag"
        done | tr '\n' ' ')"
        number=0
        while read -r kind statement; do
            number=$((number + 1))
            case $kind in '' | '#') continue ;; esac
            count=$((count + 1))
            case $proved in *" $number "*) continue ;; esac
            alone "$compiler" "$flag" "$kind" "$statement" && continue
            bad=$((bad + 1))
            printf '%s:%d: %s %s: not "%s": %s\n' "${list##*/}" "$number" "$compiler" "$flag" \
                "$kind" "$statement"
            cat "$work/log"
        done <"$work/asked"
    done
done
[ $found -gt 0 ] || skip "no compiler by these names: $compilers"
printf '%d statements, %d compilers\n' $count $found
[ $count -gt 10 ] || fail "only $count statements"
[ $bad = 0 ] || fail "$bad of $count statements"
