#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pretrained.py PROGRAM FOLDER: the network in FOLDER gets as many images right as PyTorch counted
when it wrote expected.pt, learns another task, and keeps the layers that are frozen."""
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

DATA = os.environ.get('TERN_TEST_DATA', '/usr/share/datasets/fashion-mnist')
failed = 0


class Unpickler(pickle.Unpickler):
    """Of dictionaries and numbers; what is PyTorch's is None."""

    def find_class(self, module, name):
        return lambda *arguments: None

    def persistent_load(self, pid):
        return None


def check(holds, what, seen):
    global failed
    if not holds:
        failed = 1
        print(f'FAILED: {what}; it is {seen!r}', file=sys.stderr)


def tensor_of(path, name):
    """Shape and bytes of a tensor in a safetensors file."""
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    entry = json.loads(data[8:8 + size])[name]
    begin, end = entry['data_offsets']
    return entry['shape'], data[8 + size + begin:8 + size + end]


def number(pattern, out):
    found = re.search(f'(?m)^{pattern}', out)
    check(found, f'there is a line like {pattern}', out)
    return float(found[1]) if found else float('nan')


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    if not os.path.exists(f'{DATA}/train-images-idx3-ubyte.gz'):
        print(f'skipped: there is no Fashion-MNIST in {DATA}')
        return 77
    with zipfile.ZipFile(folder / 'expected.pt') as archive, archive.open(
            'expected/data.pkl') as pickled:
        correct = Unpickler(pickled).load()['correct']
    with tempfile.TemporaryDirectory() as work:
        saved = Path(work) / 'shoes.safetensors'
        ended = subprocess.run([program, folder, DATA, saved], capture_output=True, text=True,
                               check=False)
        print(ended.stdout + ended.stderr)
        out = ended.stdout
        check((ended.returncode, ended.stderr) == (0, ''), 'it ends without an error', ended)
        check(number(r"outputs differ from PyTorch's by at most (\S+)$", out) < 1e-5,
              "the outputs are PyTorch's to 1e-5", out)
        check(number(r'ten kinds: (\d+) of 10000', out) == correct > 8000,
              f'it gets the {correct} images right that PyTorch does', out)
        # 70 % are no shoes.
        check(number(r'shoes or not: (\d+) of 10000', out) > 9900, 'it knows shoes', out)
        check('as they were, to the bit' in out, 'it says that the layers are frozen', out)
        with zipfile.ZipFile(folder / 'weights.pt') as archive:
            for i, name in enumerate(('1.weight', '1.bias', '3.weight', '3.bias')):
                check(tensor_of(saved, name)[1] == archive.read(f'weights/data/{i}'),
                      f"{name} in the file that it saved has PyTorch's bits", name)
        check(tensor_of(saved, '5.weight')[0] == [2, 32], 'the last layer is the new one', saved)
        ended = subprocess.run([program, work, DATA], capture_output=True, text=True, check=False)
        check((ended.returncode, ended.stderr) ==
              (1, f'pretrained: cannot open {work}/weights.pt: No such file or directory\n'),
              'a folder without weights is an error of its own alone', ended)
    return failed


sys.exit(main())
