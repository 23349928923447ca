# SPDX-License-Identifier: Apache-2.0
"""The components of the library: includes and calls go along the arrows between them.

base <- device <- tensor <- autograd <- ops <- nn <- optim, device <- {cpu, cuda},
tensor <- state <- {io, nn, optim, data}, {ops, io} <- image <- data, {nn, optim} <- parallel,
nn <- models, {autograd, nn} <- graph, all <- train <- {examples, tools}
"""
import os

from links import Links, is_header, line_of
from tree import c_sources

# What each component may include and call besides itself; what these may, it may too.
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
    'image': ['ops', 'io'],
    'data': ['image'],
    'parallel': ['optim'],
    'graph': ['nn'],
    'train': ['data', 'models', 'parallel', 'graph'],
}

# Whose types a public header holds and whose functions it declares; 'nn/*' is all below nn/.
PUBLIC = {
    'base': ['base', 'error', 'memory', 'options', 'sizes', 'threads'],
    'device': ['activation', 'cuda', 'data_type', 'device', 'dtype', 'generator', 'reduction',
               'scalar'],
    'tensor': ['cuda_graph', 'scope', 'tensor'],
    'autograd': ['autograd'],
    'ops': ['ops', 'ops/*', 'random'],
    'state': ['state'],
    'nn': ['gradcheck', 'init', 'lora', 'module', 'nn', 'nn/*', 'parametrize'],
    'models': ['models'],
    'optim': ['optim', 'optimizers', 'sched'],
    'io': ['idx', 'io'],
    'image': ['image'],
    'data': ['data', 'datasets', 'image_data', 'loader', 'sampler', 'transform'],
    'parallel': ['parallel'],
    'train': ['averaged_model', 'checkpoint', 'fit', 'free', 'logger', 'metric', 'metrics',
              'progress', 'resources', 'run', 'script', 'setting', 'summary'],
}
COMPONENT_OF_HEADER = {f'tern/{name}.h': component
                       for component, names in PUBLIC.items() for name in names}

# The CPU is linked in, where a plugin would be opened.
ALLOWED_CALLS = {('device', 'tern_cpu_backend')}


def reach(component):
    """The components that `component` may include, itself among them."""
    found = {component}
    for below in ARROWS.get(component, ()):
        found |= reach(below)
    return found


def component_of(path):
    """The component of a source file: None for tests and bench, which may look everywhere."""
    folder, _, rest = path.partition('/')
    if folder == 'src':
        return rest.split('/')[0]
    if folder == 'include':
        return component_of_header(rest)
    return None


def component_of_header(name):
    """The component of a public header, "tern/nn/linear.h", or None."""
    return COMPONENT_OF_HEADER.get(name, COMPONENT_OF_HEADER.get(f'{os.path.dirname(name)}/*.h'))


def wrong_include(source, quote, name):
    """What is wrong with an include of a file in src or include, or None."""
    component = component_of(source.path)
    if component is None or component not in ARROWS:
        return f'{source.path} is in no component that ARROWS in tests/style/arrows.py knows'
    if quote == '<' and not name.startswith('tern/'):
        return None
    if quote == '<':
        target = component_of_header(name)
        if target is None:
            return (f'<{name}> is in no component: include one subject, and list new headers in '
                    'PUBLIC')
    else:
        target = component_of(f'src/{name}') if '/' in name else None
        if target not in ARROWS:
            return f'"{name}" names no component: write "component/file.h"'
    if target not in reach(component):
        return (f'{component} includes {name} of {target}, against the arrows; it may include '
                f'{", ".join(sorted(reach(component)))}')
    return None


# Of the library's own, what tools compile again: it needs nothing else of it.
SHARED_WITH_TOOLS = ('base/text.h',)


def wrong_in_program(root, source, quote, name):
    if quote == '<' or os.path.exists(os.path.join(root, os.path.dirname(source.path), name)):
        return None
    if source.path.startswith('tools/') and name in SHARED_WITH_TOOLS:
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
    return min(sorted(paths), key=lambda path: len(reach(component_of(path))))


def calls_of(links, path):
    """(line, name, file that defines it) of each use of another file's function."""
    for name, written in sorted(links.used(path).items()):
        target = home(links.defined[name])
        if target != path and not is_header(target):
            yield line_of(links.sources[path], written), name, target


def wrong_call(path, name, target):
    component, other = component_of(path), component_of(target)
    if other in reach(component) or (component, name) in ALLOWED_CALLS:
        return None
    return f'calls {name} of {other} ({target}), against the arrows'


def check_calls(root):
    links = Links(root)
    count, findings = 0, []
    for path in links.sources:
        if not path.startswith('src/') or component_of(path) not in ARROWS:
            continue
        for line, name, target in calls_of(links, path):
            count += 1
            wrong = wrong_call(path, name, target)
            if wrong:
                findings.append(links.sources[path].finding(line, wrong))
    return f'{count} calls', count, findings
