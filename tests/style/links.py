# SPDX-License-Identifier: Apache-2.0
"""Which file defines a name, and which names of others a file uses: the library seen as text.

A name is what the library's globals carry: tern_ at its beginning. Kernels are reached through
tables of pointers, whose fields have no such names; a name that a macro pastes together is a
definition where the macro makes functions, and never a use.
"""
import os
import re

from tree import Source, c_sources

HEADERS = ('.h', '.cuh')
UNITS = ('.c', '.cu', '.cpp')

_NAME = re.compile(r'\bTERN_ISA_NAME\(\w+\)|(?<!\.)(?<!->)\b(?:tern|TERN)_\w+')
_FUNCTION = re.compile(r'(?:^|\()(tern_\w+)\)?$|^(TERN_ISA_NAME\(\w+\))$')
_DATA = re.compile(r'^(?!static\b|extern\b|typedef\b)(?:\w+[ *]+)+?(tern_\w+)(?:\[\w*\])* =', re.M)
_CALL = re.compile(r'\b([A-Z]\w*)\(((?:[^()]|\([^()]*\))*)\)')
_MARGIN_CALL = re.compile(r'^' + _CALL.pattern, re.M)
_MADE = re.compile(r'\b(tern_\w+)\)?\s*\([^;{}]*\)\s*\{')


def is_header(path):
    return path.endswith(HEADERS)


def line_of(source, name):
    """Where a name is used first, comments and literals apart."""
    match = re.search(rf'(?<!\w){re.escape(name)}(?!\w)', source.code)
    return source.line_at(match.start()) if match else 1


def expanded(name, words, macros, depth=4):
    """A macro's call as the preprocessor writes it, calls in it expanded in turn."""
    macro = macros.get(name)
    if not macro or not depth:
        return ''
    words = [word.strip() for word in words.split(',')]
    given = dict(zip(macro.words, words), __VA_ARGS__=', '.join(words[len(macro.words) - 1:]))
    body = re.sub(r'\w+', lambda m: given.get(m.group(), m.group()), macro.body.replace('\\', ''))
    body = re.sub(r'\s*##\s*', '', body)
    return body + ''.join(expanded(*call, macros, depth - 1) for call in _CALL.findall(body))


def made_by_macros(source, header_macros, lists):
    """The functions whose heads come from macros that are called at the margin."""
    macros = {**header_macros, **{macro.name: macro for macro in source.defines()}}
    for text in [source.undirected(), *lists]:
        for call in _MARGIN_CALL.findall(text):
            for made in _MADE.finditer(expanded(*call, macros)):
                if not re.search(r'\bstatic\b[^;}]*$', made.string[:made.start()]):
                    yield made.group(1)


class Links:
    """sources: by path. defined: a name to the files of src that define it."""

    def __init__(self, root):
        self.root = root
        self.sources = {source.path: source for source in c_sources(root, ('src', 'include'))}
        self.functions = {path: [*source.functions()] for path, source in self.sources.items()}
        self.macros = {macro.name: macro for path in self.sources if is_header(path)
                       for macro in self.sources[path].defines()}
        self.defined, self.behind = {}, {}
        for source in self.sources.values():
            if source.path.startswith('src/'):
                for name in self._names_defined(source):
                    self.defined.setdefault(name, set()).add(source.path)
        self._look_behind()

    def _names_defined(self, source):
        for function in self.functions[source.path]:
            name = _FUNCTION.search(function.name)
            if name and not re.search(r'\bstatic\b', function.head):
                yield name.group(1) or name.group(2)
        if not is_header(source.path):
            yield from _DATA.findall(source.code)
            yield from made_by_macros(source, self.macros, self._lists(source))

    def _lists(self, source):
        for _, quote, name in source.includes():
            path = os.path.join(self.root, 'src', name)
            if quote == '"' and name.endswith('.def') and os.path.exists(path):
                yield Source(self.root, f'src/{name}').code

    def _look_behind(self):
        """What the macros of headers, and the inline functions of public ones, use in turn."""
        for name, macro in self.macros.items():
            self.behind[name] = set(_NAME.findall(macro.body)) - {name}
        for path, functions in self.functions.items():
            if path.startswith('include/'):
                for function in functions:
                    self.behind[function.name] = set(self._names_in(path, [function]))

    def _names_in(self, path, functions):
        """The names in the bodies of functions; in a header all else only declares."""
        lines = self.sources[path].undirected().split('\n')
        for function in functions:
            yield from _NAME.findall('\n'.join(lines[function.first - 1:function.last]))

    def used(self, path):
        """{name: how it is written} of each name that others define, macros seen through."""
        if is_header(path):
            names = self._names_in(path, self.functions[path])
        else:
            names = _NAME.findall(self.sources[path].code)
        found, todo = {}, [(name, name) for name in sorted(set(names))]
        seen = {function.name for function in self.functions[path]}
        while todo:
            name, written = todo.pop(0)
            if name in seen:
                continue
            seen.add(name)
            for whole in (name, name + '_with'):
                if path not in self.defined.get(whole, {path}):
                    found.setdefault(whole, written)
            todo += [(each, written) for each in sorted(self.behind.get(name, ()))]
        return found

    def own_unit(self, path):
        """A header and the source file of its name are one: the path of the source file."""
        stem = os.path.splitext(path)[0]
        if is_header(path):
            return next((stem + unit for unit in UNITS if stem + unit in self.sources), path)
        return path
