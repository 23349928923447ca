#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says of each family of options what the headers say once, in options.h.

    reference_filter.py INCLUDE/TERN FOLDER

Copies the headers for Doxygen: gives `x_defaults`, which names its values, the macros over
`x_with` and over numbers and the field `reserved_` their sentence where they have none. Lines keep
their numbers.
"""
import os
import re
import sys

DEFAULTS = re.compile(r'^TERN_API \w+ (\w+)_defaults\(void\);$')
MACRO = re.compile(r'^#define (\w+)\(\.\.\.\)')
VALUES = re.compile(r'^#define (TERN_\w+_(?:DEFAULTS|FIELDS)_)\b((?:.*\\\n)*.*)', re.M)
NUMBERS = re.compile(r'^#define (\w+)\(\w[^)]*\).*TERN_SCALAR_\(')
RESERVED = re.compile(r'^\s+char reserved_;$')


def is_comment(line):
    return line.lstrip().startswith('///')


def one_line(lines, words):
    """A macro on its last line, with what is said of it: behind several Doxygen misreads that."""
    return [''] * (len(lines) - 1) + [' '.join(line.rstrip('\\').strip() for line in lines) + words]


def values_of(text):
    """The values of the macros that state defaults, as one line each."""
    return {name: ' '.join(words.replace('\\\n', ' ').split())
            for name, words in VALUES.findall(text)}


def opening(line, text):
    """The sentence of the macro that begins on a line without a comment above, or None."""
    macro = MACRO.match(line)
    if macro and f'{macro.group(1)}_with(' in text:
        return (f' ///< Calls {macro.group(1)}_with(): the required values come first, then '
                'options by name, as in `.field = value`.')
    values = VALUES.match(line)
    if values and values.group(1).endswith('_DEFAULTS_'):
        return ' ///< What the options are unless said.'
    return ' ///< What comes by position: options.h.' if values else None


def filtered(text):
    values = values_of(text)
    lines = text.split('\n')
    result = []
    behind_macro, begin = None, 0  # what to say of the macro that is open, and where that begins
    for line in lines:
        bare = not (result and is_comment(result[-1]))
        defaults = DEFAULTS.match(line)
        if defaults and bare:
            known = values.get(f'{defaults.group(1).upper()}_DEFAULTS_', '')
            line += f' ///< The options unless said: `{known}`.'
        elif RESERVED.match(line):
            line += ' ///< Not for use: what follows is required, what is before has a default.'
        elif NUMBERS.match(line) and bare:
            line += ' ///< The function, with numbers of any C type; see scalar.h.'
        elif bare and not behind_macro and opening(line, text):
            behind_macro, begin = opening(line, text), len(result)
        result.append(line)
        if behind_macro and not line.endswith('\\'):
            result[begin:] = one_line(result[begin:], behind_macro)
            behind_macro = None
    return '\n'.join(result)


def main(source, target):
    for folder, _, names in os.walk(source):
        into = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(into, exist_ok=True)
        for name in sorted(name for name in names if name.endswith('.h')):
            with open(os.path.join(folder, name), encoding='utf-8') as file:
                text = filtered(file.read())
            with open(os.path.join(into, name), 'w', encoding='utf-8') as file:
                file.write(text)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
