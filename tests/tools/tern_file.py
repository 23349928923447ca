#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern_file.py PROGRAM WEIGHTS CUDA: the program tern-file, and its manual. WEIGHTS and CUDA are
files that torch.save wrote, the second with tensors on a CUDA device. Other inputs are written by
files.py, and what the program writes is read by Python."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True

from files import expanded_pt, npy, pack, pt, safetensors  # noqa: E402

PROGRAM, WEIGHTS, CUDA = (Path(word).resolve() for word in sys.argv[1:4])
UNCHECKED = CUDA.with_name('torch_no_checksums.pt')
OBJECTS = CUDA.with_name('torch_objects.pt')
ENVIRONMENT = {**os.environ, 'CUDA_VISIBLE_DEVICES': ''}
MANUAL = Path(__file__).resolve().parents[2] / 'docs/tern-file.1'
WEIGHT = ('F32', [2, 3], [0, 1, 2, 3, 4, 5])


def header_of(path):
    """Of a safetensors file: its header, and the bytes behind it."""
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def elements_of(path, name):
    header, data = header_of(path)
    begin, end = header[name]['data_offsets']
    return data[begin:end]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_it(self, *words, **more):
        """Status, stdout, stderr."""
        more = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'env': ENVIRONMENT, **more}
        ended = subprocess.run([PROGRAM, *words], text=True, cwd=self.folder, check=False, **more)
        return ended.returncode, ended.stdout, ended.stderr

    def ends(self, status, *words):
        """stdout and stderr."""
        ended, out, errors = self.run_it(*words)
        self.assertEqual(status, ended, out + errors)
        return out, errors

    def safetensors(self, name, tensors, metadata=None):
        return safetensors(self.folder / name, tensors, metadata)

    def bytes(self, name, values):
        """A file that tern takes for the bytes "rng"."""
        state = {'version': 1, 'values': {'rng': {'bytes': len(values)}}}
        safetensors(self.folder / name, {'rng': ('U8', [len(values)], values)},
                    {'tern.state': json.dumps(state, separators=(',', ':'))}, sums=True)


