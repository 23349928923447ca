#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Doxygen's input filter: says of each constructor's family what the headers say once, in base.h.

    reference_filter.py HEADER

Gives `x_defaults`, the macro over `x_with` and the field `reserved_` their sentence where they have
none. Lines keep their numbers. The rest of the reference is the text of the headers.
"""
import re
import sys

DEFAULTS = re.compile(r'^TERN_API \w+ (\w+)_defaults\(void\);$')
MACRO = re.compile(r'^#define (\w+)\(\.\.\.\)')
RESERVED = re.compile(r'^\s+char reserved_;$')


def is_comment(line):
    return line.lstrip().startswith('///')


def filtered(text):
    lines = text.split('\n')
    result = []
    for line in lines:
        bare = not (result and is_comment(result[-1]))
        defaults, macro = DEFAULTS.match(line), MACRO.match(line)
        if defaults and bare:
            line += f' ///< The options of {defaults.group(1)} as they are unless said.'
        elif RESERVED.match(line):
            line += ' ///< Not for use: what follows is required, what is before has a default.'
        elif macro and bare and f'{macro.group(1)}_with(' in text:
            name = macro.group(1)
            result[-1] += (f' /** Calls {name}_with(): the required values come first, then '
                           'options by name, as in `.field = value`. */')
        result.append(line)
    return '\n'.join(result)


if __name__ == '__main__':
    with open(sys.argv[1], encoding='utf-8') as file:
        sys.stdout.write(filtered(file.read()))
