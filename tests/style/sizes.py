# SPDX-License-Identifier: Apache-2.0
"""Files, functions and lines are small."""
from statistics import median

from tree import c_sources

FILE_LINES = 500
FUNCTION_LINES = 60
COLUMNS = 100


def too_long(source):
    lines = len(source.lines) - 1
    if lines > FILE_LINES:
        yield source.finding(FILE_LINES + 1,
                             f'{lines} lines, more than {FILE_LINES}: it is two ideas, two files')
    for number, text in enumerate(source.lines, 1):
        if len(text) > COLUMNS:
            yield source.finding(number, f'{len(text)} columns, more than {COLUMNS}: break it')
    for function in [*source.functions(), *source.macros()]:
        length = function.last - function.first + 1
        if length > FUNCTION_LINES:
            yield source.finding(function.first, f'{function.name} has {length} lines, more than '
                                                 f'{FUNCTION_LINES}: split it by what it does')


def check(root):
    findings, files, lengths = [], 0, []
    for source in c_sources(root):
        files += 1
        lengths += [f.last - f.first + 1 for f in source.functions()]
        findings += too_long(source)
    if not lengths:
        return 'no functions', 0, findings
    return (f'{files} files, {len(lengths)} functions: median {median(lengths):g} lines, '
            f'longest {max(lengths)}'), len(lengths), findings
