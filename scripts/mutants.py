#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted faults: the table beside this script, tried on a copy of the tree.

usage: mutants.py check ROOT            every fault has its place: one in its file
       mutants.py copy ROOT TREE        brings a copy of the tree up to date
       mutants.py run TREE BUILD PART   plants the faults of files that begin with PART"""
import filecmp
import json
import os
import shutil
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'mutants.table')
COPIED = ('include', 'src', 'tests', 'scripts', 'examples', 'tools', 'docs', 'bench')
WORDS = {'file', 'find', 'make', 'test', 'lives'}
LEAST_FAULTS = 60
LEAST_SHARE = 0.95


class Wrong(Exception):
    """The table, or what it stands on, is wrong."""


def read_table():
    """Faults as {'file': , 'find': , 'make': , 'test': [names], 'lives': why or ''}."""
    faults = []
    with open(TABLE, encoding='utf-8') as table:
        text = '\n'.join(line for line in table.read().split('\n') if not line.startswith('#'))
    for block in filter(str.strip, text.split('\n\n')):
        fault = {'test': [], 'lives': '', 'make': ''}
        for line in block.strip('\n').split('\n'):
            word, _, rest = line.partition(' ')
            if word not in WORDS:
                raise Wrong(f'mutants.table: "{line}" begins with none of {sorted(WORDS)}')
            fault[word] = fault['test'] + [rest] if word == 'test' else rest
        faults.append(fault)
    return faults


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def check(root):
    faults = read_table()
    wrong = 0
    for fault in faults:
        count = read(os.path.join(root, fault['file'])).count(fault['find'])
        if count != 1 or fault['make'] == fault['find'] or not fault['test']:
            wrong += 1
            print(f"{fault['file']}: \"{fault['find']}\" is there {count} times")
    found = {'/'.join(fault['file'].split('/')[:2]) for fault in faults}
    components = {f'src/{name}' for name in os.listdir(os.path.join(root, 'src'))}
    missing = {path for path in components - found if os.path.isdir(os.path.join(root, path))}
    print(f'{len(faults)} faults in {len(found)} components, {wrong} out of place')
    for component in sorted(missing):
        print(f'no fault is planted in {component}')
    return 1 if wrong or missing or len(faults) < LEAST_FAULTS else 0


def copy_file(source, target):
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


def copy(root, tree):
    for name in os.listdir(root):
        if os.path.isfile(os.path.join(root, name)):
            copy_file(os.path.join(root, name), os.path.join(tree, name))
    for top in COPIED:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                source = os.path.join(folder, name)
                copy_file(source, os.path.join(tree, os.path.relpath(source, root)))
    return 0


# ---- running -------------------------------------------------------------------------------------


def targets_of_tests(build):
    """What each test needs built, as Ninja names it."""
    files = {}
    with open(os.path.join(build, 'meson-info', 'intro-targets.json'), encoding='utf-8') as file:
        for target in json.load(file):
            files[target['id']] = [os.path.relpath(path, build) for path in target['filename']]
    targets = {}
    with open(os.path.join(build, 'meson-info', 'intro-tests.json'), encoding='utf-8') as file:
        for test in json.load(file):
            targets[test['name']] = [path for key in test['depends'] for path in files[key]]
    return targets


def passes(build, targets, tests):
    """Whether the tests pass; Wrong when the tree does not build."""
    missing = [test for test in tests if test not in targets]
    if missing:
        raise Wrong(f'no test is called {missing[0]}')
    needed = sorted({target for test in tests for target in targets[test]})
    built = subprocess.run(['ninja', '-C', build, *needed], capture_output=True, text=True)
    if built.returncode:
        raise Wrong('it does not compile:\n' + built.stdout[-2000:])
    ran = subprocess.run(['meson', 'test', '-C', build, '--no-rebuild', '-t', '5', *tests],
                         capture_output=True, text=True)
    return ran.returncode == 0


def try_fault(tree, build, targets, fault):
    """True when the tests find it."""
    path = os.path.join(tree, fault['file'])
    before = read(path)
    if before.count(fault['find']) != 1:
        raise Wrong('its text is not there once')
    try:
        write(path, before.replace(fault['find'], fault['make']))
        return not passes(build, targets, fault['test'])
    finally:
        write(path, before)


def run(tree, build, part):
    targets = targets_of_tests(build)
    faults = [fault for fault in read_table() if fault['file'].startswith(part)]
    tests = sorted({test for fault in faults for test in fault['test']})
    if not faults or not passes(build, targets, tests):
        raise Wrong('without a fault the tests fail' if faults else f'no fault is in {part}')
    found = unexplained = 0
    for fault in faults:
        seen = try_fault(tree, build, targets, fault)
        found += seen
        unexplained += not seen and not fault['lives']
        print(f"{'found' if seen else 'LIVES'}  {fault['file']}: {fault['find'].strip()}  ->  "
              f"{fault['make'].strip()}  ({', '.join(fault['test'])})", flush=True)
        if not seen:
            print(f"       {fault['lives'] or 'not explained'}", flush=True)
    print(f'{found} of {len(faults)} faults found, {100 * found / len(faults):.1f} %')
    return 1 if unexplained or found < LEAST_SHARE * len(faults) else 0


def main():
    commands = {'check': check, 'copy': copy, 'run': run}
    try:
        return commands[sys.argv[1]](*sys.argv[2:])
    except Wrong as reason:
        print(reason)
        return 2


if __name__ == '__main__':
    sys.exit(main())
