# SPDX-License-Identifier: Apache-2.0
"""A public header's functions are defined in its component; the backends have the same families."""
import os
import re

from arrows import home, component_of
from links import Links
from tree import Finding, walk

# Public functions that another component than their header's defines, and why.
ALLOWED = {
    'tern_shutdown': 'it ends every component, so it stands where all of them can be seen',
}
# The families of options: train defines what all of them are unless said.
FAMILIES_OF_OPTIONS = 'src/train/options.def'

FAMILIES = {'attention', 'conv', 'elementwise', 'index', 'loss', 'norm', 'product', 'random',
            'reduce', 'sort', 'step'}
# The folders that a component may have; the components without a line have none.
FOLDERS = {
    'cpu': FAMILIES,
    'cuda': FAMILIES | {'host'},
    'data': {'compose', 'file', 'loader', 'transform'},
    'nn': {'container', 'init', 'layer', 'loss', 'module', 'parametrization'},
    'optim': {'lbfgs', 'sched'},
    'train': {'fit', 'log', 'metric', 'resources', 'run', 'run/page', 'script', 'summary'},
}
MIRRORS = {'cpu': 'cuda', 'cuda': 'cpu'}

_OPTIONS = re.compile(r'^OPTIONS\((\w+),', re.M)
_FUNCTION = re.compile(r'^TERN_API\s[^;{]*?\b(tern_\w+)\s*\([^;{]*;', re.M)


def defaults_of_options(root):
    with open(os.path.join(root, FAMILIES_OF_OPTIONS), encoding='utf-8') as file:
        return {f'{family}_defaults' for family in _OPTIONS.findall(file.read())}


def wrong_home(links, path, name, elsewhere):
    paths = links.defined.get(name)
    if not paths:
        return f'{name} is declared here, and no file of src defines it'
    found = home(paths)
    if component_of(found) == component_of(path) or name in elsewhere:
        return None
    return (f'{name} is declared in a header of {component_of(path)} and defined in '
            f'{component_of(found)} ({found})')


def check_homes(root):
    links = Links(root)
    elsewhere = defaults_of_options(root).union(ALLOWED)
    count, findings = 0, []
    for path, source in links.sources.items():
        for match in _FUNCTION.finditer(source.code) if path.startswith('include/') else ():
            count += 1
            wrong = wrong_home(links, path, match.group(1), elsewhere)
            if wrong:
                findings.append(source.finding(source.line_at(match.start(1)), wrong))
    return f'{count} public functions', count, findings


def first_files(root):
    """{(component, folder below it): its first file}."""
    found = {}
    for path in walk(root, ('src',)):
        component, _, rest = path[len('src/'):].partition('/')
        if os.path.dirname(rest):
            found.setdefault((component, os.path.dirname(rest)), path)
    return found


def check_families(root):
    folders = first_files(root)
    findings = []
    for (component, folder), path in folders.items():
        mirror = MIRRORS.get(component)
        if folder not in FOLDERS.get(component, ()):
            wrong = f'src/{component}/{folder} is not among FOLDERS in tests/style/places.py'
        elif mirror and folder in FAMILIES and (mirror, folder) not in folders:
            wrong = f'src/{component} has a family {folder}, and src/{mirror} has none'
        else:
            continue
        findings.append(Finding(path, 1, wrong))
    return f'{len(folders)} folders', 1 + len(folders), findings
