# SPDX-License-Identifier: Apache-2.0
"""What nvcc and ptxas make of a file of kernels, for kernels.py: PTX, machine code, and ptxas'
figures.
Arguments: the file; where the three go, and the headers it depends on; nvcc and its flags."""
import subprocess
import sys


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{" ".join(command)}: {done.stderr}')
    return done.stdout + done.stderr


source, ptx, cubin, log, depfile, *nvcc = sys.argv[1:]
run(*nvcc, '-MD', '-MT', ptx, '-MF', depfile, '-ptx', source, '-o', ptx)
figures = run(*nvcc, '-cubin', '-Xptxas=-v', ptx, '-o', cubin)
with open(log, 'w', encoding='utf-8') as file:
    file.write(figures)
