# SPDX-License-Identifier: Apache-2.0
"""No notes to oneself, no code that is switched off, no switch that hides a missing enumerator, no
intrinsic in a kernel."""
import os
import re

from tree import c_sources

NOTE = re.compile(r'\b(TODO|FIXME|XXX|HACK)\b')
OFF = re.compile(r'^[ \t]*#[ \t]*if[ \t]+(0|false)\b', re.M)
SWITCH = re.compile(r'\bswitch\s*\(')
# An enumerator, one that a macro's parameter completes, or a macro of cases as kernels have them.
OUR_CASE = re.compile(r'\bcase\s+[A-Z]\w*(?:##\w+)*\s*:|\b[A-Z]\w*_CASES?\b')
DEFAULT = re.compile(r'\bdefault\s*:')
INTRINSIC = re.compile(r'\b(?:\w*mmintrin|_mm\d*_\w+|__m(?:128|256|512)\w*)\b')
VECTORS = ('vec.h', 'vec_half.h')


def block_after(code, start):
    """(begin, end) of the braces that open after `start`."""
    begin = code.index('{', start)
    depth = 0
    for at in range(begin, len(code)):
        depth += {'{': 1, '}': -1}.get(code[at], 0)
        if depth == 0:
            return begin, at
    return begin, len(code)


def check_intrinsics(root):
    """Kernels of the CPU are plain C over the vector layer."""
    count, findings = 0, []
    for source in c_sources(root, ('src/cpu',)):
        count += 1
        for match in INTRINSIC.finditer(source.code):
            if os.path.basename(source.path) not in VECTORS:
                findings.append(source.finding(source.line_at(match.start()),
                                               'an intrinsic outside of the vector layer, '
                                               + ' and '.join(VECTORS)))
    return f'{count} files', count, findings


def check_leftovers(root):
    count, findings = 0, []
    for source in c_sources(root, ('src', 'include')):
        count += 1
        for match in NOTE.finditer(source.text):
            findings.append(source.finding(source.line_at(match.start()),
                                           f'{match.group()}: do it, or leave it out'))
        for match in OFF.finditer(source.code):
            findings.append(source.finding(source.line_at(match.start()),
                                           'code that is switched off: remove it'))
    return f'{count} files', count, findings


def check_switches(root):
    """-Wswitch, which the build has on, reports a missing case unless there is a default."""
    count, findings = 0, []
    for source in c_sources(root, ('src', 'include')):
        for match in SWITCH.finditer(source.code):
            count += 1
            begin, end = block_after(source.code, match.end())
            default = DEFAULT.search(source.code, begin, end)
            if default and OUR_CASE.search(source.code, begin, end):
                findings.append(source.finding(
                    source.line_at(default.start()),
                    'a default in a switch over an enum hides a missing case: return after it'))
    return f'{count} switches', count, findings
