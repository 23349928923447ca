# SPDX-License-Identifier: Apache-2.0
"""Text files are as .editorconfig says: encoding, line ends, blanks, tabs, length of lines."""
import fnmatch
import os
import re

from tree import Finding, all_files

BINARY = ('.png', '.gz', '.npy', '.npz', '.bin', '.pt', '.safetensors', '.pyc', '.idx')


def alternatives(pattern):
    """`[{a,b}]` is a and b."""
    match = re.search(r'\{([^{}]*)\}', pattern)
    if not match:
        return [pattern]
    return [each for word in match.group(1).split(',')
            for each in alternatives(pattern[:match.start()] + word + pattern[match.end():])]


def read_sections(root):
    """(patterns, properties) in the order of the file; later ones win."""
    sections = []
    with open(os.path.join(root, '.editorconfig'), encoding='utf-8') as file:
        for line in file:
            line = line.strip()
            if line.startswith('[') and line.endswith(']'):
                sections.append((alternatives(line[1:-1]), {}))
            elif '=' in line and not line.startswith(('#', ';')) and sections:
                key, _, value = line.partition('=')
                sections[-1][1][key.strip()] = value.strip()
    return sections


def properties_of(path, sections):
    found = {}
    for patterns, properties in sections:
        for pattern in patterns:
            name = path if '/' in pattern else os.path.basename(path)
            if fnmatch.fnmatch(name, pattern.lstrip('/')):
                found.update(properties)
    return found


def wrong_lines(path, text, properties):
    limit = properties.get('max_line_length', 'off')
    for number, line in enumerate(text.split('\n'), 1):
        if '\r' in line and properties.get('end_of_line') == 'lf':
            yield Finding(path, number, 'a carriage return: lines end with LF')
        if re.search(r'[ \t]$', line) and properties.get('trim_trailing_whitespace') == 'true':
            yield Finding(path, number, 'blanks at the end of the line: remove them')
        if re.match(r'[ ]*\t', line) and properties.get('indent_style') == 'space':
            yield Finding(path, number, 'a tab: indent with spaces')
        if limit.isdigit() and len(line) > int(limit):
            yield Finding(path, number, f'{len(line)} columns, more than {limit}: break it')


def wrong_in(path, data, properties):
    if properties.get('charset') == 'utf-8':
        try:
            data.decode('utf-8')
        except UnicodeDecodeError as error:
            line = data.count(b'\n', 0, error.start) + 1
            return [Finding(path, line, 'bytes that are no UTF-8: convert the file')]
    text = data.decode('utf-8', 'replace')
    findings = list(wrong_lines(path, text, properties))
    if text and not text.endswith('\n') and properties.get('insert_final_newline') == 'true':
        findings.append(Finding(path, text.count('\n') + 1, 'the file does not end with a newline'))
    return findings


def check(root):
    sections, count, findings = read_sections(root), 0, []
    for path in all_files(root):
        if path.endswith(BINARY):
            continue
        count += 1
        with open(os.path.join(root, path), 'rb') as file:
            findings += wrong_in(path, file.read(), properties_of(path, sections))
    return f'{count} files', count, findings