class Listing(Case):
    def test_names_dtypes_shapes_and_sums_are_listed(self):
        self.safetensors('a.safetensors', {'w': WEIGHT, 'n': ('I64', [], [7])}, {'by': 'me'})
        out, errors = self.ends(0, 'list', 'a.safetensors')
        self.assertRegex(out, r'^a.safetensors: safetensors, metadata: by=me\n')
        self.assertRegex(out, r'(?m)^  w +float32 +\(2, 3\)$')
        self.assertRegex(out, r'(?m)^  n +int64 +\(\)$')
        self.assertIn('2 tensors with 7 elements; 32 bytes', out)
        self.assertEqual('', errors)

    def test_what_pytorch_saved_is_listed(self):
        out, _ = self.ends(0, 'list', WEIGHTS)
        self.assertRegex(out, r'(?m)^  1\.weight +float32 +\(32, 784\)$')
        self.assertIn('6 tensors with 26506 elements', out)  # 32*784+32 + 32*32+32 + 10*32+10

    def test_a_file_that_cannot_be_listed_does_not_keep_others_from_it(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        (self.folder / 'text').write_text('hello, this is a text')
        out, errors = self.ends(2, 'list', 'text', 'nothing', 'a.safetensors')
        self.assertIn('a.safetensors: safetensors', out)
        self.assertEqual(2, len(errors.splitlines()), errors)
        self.assertEqual('tern-file: text is no safetensors, PyTorch, npy or npz file\n'
                         'tern-file: cannot open nothing: No such file or directory\n', errors)

    def test_values_that_cannot_be_read_are_listed(self):
        out, errors = self.ends(0, 'list', OBJECTS)
        self.assertRegex(out, r"args +needs Python's argparse\.Namespace, which tern cannot load")
        self.assertEqual('', errors)


class Verifying(Case):
    def test_whole_files_are_fine(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        self.ends(0, 'convert', 'a.safetensors', 'b.safetensors')
        out, errors = self.ends(0, 'verify', 'b.safetensors', WEIGHTS)
        self.assertEqual(f'b.safetensors: fine\n{WEIGHTS}: fine\n', out)
        self.assertEqual('', errors)

    def test_files_without_checksums_are_said_to_be_so(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        self.ends(0, 'convert', 'a.safetensors', 'a.npy')
        names = ['a.safetensors', 'a.npy', UNCHECKED]
        out, errors = self.ends(0, 'verify', *names)
        self.assertEqual(''.join(f'{name}: fine\n' for name in names), out)
        self.assertEqual(''.join(f'tern-file: {name} has no checksums: damage to its elements '
                                 'would not be seen\n' for name in names), errors)

    def test_a_changed_element_is_found_by_its_checksum(self):
        self.safetensors('plain.safetensors', {'w': WEIGHT, 'v': ('F32', [1], [1])})
        self.ends(0, 'convert', 'plain.safetensors', 'a.safetensors')
        data = bytearray((self.folder / 'a.safetensors').read_bytes())
        data[-1] ^= 1
        (self.folder / 'b.safetensors').write_bytes(data)
        out, errors = self.ends(1, 'verify', 'b.safetensors', 'a.safetensors')
        self.assertEqual('a.safetensors: fine\n', out)
        self.assertRegex(errors, r'"w" in b\.safetensors are damaged')

    def test_a_file_that_is_not_there_is_no_damaged_one(self):
        out, errors = self.ends(2, 'verify', 'a.safetensors')
        self.assertEqual('', out)
        self.assertIn('No such file', errors)


class Converting(Case):
    def test_safetensors_become_an_npz(self):
        self.safetensors('a.safetensors', {'w': WEIGHT, 'n': ('I64', [], [7])})
        self.assertEqual(('', ''), self.ends(0, 'convert', 'a.safetensors', 'a.npz'))
        with zipfile.ZipFile(self.folder / 'a.npz') as archive:
            self.assertEqual(['n.npy', 'w.npy'], sorted(archive.namelist()))
            array = archive.read('w.npy')
        self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", array)
        self.assertEqual(pack('F32', WEIGHT[2]), array[-24:])

    def test_expanded_tensors_take_no_more_memory_than_a_piece(self):
        peak = {}
        for count in (1, 50):
            expanded_pt(self.folder / 'expanded.pt', count, 512, 1024)
            for ending in ('npz', 'safetensors'):  # a .pt has the one view once
                words = [PROGRAM, 'convert', '--force', 'expanded.pt', f'big.{ending}']
                with subprocess.Popen(words, cwd=self.folder, env=ENVIRONMENT) as child:
                    _, status, usage = os.wait4(child.pid, 0)
                    child.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(0, child.returncode)
                self.assertGreater((self.folder / f'big.{ending}').stat().st_size,
                                   count * 512 * 1024 * 4)
                peak[ending, count] = usage.ru_maxrss
        if 'TERN_CACHE' not in ENVIRONMENT: # a sanitizer's build, which keeps what was freed
            for ending in ('npz', 'safetensors'):
                self.assertLess(peak[ending, 50] - peak[ending, 1], 4096, peak)
        self.ends(0, 'compare', 'big.npz', 'big.safetensors')

    def test_only_passes_by_what_cannot_be_read(self):
        _, errors = self.ends(2, 'convert', OBJECTS, 'a.safetensors')
        self.assertRegex(errors, r'^tern-file: "[a-z]+" in .* which tern cannot load; --only reads '
                                 r'the others\n$')
        self.ends(0, 'convert', '--only', 'model.*', OBJECTS, 'a.safetensors')
        self.assertEqual(pack('F32', [1, 1]), elements_of(self.folder / 'a.safetensors', 'model.w'))
        _, errors = self.ends(2, 'convert', '--only', 'other.*', OBJECTS, 'b.safetensors')
        self.assertIn('fits --only = "other.*"', errors)
        _, errors = self.ends(2, 'convert', '--map-location', 'x=', 'a.safetensors', 'b.npz')
        self.assertIn('tern-file: --map-location has', errors)
        _, errors = self.ends(2, 'convert', 'a.safetensors', 'a.words')
        self.assertIn('or --format says which', errors)

    def test_pytorchs_weights_become_safetensors_with_the_same_bits(self):
        self.ends(0, 'convert', WEIGHTS, 'w.safetensors')
        header, _ = header_of(self.folder / 'w.safetensors')
        self.assertEqual([10], header['5.bias']['shape'])
        with zipfile.ZipFile(WEIGHTS) as archive:
            saved = archive.read('weights/data/5')
        self.assertEqual(saved, elements_of(self.folder / 'w.safetensors', '5.bias'))
        self.assertEqual(('', ''), self.ends(0, 'compare', WEIGHTS, 'w.safetensors'))

    def test_what_was_saved_on_a_gpu_is_converted_without_one(self):
        self.assertIn(' on cuda:', self.ends(0, 'list', CUDA)[0])
        self.ends(0, 'convert', CUDA, 'a.pt')
        self.assertNotIn(' on cuda:', self.ends(0, 'list', 'a.pt')[0])
        self.assertEqual(('', ''), self.ends(0, 'compare', CUDA, 'a.pt'))
        _, errors = self.ends(2, 'convert', '--map-location', 'cuda:9=cpu', CUDA, 'b.pt')
        self.assertIn('on CUDA device cuda:1', errors)

    def test_only_some_values_and_another_format_than_the_ending(self):
        self.safetensors('a.safetensors', {'m.w': WEIGHT, 'o.w': WEIGHT})
        self.ends(0, 'convert', '--only', 'm.*', '--format', 'npz', 'a.safetensors', 'a.dat')
        with zipfile.ZipFile(self.folder / 'a.dat') as archive:
            self.assertEqual(['m.w.npy'], archive.namelist())

    def test_a_file_that_is_there_is_replaced_by_force_alone(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        for there in ('file.npz', 'link.npz'):
            path = self.folder / there
            path.symlink_to('nowhere.npz') if there == 'link.npz' else path.write_text('mine')
            _, errors = self.ends(2, 'convert', 'a.safetensors', there)
            self.assertIn(f'{there} exists already; --force replaces it', errors)
        self.assertEqual('mine', (self.folder / 'file.npz').read_text())
        self.assertFalse((self.folder / 'nowhere.npz').exists())
        self.ends(0, 'convert', '--force', 'a.safetensors', 'file.npz')
        self.assertEqual(b'PK', (self.folder / 'file.npz').read_bytes()[:2])

    def test_a_file_may_replace_itself(self):
        path = self.safetensors('a.safetensors', {'w': WEIGHT})
        self.ends(0, 'convert', '--force', path, path)
        self.assertEqual(pack('F32', WEIGHT[2]), elements_of(path, 'w'))

    def test_nothing_is_written_where_a_value_cannot_be(self):
        pt(self.folder / 'a.pt', {'epoch': 3})
        _, errors = self.ends(2, 'convert', 'a.pt', 'a.npz')
        self.assertRegex(errors, r'a\.npz: npz has tensors alone, and "epoch" is an int')
        self.safetensors('half.safetensors', {'w': ('BF16', [1], b'\0\0')})
        _, errors = self.ends(2, 'convert', 'half.safetensors', 'a.npz')
        self.assertRegex(errors, r'"w" for .*a\.npz: npy has no bfloat16')
        self.safetensors('eight.safetensors', {'w': WEIGHT, 'e': ('F8_E5M2', [1], b'\0')})
        _, errors = self.ends(2, 'convert', 'eight.safetensors', 'a.npz')
        self.assertRegex(errors, r'"e" in eight\.safetensors is of the dtype F8_E5M2')
        self.assertFalse((self.folder / 'a.npz').exists())

    def test_an_ending_that_says_no_format_is_refused(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        _, errors = self.ends(2, 'convert', 'a.safetensors', 'a.xyz')
        self.assertRegex(errors, r'ending of "a\.xyz" says no format.*\.npz')

    def test_metadata_that_are_lost_are_said(self):
        self.safetensors('a.safetensors', {'w': WEIGHT}, {'by': 'me', 'format': 'pt'})
        _, errors = self.ends(0, 'convert', 'a.safetensors', 'b.safetensors')
        self.assertEqual('tern-file: b.safetensors does not keep what a.safetensors has besides '
                         'values: by=me, format=pt\n', errors)
        self.safetensors('c.safetensors', {'w': WEIGHT}, {'format': 'pt'})  # only who wrote it
        self.assertEqual(('', ''), self.ends(0, 'convert', 'c.safetensors', 'c.npz'))

    def test_an_only_name_that_is_lost_is_said(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        _, errors = self.ends(0, 'convert', 'a.safetensors', 'a.npy')
        self.assertEqual('tern-file: npy has no names: "w" is not kept\n', errors)
        written = (self.folder / 'a.npy').read_bytes()
        self.assertEqual(pack('F32', WEIGHT[2]), written[-24:])
        (self.folder / 'b.npy').write_bytes(npy('<f4', [2, 3], pack('F32', WEIGHT[2])))
        self.assertEqual(('', ''), self.ends(0, 'convert', 'b.npy', 'c.npy'))

    def test_tensors_that_are_one_no_more_are_said(self):
        safetensors(self.folder / 'tied.safetensors',
                    {'w': WEIGHT, 'other': WEIGHT, 'same': WEIGHT},
                    {'tern.tied': json.dumps({'same': 'w'})}, sums=True)
        _, errors = self.ends(0, 'convert', 'tied.safetensors', 'a.npz')
        self.assertEqual('tern-file: "w" and "same" share their elements; each has its own now\n',
                         errors)
        self.assertEqual(('', ''), self.ends(0, 'convert', 'tied.safetensors', 'b.safetensors'))

    def test_bytes_that_become_a_tensor_are_said(self):
        self.bytes('a.safetensors', [1, 2, 3])
        self.assertRegex(self.ends(0, 'list', 'a.safetensors')[0], r'(?m)^  rng +bytes +3$')
        _, errors = self.ends(0, 'convert', 'a.safetensors', 'a.pt')
        self.assertEqual('tern-file: "rng" is bytes; now it is a tensor of uint8\n', errors)
        self.assertRegex(self.ends(0, 'list', 'a.pt')[0], r'(?m)^  rng +uint8 +\(3\)$')

    def test_dictionaries_that_become_dots_are_said(self):
        pt(self.folder / 'a.pt', {'model': {'epoch': 3}, 'best': None})
        _, errors = self.ends(0, 'convert', 'a.pt', 'a.safetensors')
        self.assertEqual('tern-file: a.safetensors does not keep what a.pt has besides values: '
                         'nested dictionaries and lists: 1, None: 1\n', errors)
        self.assertRegex(self.ends(0, 'list', 'a.safetensors')[0], r'(?m)^  model\.epoch +int +3$')
        pt(self.folder / 'b.pt', {'epoch': 3})
        self.assertEqual(('', ''), self.ends(0, 'convert', 'b.pt', 'b.safetensors'))


class Comparing(Case):
    def compare(self, status, a, b, *words):
        """The lines of two safetensors files' comparison."""
        self.safetensors('a.safetensors', a)
        self.safetensors('b.safetensors', b)
        out, errors = self.ends(status, 'compare', *words, 'a.safetensors', 'b.safetensors')
        self.assertEqual('', errors)
        return out.splitlines()

    def test_files_of_the_same_values_differ_in_nothing(self):
        tensors = {'w': WEIGHT, 'n': ('I64', [], [7]), 'e': ('F32', [0, 3], [])}
        turned = dict(reversed(tensors.items()))
        self.assertEqual([], self.compare(0, tensors, turned))

    def test_names_of_one_file_alone_are_said(self):
        lines = self.compare(1, {'w': WEIGHT, 'a': WEIGHT}, {'b': WEIGHT, 'w': WEIGHT})
        self.assertEqual(['only in a.safetensors: a', 'only in b.safetensors: b'], lines)

    def test_shapes_and_dtypes_that_differ_are_said(self):
        lines = self.compare(1, {'w': WEIGHT, 'v': ('F32', [1], [0])},
                             {'w': ('F32', [3, 2], WEIGHT[2]), 'v': ('I32', [1], [0])})
        self.assertEqual(['v: float32 (1) and int32 (1)', 'w: float32 (2, 3) and float32 (3, 2)'],
                         sorted(lines))

    def test_the_first_element_that_differs_is_said_with_both_values(self):
        lines = self.compare(1, {'w': WEIGHT}, {'w': ('F32', [2, 3], [0, 1, 2, 3, 4.5, 7])})
        self.assertEqual(['w: element (1, 1) is 4 and 4.5; 2 of 6 differ, by at most 2'], lines)

    def test_each_dtype_says_its_elements(self):
        values = {'F64': ([0.1], '0.10000000000000001'), 'F32': ([0.1], '0.100000001'),
                  'F16': ([0.5], '0.5'), 'BF16': (b'\x40\x40', '3'), 'I64': ([2**53 + 1],
                  '9007199254740993'), 'I32': ([-5], '-5'), 'U8': ([200], '200'),
                  'BOOL': ([True], 'true')}
        zeros = {d: (d, [1], bytes(len(pack(d, v)))) for d, (v, _) in values.items()}
        lines = self.compare(1, {d: (d, [1], v) for d, (v, _) in values.items()}, zeros)
        said = {line.split(':')[0]: line.split(' is ')[1].split(' and ')[0] for line in lines}
        self.assertEqual({d: text for d, (_, text) in values.items()}, said)

    def test_elements_far_from_the_first_ones_are_found(self):
        zeros, count = bytes(600_000), 600_000
        other = bytearray(zeros)
        other[524_288] = other[599_999] = 1
        lines = self.compare(1, {'w': ('U8', [2, 300_000], zeros)},
                             {'w': ('U8', [2, 300_000], bytes(other))})
        self.assertEqual([f'w: element (1, 224288) is 0 and 1; 2 of {count} differ'], lines)

    def test_tolerances_are_those_of_allclose(self):
        a, b = {'w': ('F32', [2], [1, 100])}, {'w': ('F32', [2], [1.25, 101])}
        self.assertEqual(1, len(self.compare(1, a, b)))
        self.compare(0, a, b, '--atol', '0.25', '--rtol', '0.0075')  # 1 <= 0.25 + 0.7575
        self.compare(1, a, b, '--atol', '0.25', '--rtol', '0.0074')  # 1 > 0.25 + 0.7474
        self.compare(1, a, b, '--atol', '0.9')
        self.compare(0, a, b, '--atol', '1')
        self.compare(0, {'w': ('F32', [1], [100])}, {'w': ('F32', [1], [200])}, '--rtol', '0.5')
        self.compare(1, {'w': ('F32', [1], [200])}, {'w': ('F32', [1], [100])}, '--rtol', '0.5')
        n = {'n': ('I64', [1], [1])}, {'n': ('I64', [1], [2])}
        self.compare(1, *n, '--atol', '5')

    def test_nan_is_itself_and_zeros_have_signs(self):
        nan, other = b'\0\0\xc0\x7f', b'\1\0\xc0\x7f'
        self.compare(0, {'w': ('F32', [1], nan)}, {'w': ('F32', [1], nan)})
        lines = self.compare(1, {'w': ('F32', [1], nan)}, {'w': ('F32', [1], other)})
        self.assertIn('nan (0x7fc00000) and nan (0x7fc00001)', lines[0])
        self.compare(0, {'w': ('F32', [1], nan)}, {'w': ('F32', [1], other)}, '--rtol', '0')
        zeros = {'w': ('F32', [1], [0.0])}, {'w': ('F32', [1], [-0.0])}
        self.assertIn('is 0 and -0;', self.compare(1, *zeros)[0])
        self.compare(0, *zeros, '--atol', '0')
        infinite = {'w': ('F32', [1], [float('inf')])}
        self.compare(0, infinite, infinite, '--atol', '1')
        self.compare(1, infinite, {'w': ('F32', [1], [0])}, '--atol', '1', '--rtol', '1')

    def test_other_values_are_compared_as_well(self):
        same = {'epoch': 3, 'lr': 0.5, 'name': 'net'}
        other = {'epoch': 4, 'lr': 0.25, 'name': 'ne\x1bw'}
        for name, value in (('a.pt', same), ('b.pt', dict(same)), ('c.pt', other)):
            pt(self.folder / name, value)
        self.assertEqual(('', ''), self.ends(0, 'compare', 'a.pt', 'b.pt'))
        lines = self.ends(1, 'compare', 'a.pt', 'c.pt')[0].splitlines()
        self.assertEqual(['epoch: 3 and 4', 'lr: 0.5 and 0.25',
                          'name: "net" and "ne?w"; the same up to byte 2'], sorted(lines))
        lines = self.ends(1, 'compare', '--only', 'e*', 'a.pt', 'c.pt')[0].splitlines()
        self.assertEqual(['epoch: 3 and 4'], lines)
        pt(self.folder / 'd.pt', {'epoch': 'three'})
        lines = self.ends(1, 'compare', '--only', 'e*', 'a.pt', 'd.pt')[0].splitlines()
        self.assertEqual(['epoch: an integer and a text'], lines)

    def test_bytes_are_compared(self):
        for name, values in (('a', [1, 2, 3]), ('b', [1, 9, 9]), ('c', [1, 2])):
            self.bytes(f'{name}.safetensors', values)
        self.ends(0, 'compare', 'a.safetensors', 'a.safetensors')
        self.assertEqual('rng: byte 1 is 0x02 and 0x09\n',
                         self.ends(1, 'compare', 'a.safetensors', 'b.safetensors')[0])
        self.assertEqual('rng: 3 bytes and 2\n',
                         self.ends(1, 'compare', 'a.safetensors', 'c.safetensors')[0])

    def test_a_file_that_cannot_be_read_is_no_difference(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        for pair in (('a.safetensors', 'none'), ('none', 'a.safetensors')):
            out, errors = self.ends(2, 'compare', *pair)
            self.assertEqual('', out)
            self.assertRegex(errors, 'cannot open none')


class Escaping(Case):
    """What is no text is not sent to a terminal."""
    NAME = b'\xffa\x1b.safetensors'

    def setUp(self):
        super().setUp()
        path = os.fsdecode(os.fsencode(self.folder) + b'/' + self.NAME)
        safetensors(Path(path), {'w': WEIGHT}, {'by': 'me'})

    def shows(self, status, expected, *words):
        """Of stdout and stderr together, bytes."""
        ended = subprocess.run([PROGRAM, *words], cwd=self.folder, check=False, env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(status, ended.returncode, ended.stdout)
        self.assertEqual(set(), set(ended.stdout.replace(b'\n', b'')) - set(range(32, 127)))
        self.assertIn(expected, ended.stdout)

    def test_a_file_is_named_with_escapes(self):
        self.shows(0, b'\\xffa?.safetensors: fine\n', 'verify', self.NAME)
        self.shows(0, b'\\xffa?.safetensors: safetensors, metadata: by=me\n', 'list', self.NAME)
        self.shows(2, b'\\xffa?.safetensors exists already', 'convert', self.NAME, self.NAME)
        self.shows(2, b'tern-file: cannot open \\xff?: No such file', 'list', b'\xff\x1b')
        self.safetensors('b.safetensors', {'v': WEIGHT})
        self.shows(1, b'only in \\xffa?.safetensors: w\n', 'compare', self.NAME, 'b.safetensors')

    def test_words_of_the_command_line_are_shown_with_escapes(self):
        self.shows(2, b'tern-file: \\xff?: no such command', b'\xff\x1b')
        self.shows(2, b'--format \\xff?: not one of', 'convert', '--format', b'\xff\x1b', 'a', 'b')

    def test_metadata_of_such_a_file_are_lost_aloud(self):
        self.shows(0, b'does not keep what \\xffa?.safetensors has besides values: by=me\n',
                   'convert', self.NAME, 'b.safetensors')


class CommandLine(Case):
    def test_what_is_not_understood_is_refused_with_a_sentence(self):
        for words, sentence in (
                (['lsit', 'a'], 'lsit: no such command'),
                (['list'], 'list takes one file or more, not 0'),
                (['convert', 'a'], 'convert takes two files, not 1'),
                (['compare', 'a', 'b', 'c'], 'compare takes two files, not 3'),
                (['list', '--force', 'a'], 'list has no option --force'),
                (['compare', '--map-location', 'cpu', 'a', 'b'], 'compare has no option'),
                (['convert', '--frmat', 'a', 'b'], '--frmat: no such option'),
                (['convert', 'a', 'b', '--format'], '--format: needs a value'),
                (['convert', '--format', 'h5', 'a', 'b'], '--format h5: not one of'),
                (['compare', '--rtol', '-1', 'a', 'b'], '--rtol -1: not a number'),
                (['compare', '--atol', 'nan', 'a', 'b'], '--atol nan: not a number'),
                (['convert', '--map-location', 'cdua', 'a', 'b'], 'cdua')):
            with self.subTest(words=words):
                safetensors(self.folder / 'a', {'w': WEIGHT})
                out, errors = self.ends(2, *words)
                self.assertEqual('', out)
                self.assertIn(sentence, errors)
                self.assertEqual(1, len(errors.splitlines()), errors)

    def test_help_and_version_are_asked_for(self):
        out, errors = self.ends(0, '--help')
        self.assertEqual('', errors)
        for words in (['-h'], ['compare', '--help'], ['list', '-h']):
            self.assertEqual((out, ''), self.ends(0, *words))
        self.assertRegex(self.ends(0, '--version')[0], r'^tern-file \d+\.\d+\.\d+\n$')
        self.assertEqual(('', out), self.ends(2))

    def test_what_cannot_be_printed_is_a_failure(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        self.safetensors('b.safetensors', {'w': ('F32', [1], [1])})
        for words in (['list', 'a.safetensors'], ['verify', WEIGHTS], ['--help'],
                      ['compare', 'a.safetensors', 'b.safetensors'], ['--version']):
            with open('/dev/full', 'w', encoding='utf-8') as full:
                status, _, errors = self.run_it(*words, stdout=full)
            self.assertEqual((2, 1), (status, len(errors.splitlines())), errors)
            read, write = os.pipe()
            os.close(read)
            status, _, errors = self.run_it(*words, stdout=write)
            os.close(write)
            self.assertNotEqual(0, status)

    def test_a_closed_stdout_is_a_failure_where_it_is_needed(self):
        self.safetensors('a.safetensors', {'w': WEIGHT})
        shell = f'exec "{PROGRAM}" "$@" >&-'
        for words, expected in ((['list', 'a.safetensors'], 2),
                                (['convert', 'a.safetensors', 'b.npz'], 0)):
            ended = subprocess.run(['sh', '-c', shell, 'sh', *words], cwd=self.folder, check=False,
                                   stderr=subprocess.PIPE)
            self.assertEqual(expected, ended.returncode, ended.stderr)
        self.ends(0, 'compare', 'a.safetensors', 'b.npz')


class Manual(Case):
    def test_it_has_every_option_and_command_of_the_help(self):
        page = MANUAL.read_text(encoding='utf-8').replace('\\-', '-')
        usage = self.ends(0, '--help')[0]
        words = set(re.findall(r'--[a-z-]+', usage)) | {'list', 'verify', 'convert', 'compare',
                                                         'pack'}
        self.assertEqual(set(), {word for word in words if word not in page})
        self.assertEqual(set(), set(re.findall(r'--[a-z]+(?:-[a-z]+)*', page)) - words)

    def test_groff_has_nothing_to_say_of_it(self):
        if not shutil.which('groff'):
            self.skipTest('there is no groff')
        ended = subprocess.run(['groff', '-man', '-Tutf8', '-P-cbou', '-ww', '-K', 'utf8', MANUAL],
                               check=False, text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.assertEqual((0, ''), (ended.returncode, ended.stderr))
        self.assertIn('tern-file - list, verify', ended.stdout)


def main():
    result = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f'[  PASSED  ] {result.testsRun - failed - len(result.skipped)} test(s).\n'
          f'[  FAILED  ] {failed} test(s)', flush=True)
    return 1 if failed or not result.testsRun else 0


sys.exit(main())
