#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bugs.sh PROGRAM TABLE MODE...: each planted bug that a mode finds makes the program fail, and say
# what it found: an end of any other kind is no finding.
program=$1
table=$2
shift 2
said=$(mktemp)
trap 'rm -f "$said"' EXIT

environment()
{
    case $1 in
    lazy) echo TERN_SIM_STREAMS=lazy ;;
    guard) echo TERN_SIM_GUARD=1 ;;
    leaks) echo TERN_SIM_LEAKS=1 ;;
    interblock) echo TERN_SIM_INTERBLOCK=1 ;;
    *) echo TERN_SIM_SEED=1 ;;
    esac
}

# is_found MODE BUG WORDS
is_found()
{
    env "$(environment "$1")" "$program" "$2" >"$said" 2>&1
    status=$?
    if [ "$3" = 'nothing found' ]; then
        [ $status = 0 ] || return 1
    else
        [ $status != 0 ] || return 1
    fi
    grep -qF -- "$3" "$said"
}

passed=0
failed=0
for mode in "$@"; do
    while IFS='|' read -r bug modes words; do
        bug=${bug%% *}
        [ "${modes#* everywhere}" = "$modes" ] || modes="$modes plain lazy guard asan tsan "
        case " $modes " in
        *" $mode "*) ;;
        *) continue ;;
        esac
        words=${words# }
        if is_found "$mode" "$bug" "$words"; then
            passed=$((passed + 1))
            printf 'found: %s (%s): %s\n' "$bug" "$mode" "$words"
        else
            failed=$((failed + 1))
            printf 'MISSED: %s (%s): "%s" is not what was said, with status %d:\n' \
                "$bug" "$mode" "$words" "$status"
            cat "$said"
        fi
    done <"$table"
done
printf '[  PASSED  ] %d test(s)\n' $passed
[ $failed = 0 ] || printf '[  FAILED  ] %d test(s)\n' $failed
[ $failed = 0 ] && [ $passed != 0 ]
