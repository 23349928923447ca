# SPDX-License-Identifier: Apache-2.0
"""Compiles a file of kernels, and keeps what nvcc makes on the way for tests/build/kernels.py.
Arguments: the file; where the object, the PTX and machine code of an architecture, ptxas' figures
of all of them, and the headers that it depends on go; the architecture, as in 90; nvcc and flags.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FIGURES = re.compile(r'^ptxas info .*\n(?:    .*\n)*', flags=re.M)

source, target, ptx, cubin, log, depfile, arch, *nvcc = sys.argv[1:]


def kept(folder, *patterns):
    """The file of the first pattern that has one: names tell the architecture if there are more."""
    found = [file for pattern in patterns for file in folder.glob(pattern)]
    return found[0] if found else sys.exit(f'{source}: nvcc kept no {patterns[0]}')


# Beside the target, to be moved from there.
with tempfile.TemporaryDirectory(dir=Path(target).parent) as name:
    done = subprocess.run([*nvcc, '-Xptxas=-v', '--keep', f'--keep-dir={name}', '-MD', '-MT',
                           target, '-MF', depfile, '-c', source, '-o', target],
                          stderr=subprocess.PIPE, text=True)
    sys.stderr.write(FIGURES.sub('', done.stderr))
    if done.returncode:
        sys.exit(done.returncode)
    Path(log).write_text(''.join(FIGURES.findall(done.stderr)), encoding='utf-8')
    shutil.move(kept(Path(name), f'*.compute_{arch}.ptx', '*.ptx'), ptx)
    shutil.move(kept(Path(name), f'*.sm_{arch}.cubin'), cubin)
