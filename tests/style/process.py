# SPDX-License-Identifier: Apache-2.0
"""The library ends no process, but by the signal that TERN_TRAP=1 asks for, and prints only in
functions named *_print."""
import re

from tree import c_sources

ENDS = re.compile(r'\b(_?exit|_Exit|quick_exit|at_quick_exit|abort|assert|raise|kill|'
                  r'__assert_fail|__builtin_trap|__builtin_abort|pthread_kill|pthread_exit)\b')
SIGNAL = ('src/base/trap.c', 'raise')  # TERN_TRAP
PRINTS = re.compile(r'\b(v?printf|puts|putchar|putchar_unlocked|perror|v?dprintf|psignal|'
                    r'__builtin_printf|__builtin_puts|stdout|stderr|STDOUT_FILENO|'
                    r'STDERR_FILENO)\b')
PRINTER = re.compile(r'_print(_with)?$')


def check_ends(root):
    count, findings = 0, []
    for source in c_sources(root, ('src',)):
        count += 1
        for match in ENDS.finditer(source.code):
            if (source.path, match.group()) == SIGNAL:
                continue
            findings.append(source.finding(
                source.line_at(match.start()),
                f'{match.group()}: the library ends no process; hand an error on'))
    return f'{count} files', count, findings


def check_prints(root):
    count, findings = 0, []
    for source in c_sources(root, ('src',)):
        count += 1
        printers = [f for f in source.functions() if PRINTER.search(f.name)]
        for match in PRINTS.finditer(source.code):
            line = source.line_at(match.start())
            if not any(f.first <= line <= f.last for f in printers):
                findings.append(source.finding(
                    line, f'{match.group()} outside a function named *_print: write to the FILE '
                          'that the caller gave, or raise an error'))
    return f'{count} files', count, findings
