# SPDX-License-Identifier: Apache-2.0
"""Includes go along the arrows between the rooms of the library.

base <- tensor <- {cpu, cuda, io, ops}, ops <- nn <- optim, {ops, io} <- data,
{nn, optim, data, io} <- train <- examples
"""
import os

from tree import c_sources

# What each room may include besides itself; what these may include, it may too.
ARROWS = {
    'base': [],
    'tensor': ['base'],
    'cpu': ['tensor'],
    'cuda': ['tensor'],
    'io': ['tensor'],
    'ops': ['tensor'],
    'nn': ['ops'],
    'optim': ['nn'],
    'data': ['ops', 'io'],
    'train': ['nn', 'optim', 'data', 'io'],
}

# Whose types a public header holds.
PUBLIC = {
    'base': ['base', 'cpp', 'error', 'memory', 'threads'],
    'tensor': ['autograd', 'cuda', 'data_type', 'device', 'random', 'scalar', 'scope',
               'tensor'],
    'ops': ['ops'],
    'nn': ['module', 'nn'],
    'optim': ['optim'],
    'io': ['idx'],
    'data': ['data'],
}
ROOM_OF_HEADER = {f'tern/{name}.h': room for room, names in PUBLIC.items() for name in names}

# Kernels take the enums of the public operations as they are.
ALLOWED = {('src/tensor/kernels.h', 'tern/ops.h')}


def reach(room):
    """The rooms that `room` may include, itself among them."""
    found = {room}
    for below in ARROWS[room]:
        found |= reach(below)
    return found


def room_of(path):
    """The room of a source file: None for tests and bench, which may look everywhere."""
    folder, _, rest = path.partition('/')
    if folder == 'src':
        return rest.split('/')[0]
    if folder == 'include':
        return ROOM_OF_HEADER.get(rest)
    return None


def wrong_include(source, quote, name):
    """What is wrong with an include of a file in src or include, or None."""
    room = room_of(source.path)
    if room is None or room not in ARROWS:
        return f'{source.path} is in no room that ARROWS in tests/style/arrows.py knows'
    if quote == '<' and not name.startswith('tern/'):
        return None
    if quote == '<':
        target = ROOM_OF_HEADER.get(name)
        if target is None:
            return f'<{name}> is in no room: include one subject, and list new headers in PUBLIC'
    else:
        target = name.split('/')[0] if '/' in name else None
        if target not in ARROWS:
            return f'"{name}" names no room: write "room/file.h"'
    if target not in reach(room) and (source.path, name) not in ALLOWED:
        return (f'{room} includes {name} of {target}, against the arrows; it may include '
                f'{", ".join(sorted(reach(room)))}')
    return None


def wrong_in_example(root, source, quote, name):
    if quote == '<' or os.path.exists(os.path.join(root, os.path.dirname(source.path), name)):
        return None
    return f'"{name}": an example includes <tern/...> and what lies beside it'


def check(root):
    count, findings = 0, []
    for source in c_sources(root, ('src', 'include', 'examples')):
        if source.path == 'include/tern/tern.h':
            continue
        for line, quote, name in source.includes():
            count += 1
            if source.path.startswith('examples/'):
                wrong = wrong_in_example(root, source, quote, name)
            else:
                wrong = wrong_include(source, quote, name)
            if wrong:
                findings.append(source.finding(line, wrong))
    return f'{count} includes', count, findings
