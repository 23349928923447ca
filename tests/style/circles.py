# SPDX-License-Identifier: Apache-2.0
"""No file of the library needs itself through others, and no folder: one can be read after another.

A file needs what it includes of src and what defines the names that it uses. A header and the
source file of its name are one; public headers only declare.
"""
import os

from arrows import calls_of
from links import Links

# Files that own one lifetime together, and why.
ALLOWED = {
    frozenset({'src/tensor/header.c', 'src/tensor/node.c', 'src/tensor/scope.c'}):
        'the lifetime of tensors: a scope lets go of tensors, a tensor of the node that made it, a '
        'node of tensors, and a new tensor belongs to a scope',
}
# Folders, likewise.
ALLOWED_FOLDERS = {
    frozenset({'src/cpu', 'src/device'}):
        'the CPU is linked in, where a plugin would be opened: device names its one entry',
}


def made_by(source):
    """Names of a header that are not just declared there: macros, types, inline functions."""
    return {macro.name for macro in source.defines()} | source.types() | {
        function.name for function in source.functions()}


def needs(links, path):
    """{file: (line, a name)} of the files that one file of src needs, headers as their units."""
    source = links.sources[path]
    found = {}
    for line, name, target in calls_of(links, path):
        found.setdefault(links.own_unit(target), (line, name))
    for line, quote, name in source.includes():
        header = links.sources.get(f'src/{name}')
        if quote == '"' and header:
            taken = sorted(made_by(header) & source.words())
            if taken:  # else it holds what this file declares for others
                found.setdefault(links.own_unit(header.path), (line, taken[0]))
    return found


def edges_of(links):
    """{file: {file: (path, line, a name)}}."""
    edges = {links.own_unit(path): {} for path in links.sources if path.startswith('src/')}
    for path in links.sources:
        unit = links.own_unit(path)
        for target, (line, name) in needs(links, path).items() if unit in edges else ():
            if target != unit and target in edges:
                edges[unit].setdefault(target, (path, line, name))
    return edges


def reached(edges, start):
    """Every file that `start` needs, over any number of others."""
    found, todo = set(), [start]
    while todo:
        for target in edges[todo.pop()]:
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


def circles(edges):
    """Sets of files that all need each other."""
    below = {path: reached(edges, path) for path in edges}
    return sorted({frozenset(other for other in below[path] if path in below[other])
                   for path in edges if path in below[path]}, key=sorted)


def folders_of(edges):
    """The needs of the folders that the files lie in: of each, one of the needs of its files."""
    found = {os.path.dirname(path): {} for path in edges}
    for path, targets in edges.items():
        folder = found[os.path.dirname(path)]
        for target, need in targets.items():
            if os.path.dirname(target) != os.path.dirname(path):
                folder.setdefault(os.path.dirname(target), need)
    return found


def described(circle, edges, kind):
    """The circle in words: each need in it with a name that makes it."""
    needed = [f'{path} needs {target} ({edges[path][target][2]})' for path in sorted(circle)
              for target in sorted(edges[path]) if target in circle]
    return f'a circle of {len(circle)} {kind}: ' + '; '.join(needed)


def faults(links, edges, allowed, kind):
    for circle in circles(edges):
        if circle not in allowed:
            path, line, _ = next(need for target, need in sorted(edges[min(circle)].items())
                                 if target in circle)
            yield links.sources[path].finding(line, described(circle, edges, kind))


def check(root):
    links = Links(root)
    edges = edges_of(links)
    folders = folders_of(edges)
    findings = (list(faults(links, edges, ALLOWED, 'files')) or
                list(faults(links, folders, ALLOWED_FOLDERS, 'folders')))
    count = sum(len(targets) for targets in edges.values())
    return f'{len(edges)} files in {len(folders)} folders, {count} needs', len(edges), findings
