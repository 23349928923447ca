# SPDX-License-Identifier: Apache-2.0
"""What nvcc makes of kernels, without a device: those over contiguous memory load and store 16
bytes at once, none of float32 or 16-bit elements computes in double, and none leaves it to ptxas to
fuse a product with a sum.
Arguments: nvcc and its flags; then -- and the .cu files."""
import re
import subprocess
import sys

WIDE = re.compile(r'walk_flat|walk_rows|bias_relu<[^>]*, [48]>')
UNROUNDED = re.compile(r'\b(?:add|sub|mul)\.(?:ftz\.)?(?:sat\.)?f(?:32|64)\b')
NARROW_TYPES = re.compile(r'float|__half|__nv_bfloat16')


def entries(nvcc, source):
    """Kernels of a file: (name as written, its PTX)."""
    done = subprocess.run([*nvcc, '-ptx', source, '-o', '-'], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'nvcc cannot compile {source}: {done.stderr}')
    parts = re.split(r'^\.visible \.entry ', done.stdout, flags=re.M)[1:]
    mangled = '\n'.join(part[:part.index('(')] for part in parts)
    names = subprocess.run(['c++filt'], input=mangled, capture_output=True, text=True, check=True)
    return list(zip(names.stdout.splitlines(), parts))


def faults_of(name, ptx):
    if UNROUNDED.search(ptx):
        yield 'has products and sums that may be fused'
    if 'double' in name or not NARROW_TYPES.search(name):
        return
    if re.search(r'\.f64\b', ptx):
        yield 'computes in double'
    if WIDE.search(name):
        if not re.search(r'ld\.global(\.nc)?\.v[24]\.', ptx):
            yield 'has no wide load'
        if not re.search(r'st\.global\.v[24]\.', ptx):
            yield 'has no wide store'


def main():
    split = sys.argv.index('--')
    nvcc, sources = sys.argv[1:split], sys.argv[split + 1:]
    looked_at, faults = 0, 0
    for source in sources:
        for name, ptx in entries(nvcc, source):
            looked_at += bool(WIDE.search(name))
            for fault in faults_of(name, ptx):
                print(f'{source}: {name[:120]} {fault}')
                faults += 1
    print(f'{looked_at} kernels over contiguous memory, {faults} faults')
    return 1 if faults or looked_at < 30 else 0


sys.exit(main())
