#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the instructions of a training step to the figures of instructions.table.

usage: instructions.py check STEPS NET COMPILER   ends with 0, 1, or 77 for a skip
       instructions.py record BUILD               counts, and writes the figures into the table"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, 'instructions.table')
STEPS = {'W1': 1, 'tiny': 200}
MOST = 2.0  # percent


class Skip(Exception):
    """Why nothing can be counted here."""


def count(program, net, profile):
    """Instructions of a step. valgrind knows no AVX-512, and counts as on a machine at rest."""
    if not shutil.which('valgrind'):
        raise Skip('there is no valgrind')
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('TERN_', 'VALGRIND_', 'GLIBC_', 'LD_', 'MALLOC_'))}
    env.update(TERN_CPU_ISA='avx2', TERN_NUM_THREADS='1', LC_ALL='C')
    run = subprocess.run(
        ['valgrind', '--tool=callgrind', '--collect-atstart=no',
         '--toggle-collect=counted_steps*', f'--callgrind-out-file={profile}',
         program, net, str(STEPS[net])],
        env=env, cwd=os.path.dirname(profile), capture_output=True, text=True, check=False)
    if run.returncode == 0 and run.stdout.split() != ['avx2']:
        raise Skip(f'there is no AVX2: the kernels are {run.stdout.strip()}')
    collected = re.search(r'Collected : (\d+)', run.stderr)
    if run.returncode != 0 or not collected or collected[1] == '0':
        sys.exit(f'FAILED: nothing was counted, status {run.returncode}\n{run.stderr}')
    return round(int(collected[1]) / STEPS[net])


def read_table():
    """{(net, compiler): instructions}."""
    with open(TABLE, encoding='utf-8') as table:
        rows = [line.split(maxsplit=2) for line in table if line.strip() and line[0] != '#']
    return {(net, compiler.strip()): int(figure) for figure, net, compiler in rows}


def write_table(figures):
    with open(TABLE, encoding='utf-8') as table:
        head = [line for line in table if line[0] == '#']
    with open(TABLE, 'w', encoding='utf-8') as table:
        table.writelines(head)
        for (net, compiler), figure in sorted(figures.items(), key=lambda item: item[0][::-1]):
            table.write(f'{figure:>9} {net:<4} {compiler}\n')


def profile_of(program, net):
    return os.path.join(os.path.dirname(os.path.abspath(program)), f'callgrind.{net}')


def check(program, net, compiler):
    recorded = read_table().get((net, compiler))
    if recorded is None:
        raise Skip(f'no figure is recorded for {compiler}')
    counted = count(os.path.abspath(program), net, profile_of(program, net))
    change = (counted / recorded - 1) * 100
    print(f'{net}: {counted:,} instructions a step, {recorded:,} recorded, {change:+.2f} %')
    if abs(change) <= MOST:
        return 0
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(program))))
    print(f'FAILED: more than {MOST:g} % apart.',
          'It takes more: find out why, and mend it or say why in the commit.' if change > 0 else
          'It takes less: good, record it, so that it stays.',
          f'What takes them:  callgrind_annotate {profile_of(program, net)}',
          f'Recording anew:   python3 {os.path.abspath(__file__)} record {build}', sep='\n')
    return 1


def record(build):
    with open(os.path.join(build, 'meson-info', 'intro-tests.json'), encoding='utf-8') as file:
        words = [test['cmd'] for test in json.load(file) if 'speed' in
                 [suite.split(':')[-1] for suite in test['suite']]]
    if not words:
        raise Skip('that build has no such tests')
    subprocess.run(['ninja', '-C', build, 'tests/speed/steps'], check=True)
    figures = read_table()
    for program, net, compiler in (cmd[-3:] for cmd in words):
        program = os.path.join(os.path.abspath(build), program)
        new = count(program, net, profile_of(program, net))
        old = figures.get((net, compiler))
        print(f'{net}, {compiler}: {new:,}' +
              (f', was {old:,}, {(new / old - 1) * 100:+.2f} %' if old else ''))
        figures[net, compiler] = new
    write_table(figures)
    return 0


def main(words):
    commands = {('check', 4): check, ('record', 2): record}
    command = commands.get((words[0] if words else '', len(words)))
    if not command:
        print(__doc__)
        return 2
    try:
        return command(*words[1:])
    except Skip as reason:
        print(f'skipped: {reason}')
        return 77


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
