# SPDX-License-Identifier: Apache-2.0
"""Each source file names its licence first: one SPDX line, after #! where there is one."""
import os

from tree import C_SUFFIXES, Finding, all_files

SCRIPTS = ('.sh', '.py')


def comment_mark(path, first_line):
    """What begins a comment in a source file; None for other files."""
    name = os.path.basename(path)
    if path.endswith(C_SUFFIXES):
        return '//'
    if path.endswith(SCRIPTS) or name.startswith('meson') or first_line.startswith('#!'):
        return '#'
    return None


def check(root):
    count, findings = 0, []
    for path in all_files(root):
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
            lines = [file.readline().rstrip('\n') for _ in range(2)]
        mark = comment_mark(path, lines[0])
        if mark is None:
            continue
        count += 1
        expected = f'{mark} SPDX-License-Identifier: Apache-2.0'
        at = 1 if lines[0].startswith('#!') else 0
        if lines[at] != expected:
            findings.append(Finding(path, at + 1, f'the first line is to be: {expected}'))
    return f'{count} files', count, findings
