#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reference.py XML [ROOT]: every public symbol is in Doxygen's XML, with text. Ends with 0 or 1."""
import os
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True

from public import HERE, headers  # noqa: E402


def text_of(element):
    return ''.join(''.join(part.itertext()) for name in ('briefdescription', 'detaileddescription')
                   for part in element.findall(name)).strip()


def shown_names(folder):
    """The names that the reference describes."""
    names = set()
    for file in sorted(os.listdir(folder)):
        if not file.endswith('.xml'):
            continue
        tree = ElementTree.parse(os.path.join(folder, file))
        for kind, name in (('memberdef', 'name'), ('enumvalue', 'name'),
                           ('compounddef', 'compoundname')):
            names |= {each.findtext(name) for each in tree.iter(kind) if text_of(each)}
    return names


def main(words):
    root = words[1] if len(words) > 1 else os.path.join(HERE, '..', '..')
    shown, count, bad = shown_names(words[0]), 0, 0
    for header in headers(root):
        for symbol in header.symbols():
            count += 1
            if symbol.name not in shown:
                bad += 1
                print(f'{header.path}:{symbol.line}: {symbol.name} has no text in the reference')
    print(f'{count} symbols, {bad} of them not in the reference')
    return 1 if bad or not count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
