# SPDX-License-Identifier: Apache-2.0
"""A source file includes its own header first, so that each header is compiled without others
before it; an include guard follows the path."""
import os
import re

from tree import Finding, all_files

_INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)
_GUARD = re.compile(r'^#ifndef (\w+)\n#define \1\n', re.M)


def line_at(text, offset):
    return text.count('\n', 0, offset) + 1


def header_fault(path, text, paths):
    own = re.sub(r'\.c$', '.h', path)
    first = _INCLUDE.search(text)
    if own == path or own not in paths or not first or f'src/{first[1]}' == own:
        return None
    return Finding(path, line_at(text, first.start()), f'{own} is to be the first include')


def guard_fault(path, text):
    guard = _GUARD.search(text)
    expected = 'TERN_' + re.sub(r'\W', '_', path.upper())
    if not path.endswith(('.h', '.cuh')) or not guard or guard[1] == expected:
        return None
    return Finding(path, line_at(text, guard.start()), f'the guard is to be {expected}')


def check(root):
    paths = {path for path in all_files(root)
             if path.startswith('src/') and path.endswith(('.c', '.h', '.cuh'))}
    findings = []
    for path in sorted(paths):
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = file.read()
        findings += filter(None, (header_fault(path, text, paths), guard_fault(path, text)))
    return f'{len(paths)} files', len(paths), findings
