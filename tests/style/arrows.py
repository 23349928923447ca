# SPDX-License-Identifier: Apache-2.0
"""The rooms of the library: includes and calls go along the arrows between them.

base <- device <- tensor <- autograd <- ops <- nn <- optim, device <- {cpu, cuda},
tensor <- state <- {io, nn, optim, data}, {ops, io} <- data, {nn, optim} <- parallel, nn <- models,
{autograd, nn} <- graph, all <- train <- {examples, tools}
"""
import os

from links import Links, is_header, line_of
from tree import c_sources

# What each room may include and call besides itself; what these may, it may too.
ARROWS = {
    'base': [],
    'device': ['base'],
    'cpu': ['device'],
    'cuda': ['device'],
    'tensor': ['device'],
    'autograd': ['tensor'],
    'ops': ['autograd'],
    'state': ['tensor'],
    'io': ['state'],
    'nn': ['ops', 'state'],
    'models': ['nn'],
    'optim': ['nn'],
    'data': ['ops', 'io'],
    'parallel': ['optim'],
    'graph': ['nn'],
    'train': ['data', 'models', 'parallel', 'graph'],
}

# Whose types a public header holds and whose functions it declares; 'nn/*' is all below nn/.
PUBLIC = {
    'base': ['base', 'cpp', 'error', 'memory', 'pair', 'threads'],
    'device': ['activation', 'cuda', 'data_type', 'device', 'dtype', 'generator', 'reduction',
               'scalar'],
    'tensor': ['cuda_graph', 'scope', 'tensor'],
    'autograd': ['autograd'],
    'ops': ['ops', 'ops/*', 'random'],
    'state': ['state'],
    'nn': ['module', 'nn', 'nn/*'],
    'models': ['models'],
    'optim': ['optim'],
    'io': ['idx', 'io'],
    'data': ['data'],
    'parallel': ['parallel'],
    'train': ['checkpoint', 'free'],
}
ROOM_OF_HEADER = {f'tern/{name}.h': room for room, names in PUBLIC.items() for name in names}

# The CPU is linked in, where a plugin would be opened.
ALLOWED_CALLS = {('device', 'tern_cpu_backend')}


def reach(room):
    """The rooms that `room` may include, itself among them."""
    found = {room}
    for below in ARROWS.get(room, ()):
        found |= reach(below)
    return found


def room_of(path):
    """The room of a source file: None for tests and bench, which may look everywhere."""
    folder, _, rest = path.partition('/')
    if folder == 'src':
        return rest.split('/')[0]
    if folder == 'include':
        return room_of_header(rest)
    return None


def room_of_header(name):
    """The room of a public header, "tern/nn/linear.h", or None."""
    return ROOM_OF_HEADER.get(name, ROOM_OF_HEADER.get(f'{os.path.dirname(name)}/*.h'))


def wrong_include(source, quote, name):
    """What is wrong with an include of a file in src or include, or None."""
    room = room_of(source.path)
    if room is None or room not in ARROWS:
        return f'{source.path} is in no room that ARROWS in tests/style/arrows.py knows'
    if quote == '<' and not name.startswith('tern/'):
        return None
    if quote == '<':
        target = room_of_header(name)
        if target is None:
            return f'<{name}> is in no room: include one subject, and list new headers in PUBLIC'
    else:
        target = room_of(f'src/{name}') if '/' in name else None
        if target not in ARROWS:
            return f'"{name}" names no room: write "room/file.h"'
    if target not in reach(room):
        return (f'{room} includes {name} of {target}, against the arrows; it may include '
                f'{", ".join(sorted(reach(room)))}')
    return None


def wrong_in_program(root, source, quote, name):
    if quote == '<' or os.path.exists(os.path.join(root, os.path.dirname(source.path), name)):
        return None
    return f'"{name}": an example or tool includes <tern/...> and what lies beside it'


def check(root):
    count, findings = 0, []
    for source in c_sources(root, ('src', 'include', 'examples', 'tools')):
        if source.path == 'include/tern/tern.h':
            continue
        for line, quote, name in source.includes():
            count += 1
            if source.path.startswith(('examples/', 'tools/')):
                wrong = wrong_in_program(root, source, quote, name)
            else:
                wrong = wrong_include(source, quote, name)
            if wrong:
                findings.append(source.finding(line, wrong))
    return f'{count} includes', count, findings


def home(paths):
    """Of the files that define a name the one that counts: the plugin stands in for src/base."""
    return min(sorted(paths), key=lambda path: len(reach(room_of(path))))


def calls_of(links, path):
    """(line, name, file that defines it) of each use of another file's function."""
    for name, written in sorted(links.used(path).items()):
        target = home(links.defined[name])
        if target != path and not is_header(target):
            yield line_of(links.sources[path], written), name, target


def wrong_call(path, name, target):
    room, other = room_of(path), room_of(target)
    if other in reach(room) or (room, name) in ALLOWED_CALLS:
        return None
    return f'calls {name} of {other} ({target}), against the arrows'


def check_calls(root):
    links = Links(root)
    count, findings = 0, []
    for path in links.sources:
        if not path.startswith('src/') or room_of(path) not in ARROWS:
            continue
        for line, name, target in calls_of(links, path):
            count += 1
            wrong = wrong_call(path, name, target)
            if wrong:
                findings.append(links.sources[path].finding(line, wrong))
    return f'{count} calls', count, findings
