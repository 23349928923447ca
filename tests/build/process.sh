#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library ends no process unless TERN_TRAP=1 asks for a signal, runs none, writes to no
# stream but the one it is given, and keeps no more state than tests/reliability/state.txt lists.
. "$(dirname "$0")/common.sh"
[ -z "$TERN_FLAGS" ] || skip "instrumented libraries have state of their own"
install_tern
library=$libdir/libtern.so

# Whole words; what begins with "__" also stands for the checked forms, as __printf_chk.
cat >"$work/forbidden" <<'END'
exit _exit _Exit quick_exit at_quick_exit atexit abort __assert_fail __assert
kill tgkill pthread_kill signal sigprocmask sigaltstack
setlocale fesetenv feenableexcept
printf __printf_chk vprintf __vprintf_chk puts putchar putc_unlocked perror dprintf vdprintf psignal
system popen fork vfork posix_spawn posix_spawnp clone
execl execle execlp execv execve execvp execvpe fexecve
chdir fchdir chroot umask setenv unsetenv putenv clearenv setrlimit setpriority nice
sched_setaffinity srand srandom rand random
END
tr ' ' '\n' <"$work/forbidden" | sort -u >"$work/words"
nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort -u \
    >"$work/imports"
[ "$(wc -l <"$work/imports")" -gt 30 ] || fail "too few imports were found"
comm -12 "$work/words" "$work/imports" >"$work/found"
[ ! -s "$work/found" ] || fail "the library imports: $(tr '\n' ' ' <"$work/found")"

# NULL stands for one of the two where a function prints, and warnings have stderr where there is no
# callback; nobody else knows them.
nm -A -u "$libdir/libtern.a" |
    sed -n 's/.*:src_\(.*\)\.c\.o: *U \(stdout\|stderr\|stdin\)$/\1 \2/p' | sort >"$work/streams"
cat >"$work/printers" <<'END'
base_error stderr
base_log stderr
nn_module_print stdout
tensor_print stdout
train_options stderr
train_script_help stderr
train_script_help stdout
train_summary_summary stdout
END
diff "$work/printers" "$work/streams" || fail "listed (<) and found (>) users of a stream differ"

# TERN_TRAP=1 asks for a signal, in one place.
nm -A -u "$libdir/libtern.a" | sed -n 's/.*:src_\(.*\)\.c\.o: *U raise$/\1/p' >"$work/raisers"
[ "$(cat "$work/raisers")" = base_trap ] || fail "these raise signals: $(cat "$work/raisers")"

# tern_interrupt_catch asks for signals, in one place.
nm -A -u "$libdir/libtern.a" | sed -n 's/.*:src_\(.*\)\.c\.o: *U sigaction$/\1/p' >"$work/catchers"
[ "$(cat "$work/catchers")" = train_fit_interrupt ] ||
    fail "these catch signals: $(cat "$work/catchers")"

# Every exported symbol is code.
nm -D --defined-only "$library" | awk '$2 != "T"' >"$work/data"
[ ! -s "$work/data" ] || fail "exported, but not code: $(cat "$work/data")"

# Compilers give statics of functions names like once.0 or start_workers.once.
readelf -SW "$library" | sed -n 's/^ *\[ *\([0-9]*\)\] \.\(data\|bss\) .*/\1/p' >"$work/sections"
[ "$(wc -l <"$work/sections")" = 2 ] || fail ".data and .bss were not found"
readelf -sW "$library" | awk -v data="$(sed -n 1p "$work/sections")" \
    -v bss="$(sed -n 2p "$work/sections")" '
    $4 == "FILE" { file = $8 == "" ? "-" : $8 }
    $4 == "OBJECT" && ($7 == data || $7 == bss) { print file, $8 }' |
    sed 's/\.[0-9]*$//; s/ [a-z_]*\./ /' |
    grep -v -e ' completed$' -e ' __cpu_' -e ' __dso_handle$' -e ' __TMC_END__$' | sort \
    >"$work/objects"
sed 's/ *#.*//; /^$/d' "$TERN_SOURCE/tests/reliability/state.txt" | sort >"$work/listed"
diff "$work/listed" "$work/objects" || fail "listed (<) and found (>) writable objects differ"
