#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the PyTorch scripts in examples/ports print on the CPU, to $TERN_GOLDEN_PORTS/NAME.txt each;
scripts/golden.sh runs it."""
import contextlib
import os
import runpy
import sys
from pathlib import Path

PORTS = Path(__file__).resolve().parents[2] / 'examples' / 'ports'


def main():
    os.environ['CUDA_VISIBLE_DEVICES'] = ''
    folder = Path(os.environ['TERN_GOLDEN_PORTS'])
    for script in sorted(PORTS.glob('*.py')):
        with open(folder / f'{script.stem}.txt', 'w', encoding='utf-8') as out, \
                contextlib.redirect_stdout(out):
            sys.argv = [str(script)]
            runpy.run_path(str(script), run_name='__main__')


main()
