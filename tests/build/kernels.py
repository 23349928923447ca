# SPDX-License-Identifier: Apache-2.0
"""What nvcc and ptxas make of kernels, without a device.

Everywhere: no kernel spills registers or calls a division of 64-bit integers; those over contiguous
memory load and store 16 bytes at once; elementwise ones of float32 or 16-bit elements do not
compute in double; none leaves it to ptxas to fuse a product with a sum. That is read from the PTX,
from the names of the routines in the machine code, and, where cuobjdump is found, from the machine
code itself. Registers are compared with a table, for the toolkit and the architecture that it was
recorded with: elsewhere ptxas allocates otherwise.

check TABLE NVCC ARCH PTX...    of what src/cuda/compile.py kept, which lies side by side
planted SOURCE NVCC ARCH PTX    finds the faults that the comments of the source tell of, no others

With TERN_RECORD_REGISTERS=1 the table is written anew:
    TERN_RECORD_REGISTERS=1 meson test -C build \\
        kernels_spill_nothing_divide_inline_and_load_16_bytes"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

NARROW = re.compile(r'\b(?:float|__half|__nv_bfloat16)\b')
# A width of 1 is for memory that is not aligned. Elements of 8 bytes may be stored one by one,
# truths are shorter than what they are made of, and what is constant need not be loaded.
WIDE = re.compile(r'\b(?:step_(?:update|average)|loss_sum|'
                  r'(?:bias_relu|softmax_long|softmax_grad_long|entropy_\w+)<.*, [48]>|'
                  r'(?:loop_(?:flat|rows)|loss_each)<(?:map|where|copy|each|grad)_body<'
                  r'(?!.*\b(?:double|long|truth|(?:unary|grad)_pow_0|grad_(?:round|sign)|'
                  r'zero_grad)\b))')
READS = re.compile(r'\b(?:loss_sum|entropy_forward)\b')  # and writes less
ELEMENTWISE = re.compile(r'\b(?:loop_\w+|loss_each|bias_relu|softmax_\w+|dropout(?:_channels)?|'
                         r'draw_uniform)<')
# Double is what they are about: sequences and probabilities, which are rounded once; casts; and, in
# CUDA's own functions, large angles.
IN_DOUBLE = re.compile(r'floating_sequence|bernoulli_body|cast_body|\b(?:unary|grad)_(?:sin|cos)\b|'
                       r'any_unary')

UNROUNDED = re.compile(r'\b(?:add|sub|mul)\.(?:ftz\.)?(?:sat\.)?f(?:32|64)\b')
PTX = {'double': re.compile(r'\.f64\b'),
       'load': re.compile(r'\bld\.global(?:\.nc)?\.v[24]\.'),
       'store': re.compile(r'\bst\.global\.v[24]\.')}
MACHINE_CODE = {'double': re.compile(r'\b(?:D(?:ADD|MUL|FMA|SETP)|[FI]2F\.F64|MUFU\.RCP64H)\b'),
                'load': re.compile(r'\bLDG\.E\.(?:\w+\.)*128\b'),
                'store': re.compile(r'\bSTG\.E\.(?:\w+\.)*128\b')}
DIVISION = re.compile(r'\b(?:div|rem)\.[su]64\b')
DIVISION_ROUTINE = re.compile(rb'__cuda_sm\d+_(?:div|rem)_[su]64')
FIGURES = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'.*?(\d+) bytes spill stores, "
                     r'(\d+) bytes spill loads.*?Used (\d+) registers', re.S)


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f'{" ".join(command)}: {done.stderr}')
    return done.stdout


def base(name):
    """The template of an instance."""
    return name.split('<')[0]


def parts(heading, text):
    """(name, what follows) for each heading."""
    found = re.split(heading, text, flags=re.M)
    return zip(found[1::2], found[2::2])


class Source:
    """A compiled file: PTX, machine code and figures by the kernels' mangled names."""

    def __init__(self, ptx, arch, cuobjdump):
        ptx = pathlib.Path(ptx)
        cubin, log = ptx.with_suffix('.cubin'), ptx.with_suffix('.log').read_text()
        self.name = ptx.stem
        self.ptx = {kernel: code.split('\n.func ')[0]
                    for kernel, code in parts(r'^(?:\.visible )?\.entry (\w+)', ptx.read_text())}
        self.figures = {m[1]: (int(m[3]) + int(m[4]), int(m[5])) for m in FIGURES.finditer(log)
                        if m[2] == arch}
        self.routines = set(DIVISION_ROUTINE.findall(cubin.read_bytes()))
        names = subprocess.run(['c++filt'], input='\n'.join(self.ptx), capture_output=True,
                               text=True, check=True)
        names = (name.split('(')[0].removeprefix('void ') for name in names.stdout.splitlines())
        self.names = dict(zip(self.ptx, names))
        self.machine_code = {}
        if cuobjdump and any(WIDE.search(n) or ELEMENTWISE.search(n) for n in self.names.values()):
            code = run(cuobjdump, '-sass', str(cubin))
            self.machine_code = dict(parts(r'^\s*Function : (\w+)', code))

    def key(self, kernel):
        """What the table calls a kernel: instances of one template are one, in double another."""
        name = self.names[kernel]
        return f'{self.name} {base(name)}' + (' double' if 'double' in name else '')

    def registers(self):
        """The most that a kernel's instances use, as the device gives them: by eights."""
        most = {}
        for kernel, (_, registers) in self.figures.items():
            key = self.key(kernel)
            most[key] = max(most.get(key, 0), (registers + 7) // 8 * 8)
        return most


def access_faults(name, code, pattern):
    if ELEMENTWISE.search(name) and NARROW.search(name) and 'double' not in name:
        if not IN_DOUBLE.search(name) and pattern['double'].search(code):
            yield 'computes in double'
    if not WIDE.search(name):
        return
    if not pattern['load'].search(code):
        yield 'has no load of 16 bytes'
    if not READS.search(name) and not pattern['store'].search(code):
        yield 'has no store of 16 bytes'


def faults_of(source):
    """(kernel as written, what is wrong with it)"""
    called = set()
    for kernel, ptx in source.ptx.items():
        name = source.names[kernel]
        faults = set(access_faults(name, ptx, PTX))
        if kernel in source.machine_code:
            faults |= set(access_faults(name, source.machine_code[kernel], MACHINE_CODE))
        if UNROUNDED.search(ptx):
            faults.add('has products and sums that may be fused')
        if DIVISION.search(ptx):
            called.add(name)
        if source.figures[kernel][0]:
            faults.add('spills registers')
        for fault in sorted(faults):
            yield name, fault
    for name in sorted(called if source.routines else ()):
        yield name, 'calls a 64-bit division'
    if source.routines and not called:
        yield '', 'a kernel calls a 64-bit division'


def toolkit_of(nvcc, arch):
    release = re.search(r'release (\S+),', run(nvcc, '--version'))[1]
    return f'# nvcc {release} {arch}'


def read_table(path):
    first, *lines = pathlib.Path(path).read_text().splitlines()
    table = {}
    for line in lines:
        if not line.startswith('#'):
            key, bound = line.rsplit(' ', 1)
            table[key] = int(bound)
    return first, table


def record(path, toolkit, found):
    lines = [toolkit, '# Registers of a thread, the most of a kernel\'s instances, in eights;',
             '# tests/build/kernels.py says how to write this file anew.']
    lines += [f'{key} {bound}' for key, bound in sorted(found.items())]
    pathlib.Path(path).write_text('\n'.join(lines) + '\n')


def register_faults(path, toolkit, found):
    recorded_with, table = read_table(path)
    if toolkit != recorded_with:
        print(f'registers are not compared: this is {toolkit[2:]}, the table {recorded_with[2:]}')
        return
    for key in sorted(found.keys() | table.keys()):
        if found.get(key) != table.get(key):
            yield f'{key}: {found.get(key, "no")} registers, recorded {table.get(key, "none")}'


def expected_faults(path):
    """Comments of a file with planted faults: // fault: kernel, what is wrong with it"""
    return set(re.findall(r'^// fault: (\w+), (.*)$', pathlib.Path(path).read_text(), flags=re.M))


def read_sources(nvcc, arch, paths):
    cuobjdump = shutil.which('cuobjdump', path=os.path.dirname(nvcc)) or shutil.which('cuobjdump')
    print('machine code:', cuobjdump or 'not read, there is no cuobjdump')
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda path: Source(path, arch, cuobjdump), paths))


