#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi.py INCLUDE: prints, as a C program, what compiled programs rely on in the headers of that
folder: functions, types of callbacks, structs with their fields, enums. It no longer compiles,
or links, when one of these is changed or gone; what is new does not matter to it. $CC compiles."""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

CC = shlex.split(os.environ.get('CC') or 'cc')
ATTRIBUTE = r'__attribute__ ?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)'
HEAD = '''\
// The ABI of tern, written by tests/build/abi.py.
#include <stddef.h>
#include <tern/tern.h>
#define SIZE(type, size) _Static_assert(sizeof(type) == size, #type);
#define FIELD(struct_, name, offset, ...) \\
    _Static_assert(offsetof(struct_, name) == offset, #struct_ "." #name); \\
    _Static_assert(__builtin_types_compatible_p(__typeof__(((struct_ *)NULL)->name), \\
                                                __VA_ARGS__), #struct_ "." #name);
#define VALUE(name, value) _Static_assert(name == value, #name);
'''


def statements(include):
    """Those of the headers themselves, preprocessed, without attributes and inline functions."""
    command = [*CC, '-std=c11', '-E', '-I' + include, '-x', 'c', '-']
    text = subprocess.run(command, input='#include <tern/tern.h>\n', capture_output=True, text=True,
                          check=True).stdout
    lines, ours = [], False
    for line in text.split('\n'):
        mark = re.match(r'# \d+ "([^"]*)"', line)
        if mark:
            ours = mark[1].startswith(include)
        elif ours:
            lines.append(line)
    text = re.sub(r'\s+', ' ', ' '.join(lines))
    text = re.sub(r'\s+;', ';', re.sub(ATTRIBUTE, '', text))
    text = re.sub(r'static inline [^{;]*\{(?:[^{}]|\{[^{}]*\})*\}', '', text)
    return [each.strip() for each in re.findall(r'(?:[^;{]|\{[^}]*\})*;', text)]


def field(text):
    """(name, type) of the declaration of a field."""
    text = text.strip()
    match = (re.match(r'(.*\(\*)(\w+)(\).*)$', text) or  # a pointer to a function, an array
             re.match(r'(.*?)(\w+)((?:\[[^]]*\])*)$', text))
    return match[2], (match[1].strip() + match[3]).strip()


def values_of(include, expressions):
    """Of integer constant expressions, as the compiler has them."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'values')
        lines = ''.join(f'    printf("%lld\\n", (long long)({each}));\n' for each in expressions)
        subprocess.run([*CC, '-std=c11', '-I' + include, '-x', 'c', '-', '-o', program], text=True,
                       input='#include <stddef.h>\n#include <stdio.h>\n#include <tern/tern.h>\n'
                       'int main(void)\n{\n' + lines + '    return 0;\n}\n', check=True)
        out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(zip(expressions, out.split()))


def lines_of(include):
    checks, declarations, functions = [], [], []
    for text in statements(include):
        body = re.match(r'(?:typedef )?(struct|enum) (\w+) \{(.*)\}', text)
        if body and body[1] == 'enum':
            checks += [('VALUE({}, {})', name.split('=')[0].strip()) for name in
                       body[3].split(',')]
        elif body:
            name = 'struct ' + body[2]
            checks.append(('SIZE({}, {})', name, f'sizeof({name})'))
            for part in filter(str.strip, body[3].split(';')):
                member, kind = field(part)
                checks.append((f'FIELD({name}, {member}, {{1}}, {kind})', '',
                               f'offsetof({name}, {member})'))
        elif text.startswith('typedef'):
            declarations.append(text)
        elif '(' in text:
            # In parentheses, for some are macros as well.
            declarations.append(re.sub(r'(\w+) ?\(', r'(\1)(', text, count=1))
            functions.append(re.search(r'(\w+) ?\(', text)[1])
    values = values_of(include, [check[-1] for check in checks])
    yield from (check[0].format(check[1], values[check[-1]]) for check in checks)
    yield from declarations
    yield 'typedef void function(void);'
    yield 'static function *const functions[] = {'
    yield from (f'    (function *){name},' for name in functions)
    yield '};'
    yield 'int main(void) { return functions[0] == NULL; }'


def main():
    sys.stdout.write(HEAD)
    for line in lines_of(os.path.join(os.path.abspath(sys.argv[1]), '')):
        print('\n'.join(textwrap.wrap(line, 98, subsequent_indent='    ')))


main()
