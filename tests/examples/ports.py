#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ports.py PROGRAM NAME.py [images]: the program ends well, and prints what the PyTorch script
printed (expected/NAME.txt beside it): the same words, and numbers that differ by rounding alone.
Beside the script stands NAME.c, of at most 1.9 times as many lines, and the README says how many
there are. With `images` the program is given the folder of Fashion-MNIST.
ports.py --lines FOLDER: all programs there have at most 1.6 times the lines of their scripts.
ports.py --selftest: what is wrong is found."""
import os
import re
import subprocess
import sys
from pathlib import Path

DATA = os.environ.get('TERN_TEST_DATA', '/usr/share/datasets/fashion-mnist')
TOLERANCE = 1e-5  # relative
LAST_DIGIT = 1e-6  # of what is printed with six digits: each side rounds it
LONGER = 1.9
LONGER_TOGETHER = 1.6

NUMBER = re.compile(r'-?\d+\.\d+')  # integers are words: they have to be the same


def same_line(seen, expected):
    if NUMBER.sub('#', seen) != NUMBER.sub('#', expected):
        return False
    pairs = zip(map(float, NUMBER.findall(seen)), map(float, NUMBER.findall(expected)))
    return all(abs(a - b) <= TOLERANCE * abs(b) + LAST_DIGIT for a, b in pairs)


def differences(seen, expected):
    """What is wrong with the text `seen`, line by line."""
    seen, expected = seen.splitlines(), expected.splitlines()
    for line, (a, b) in enumerate(zip(seen, expected), 1):
        if not same_line(a, b):
            yield f'line {line} is "{a}", and PyTorch printed "{b}"'
    if len(seen) != len(expected):
        yield f'there are {len(seen)} lines, and PyTorch printed {len(expected)}'
    if not expected:
        yield 'PyTorch printed nothing'


def lines(path, comment):
    """How many lines are neither blank nor a comment or docstring of one line."""
    text = path.read_text(encoding='utf-8').splitlines()
    return sum(bool(line.strip()) and not line.strip().startswith(comment) for line in text)


def both_lines(script):
    return lines(script, ('#', '"""')), lines(script.with_suffix('.c'), '//')


def too_long_together(folder):
    pairs = [both_lines(script) for script in folder.glob('*.py')]
    short, long = map(sum, zip(*pairs))
    print(f'{len(pairs)} programs, {long} lines of C for {short} of Python: {long / short:.2f}')
    if long > LONGER_TOGETHER * short:
        yield f'the programs have more than {LONGER_TOGETHER} times the lines of the scripts'
    if f'{long} lines of C for {short} of Python' not in (folder / 'README.md').read_text('utf-8'):
        yield f'the README does not say "{long} lines of C for {short} of Python"'


def too_long(script):
    short, long = both_lines(script)
    print(f'{long} lines of C for {short} of Python: {long / short:.2f} times as many')
    row = rf'(?m)^\| {script.stem} \(.*\| {short} \| {long} \|$'
    if not re.search(row, (script.parent / 'README.md').read_text(encoding='utf-8')):
        yield f'the README does not say {short} and {long} lines for {script.stem}'
    if long > LONGER * short:
        yield f'{script.stem}.c has more than {LONGER} times the lines of {script.name}'


def run(command, script):
    expected = script.parent / 'expected' / f'{script.stem}.txt'
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    print(ended.stdout + ended.stderr)
    if ended.returncode or ended.stderr:
        yield f'it ended with {ended.returncode} and said "{ended.stderr}"'
    yield from differences(ended.stdout, expected.read_text(encoding='utf-8'))


def selftest():
    right = 'epoch 1: loss 0.500000\nepoch 2: loss -0.250000, 7 of 9\n'
    wrong = ['', right[:23], right + 'more\n', right.replace('loss', 'lost'),
             right.replace('0.500000', '0.500007'), right.replace('-0.25', '0.25'),
             right.replace('7', '8'), right.replace('0.500000', 'nan')]
    assert not list(differences(right, right))
    assert not list(differences(right.replace('0.500000', '0.500005'), right))
    for text in wrong:
        assert list(differences(text, right)), text
    assert list(differences('', ''))


def report(found):
    for wrong in found:
        print(f'FAILED: {wrong}', file=sys.stderr)
    return int(bool(found))


def main():
    if sys.argv[1] == '--selftest':
        selftest()
        return 0
    if sys.argv[1] == '--lines':
        return report([*too_long_together(Path(sys.argv[2]))])
    script, command = Path(sys.argv[2]), [sys.argv[1]]
    if sys.argv[3:] == ['images']:
        if not os.path.exists(f'{DATA}/t10k-images-idx3-ubyte.gz'):
            print(f'skipped: there is no Fashion-MNIST in {DATA}')
            return 77
        command.append(DATA)
    return report([*run(command, script), *too_long(script)])


if __name__ == '__main__':
    sys.exit(main())
