# SPDX-License-Identifier: Apache-2.0
"""The files that the rules look at, and C seen as text: without comments, with its functions."""
import os
import re
import subprocess
from collections import namedtuple

C_FOLDERS = ('src', 'include', 'tests', 'examples', 'tools', 'bench')
FOLDERS = C_FOLDERS + ('scripts', 'docs', 'debian', '.ci')
EDITORS = ('~', '.swp')  # what editors leave
C_SUFFIXES = ('.c', '.h', '.cpp', '.cu', '.cuh')

Finding = namedtuple('Finding', 'path line text')
# Lines from 1, both included; head: what stands before the brace.
Function = namedtuple('Function', 'name first last head')
Macro = namedtuple('Macro', 'name words body start')  # words: its parameters

_COMMENT = r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/'
_LITERAL = r'"(?:[^"\\\n]|\\.|\\\n)*"|\'(?:[^\'\\\n]|\\.)*\''
_TOKEN = re.compile(f'({_COMMENT})|({_LITERAL})', re.S)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.M | re.S)
_NAME = re.compile(r'((?:\b\w+)?\(\w+\)|\w+)\s*$')
_TYPE = re.compile(r'\b(?:struct|union|enum)\s+(\w+)\s*\{')
_TYPEDEF = re.compile(r'(?:^typedef\b[^;{]*?|^\}\s*)(\w+)(?:\([^;{}]*\))?;', re.M)
_DEFINE = re.compile(r'\s*#\s*define\s+(\w+)(?:\(([^)]*)\))?(.*)', re.S)


def blanked(match):
    """The match as spaces, its lines kept."""
    return re.sub(r'[^\n]', ' ', match.group())


def is_build_folder(folder):
    return os.path.exists(os.path.join(folder, 'build.ninja'))


def walk(root, folders=FOLDERS):
    """Paths of all files below the folders, relative to the root, sorted."""
    for folder in folders:
        for where, below, names in os.walk(os.path.join(root, folder)):
            below[:] = sorted(name for name in below if name != '__pycache__'
                              and not is_build_folder(os.path.join(where, name)))
            for name in sorted(name for name in names if not name.endswith(EDITORS)):
                yield os.path.relpath(os.path.join(where, name), root)


def all_files(root):
    """The project's files in the root itself, then everything below the folders."""
    names = set(os.listdir(root))
    if '.git' in names:  # others may keep notes beside ours
        listed = subprocess.run(['git', '-C', root, 'ls-files', '--', ':(glob)*'], text=True,
                                capture_output=True, check=False)
        names = names & set(listed.stdout.split()) if listed.returncode == 0 else names
    for name in sorted(names - {'.git'}):
        if os.path.isfile(os.path.join(root, name)):
            yield name
    yield from walk(root)


class Source:
    """One C file. `code` has neither comments nor literals, `bare` no comments; lines are kept."""

    def __init__(self, root, path):
        self.path = path
        with open(os.path.join(root, path), encoding='utf-8') as file:
            self.text = file.read()
        self.lines = self.text.split('\n')
        self.bare = _TOKEN.sub(lambda m: blanked(m) if m.group(1) else m.group(), self.text)
        self.code = _TOKEN.sub(blanked, self.text)

    def finding(self, line, text):
        return Finding(self.path, line, text)

    def line_at(self, offset):
        return self.text.count('\n', 0, offset) + 1

    def includes(self):
        """(line, '"' or '<', name) of each."""
        for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)', self.bare, re.M):
            yield self.line_at(match.start(1)), match.group(1), match.group(2)

    def defines(self):
        """Its macros."""
        for match in _DIRECTIVE.finditer(self.code):
            macro = _DEFINE.match(match.group())
            if macro:
                name, words, body = macro.groups()
                yield Macro(name, [word.strip() for word in (words or '').split(',')], body,
                            match.start())

    def macros(self):
        """#defines that go over several lines, as functions."""
        for macro in self.defines():
            if '\n' in macro.body:
                first = self.line_at(macro.start)
                yield Function(macro.name, first, first + macro.body.count('\n'), '')

    def words(self):
        """Every name in it."""
        return set(re.findall(r'\b[A-Za-z_]\w*', self.code))

    def types(self):
        """The names of its structs, enums and typedefs."""
        return set(_TYPE.findall(self.code)) | set(_TYPEDEF.findall(self.code))

    def undirected(self):
        """`code` without preprocessor lines."""
        return _DIRECTIVE.sub(blanked, self.code)

    def functions(self):
        """Definitions, from the line of the first word to that of the closing brace."""
        depth, head, start, opened, opened_head = 0, '', 0, None, ''
        branches = []  # the depth at which each open #if began
        line, before = 1, '\n'
        directives = {self.line_at(m.start() + m.group().index('#')): m.group().strip()
                      for m in _DIRECTIVE.finditer(self.code)}
        for part in re.findall(r'[{};\n]|[^{};\n]+', self.undirected()):
            if part == '\n':
                line += 1
                depth = _branch(directives.get(line, ''), branches, depth)
            elif part == '{' and (depth > 0 or not head.strip().startswith('extern')):
                depth += 1
                opened = _function_name(head) if depth == 1 else opened
                opened_head = head if depth == 1 else opened_head
            elif part == '}':
                depth = max(depth - 1, 0)
                if depth == 0 and opened:
                    yield Function(opened, start, line, opened_head)
                    opened = None
            if depth == 0:
                if part in '{};' or _is_call(head, before, part):
                    head = ''
                if part not in '{};':
                    start = start if head.strip() else line
                    head += part
            before = part


def _is_call(head, before, part):
    """A macro's call between declarations has no semicolon: another line begins at its margin."""
    return before == '\n' and part[0] not in ' \t\n' and head.rstrip().endswith(')')


def _branch(directive, branches, depth):
    """The depth after a line: both sides of an #if begin at the same one."""
    if directive.startswith('#if'):
        branches.append(depth)
    elif directive.startswith(('#else', '#elif')) and branches:
        return branches[-1]
    elif directive.startswith('#endif') and branches:
        branches.pop()
    return depth


def _function_name(head):
    """The name where `head` is what stands before a function's brace, else None."""
    head = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', ' ', head)
    head = head.rstrip()
    if not head.endswith(')') or re.search(r'\b(struct|union|enum)\s+\w+\(\w+\)$', head):
        return None
    depth = 0
    for at in range(len(head) - 1, -1, -1):
        depth += {')': 1, '(': -1}.get(head[at], 0)
        if depth == 0:
            name = _NAME.search(head[:at])
            return name.group(1) if name else None
    return None


def c_sources(root, folders=C_FOLDERS):
    for path in walk(root, folders):
        if path.endswith(C_SUFFIXES):
            yield Source(root, path)
