# SPDX-License-Identifier: Apache-2.0
"""The symbols of the public headers, each with its comment."""
import importlib.util
import os
import re
from collections import namedtuple

from tree import Source, walk

# kind: function, type, macro, field or value; result: what a function returns.
Symbol = namedtuple('Symbol', 'kind name line comment result')

FUNCTION = re.compile(r'^(?:TERN_API|static inline)\s([^;{]*?)\b(tern_\w+)\s*\([^;{]*[;{]', re.M)
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)(?:[^\n\\]|\\\n|\\.)*', re.M)
BODY = re.compile(r'^(?:typedef )?(struct|enum) (\w+) \{(.*?)\}[^;{}]*;', re.M | re.S)
TYPE = re.compile(r'^typedef\s+(?!\w+ \w+ \{)[^;{}]*?(\w+)(?:\([^;{}]*\))?;', re.M)
# default and delete are C++'s words for its constructors.
FIELD = re.compile(r'\(\*(\w+)\)\([^()]*\)|\b(?!(?:default|delete)\b)(\w+)(?:\[\w*\])*\s*[;,]')
VALUE = re.compile(r'\b(TERN_\w+)\s*(?:=[^,}]*)?(?:,|\s*$)', re.S)


HERE = os.path.dirname(os.path.abspath(__file__))
FILTER = os.path.join(HERE, '..', '..', 'docs', 'reference_filter.py')


def load_filter():
    """What is made of a header for Doxygen: the text that readers see."""
    spec = importlib.util.spec_from_file_location('reference_filter', FILTER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.filtered


filtered = load_filter()


class Header(Source):
    """A public header as the reference shows it."""

    def __init__(self, root, path):
        super().__init__(root, path)
        self.shown = filtered(self.text).split('\n')

    def opening(self):
        """The paragraphs after @file, the lines' marks taken away."""
        begin = next((at for at, line in enumerate(self.lines) if line == '/// @file'), None)
        if begin is None:
            return ''
        end = begin + 1
        while self.lines[end].startswith('///'):
            end += 1
        return '\n'.join(line[3:].strip() for line in self.lines[begin + 1:end])

    def comment(self, first, last):
        """The comment above line `first`, or the one that ends line `last` (from 1)."""
        above = first - 2
        text = []
        while above >= 0 and re.match(r'\s*///(?!<)', self.shown[above]):
            text.insert(0, self.shown[above].strip()[3:].strip())
            above -= 1
        if '///<' in self.shown[last - 1]:
            text.append(self.shown[last - 1].split('///<')[1].strip())
            while last < len(self.shown) and re.match(r'\s*///<', self.shown[last]):
                text.append(self.shown[last].split('///<')[1].strip())
                last += 1
        return ' '.join(text)

    def _symbol(self, kind, name, begin, end, result=''):
        line = self.line_at(begin)
        return Symbol(kind, name, line, self.comment(line, self.line_at(end)), result.strip())

    def guard(self):
        name = self.path[len('include/tern/'):-len('.h')]
        return f'TERN_{name.upper().replace("/", "_")}_H'

    def symbols(self):
        for match in FUNCTION.finditer(self.code):
            yield self._symbol('function', match.group(2), match.start(), match.end(),
                               match.group(1))
        for match in MACRO.finditer(self.code):
            if match.group(1) != self.guard():
                yield self._symbol('macro', match.group(1), match.start(), match.end())
        for match in TYPE.finditer(self.code):
            yield self._symbol('type', match.group(1), match.start(), match.end())
        for match in BODY.finditer(self.code):
            one_line = '\n' not in match.group()
            yield self._symbol('type', match.group(2), match.start(),
                               match.end() if one_line else match.start())
            if not one_line:
                yield from self._members(match)

    def _members(self, body):
        kind, pattern = ('field', FIELD) if body.group(1) == 'struct' else ('value', VALUE)
        for match in pattern.finditer(body.group(3)):
            name = next(each for each in match.groups() if each)
            at = body.start(3) + match.start(match.lastindex)
            yield self._symbol(kind, name, at, at)


def headers(root):
    for path in walk(root, ('include/tern',)):
        if path.endswith('.h'):
            yield Header(root, path)
