# SPDX-License-Identifier: Apache-2.0
"""No file of the library needs itself through others: files can be read one after another.

A file needs what it includes of src and what defines the names that it uses. A header and the
source file of its name are one; public headers only declare.
"""
from arrows import calls_of
from links import Links

# Files that own one lifetime together, and why.
ALLOWED = {
    frozenset({'src/tensor/header.c', 'src/tensor/node.c', 'src/tensor/scope.c'}):
        'the lifetime of tensors: a scope lets go of tensors, a tensor of the node that made it, a '
        'node of tensors, and a new tensor belongs to a scope',
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


def told(circle, edges):
    """The circle in words: each need in it with a name that makes it."""
    needed = [f'{path} needs {target} ({edges[path][target][2]})' for path in sorted(circle)
              for target in sorted(edges[path]) if target in circle]
    return f'a circle of {len(circle)} files: ' + '; '.join(needed)


def check(root):
    links = Links(root)
    edges = edges_of(links)
    found, findings = circles(edges), []
    for circle in found:
        if circle in ALLOWED:
            continue
        path, line, _ = next(edge for to, edge in sorted(edges[min(circle)].items())
                             if to in circle)
        findings.append(links.sources[path].finding(line, told(circle, edges)))
    count = sum(len(targets) for targets in edges.values())
    return f'{len(edges)} files, {count} needs', len(edges), findings
