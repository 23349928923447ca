#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture of the components in architecture.md, made of the includes by Graphviz.

usage: components.py draw     writes docs/components.svg
       components.py check    fails where the picture is not of these includes"""
import os
import re
import subprocess
import sys
from html import unescape

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..')
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, 'tests/style'))

from arrows import ARROWS, component_of, component_of_header, reach  # noqa: E402
from tree import c_sources  # noqa: E402

PICTURE = os.path.join(ROOT, 'docs/components.svg')
STYLE = ('node [shape=box, style="rounded,filled", fillcolor="#eef3f8", '
         'color="#4a6785", fontname="sans-serif"]; edge [color="#4a6785", arrowsize=0.7];')


def included():
    """{component: the other components of which it includes a header}."""
    found = {component: set() for component in ARROWS
             if os.path.isdir(os.path.join(ROOT, 'src', component))}
    for source in c_sources(ROOT, ('src', 'include')):
        component = component_of(source.path)
        for _, quote, name in source.includes():
            target = component_of(f'src/{name}') if quote == '"' else component_of_header(name)
            if component in found and target in found and target != component:
                found[component].add(target)
    return found


def arrows():
    """The includes, without those that an arrow over another component says already."""
    found = included()
    return {(component, target) for component, targets in found.items() for target in targets
            if not any(target in reach(other) for other in targets - {target})}


def dot(edges):
    lines = [f'"{component}" -> "{target}";' for component, target in sorted(edges)]
    return 'digraph components {' + STYLE + '\n'.join(lines) + '}'


def draw():
    picture = subprocess.run(['dot', '-Tsvg'], input=dot(arrows()), capture_output=True, text=True,
                             check=True).stdout
    with open(PICTURE, 'w', encoding='utf-8') as file:
        file.write(re.sub(r'<!--.*?-->\n?', '', picture, flags=re.S))
    return 0


def check():
    with open(PICTURE, encoding='utf-8') as file:
        titles = [unescape(title) for title in re.findall(r'<title>(.*?)</title>', file.read())]
    drawn = {tuple(title.split('->')) for title in titles if '->' in title}
    now = arrows()
    for component, target in sorted(drawn ^ now):
        what = 'is not drawn' if (component, target) in now else 'is drawn, and no file includes it'
        print(f'{component} -> {target} {what}')
    print(f'{len(now)} arrows; draw them anew with docs/components.py draw')
    return 0 if drawn == now and now else 1


if __name__ == '__main__':
    commands = {'draw': draw, 'check': check}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    sys.exit(commands[sys.argv[1]]())