def check_planted(path, nvcc, arch, ptx):
    found = {(base(name), fault) for name, fault in faults_of(*read_sources(nvcc, arch, [ptx]))}
    expected = expected_faults(path)
    for name, fault in sorted(found ^ expected):
        print(f'{name} {fault}:', 'not found' if (name, fault) in expected else 'not planted')
    print(f'{len(expected)} planted faults')
    return 0 if expected and found == expected else 1


def check(table, nvcc, arch, *paths):
    sources = read_sources(nvcc, arch, paths)
    found = {key: most for source in sources for key, most in source.registers().items()}
    toolkit = toolkit_of(nvcc, arch)
    if os.environ.get('TERN_RECORD_REGISTERS') == '1':
        record(table, toolkit, found)
    faults = [f'{source.name}.cu: {name[:120]} {fault}'
              for source in sources for name, fault in faults_of(source)]
    faults += register_faults(table, toolkit, found)
    print('\n'.join(faults))
    looked_at = sum(len(source.ptx) for source in sources)
    wide = sum(bool(WIDE.search(name)) for source in sources for name in source.names.values())
    print(f'{looked_at} kernels, {wide} over contiguous memory, {len(faults)} faults')
    return 1 if faults or wide < 100 else 0


sys.exit({'check': check, 'planted': check_planted}[sys.argv[1]](*sys.argv[2:]))
