#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern_file_pack.py PROGRAM: the command pack of tern-file, whose files are read by Python."""
import json
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

sys.dont_write_bytecode = True

from files import pack  # noqa: E402

PROGRAM = Path(sys.argv[1]).resolve()


def header_of(path):
    """Of a safetensors file: its header, and the bytes behind it."""
    data = path.read_bytes()
    size = struct.unpack('<Q', data[:8])[0]
    return json.loads(data[8:8 + size]), data[8 + size:]


def elements_of(path, name):
    header, data = header_of(path)
    begin, end = header[name]['data_offsets']
    return data[begin:end]


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width, height, value):
    """A grey image of one value."""
    header = struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)
    rows = (b'\0' + bytes([value]) * width) * height
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows)) +
            chunk(b'IEND', b''))


class Packing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.files = {'cat/1.png': png(3, 2, 7), 'cat/2.PNG': png(3, 2, 8),
                      'dog/1.png': png(3, 2, 9)}
        for name, data in self.files.items():
            path = self.folder / 'pets' / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        errors = self.run_it('pack', 'pets', 'probe.safetensors')[2]
        if 'this build has no libpng' in errors:
            self.skipTest(errors)

    def run_it(self, *words):
        """Status, stdout, stderr."""
        ended = subprocess.run([PROGRAM, *words], text=True, cwd=self.folder, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return ended.returncode, ended.stdout, ended.stderr

    def ends(self, status, *words):
        """stdout and stderr."""
        ended, out, errors = self.run_it(*words)
        self.assertEqual(status, ended, out + errors)
        return out, errors

    def test_a_folder_becomes_its_files_bytes_with_offsets_labels_and_names(self):
        self.assertEqual(('', ''), self.ends(0, 'pack', 'pets', 'a.safetensors'))
        path = self.folder / 'a.safetensors'
        sizes = [len(data) for data in self.files.values()]
        offsets = [sum(sizes[:i]) for i in range(4)]
        self.assertEqual(pack('I64', offsets), elements_of(path, 'offsets'))
        self.assertEqual(pack('I64', [0, 0, 1]), elements_of(path, 'labels'))
        self.assertEqual(b'cat\0dog\0', elements_of(path, 'classes'))
        self.assertEqual('\0'.join([*self.files, '']).encode(), elements_of(path, 'names'))
        self.assertEqual(b''.join(self.files.values()), elements_of(path, 'images'))
        self.assertIn('images', self.ends(0, 'list', 'a.safetensors')[0])

    def test_raw_images_are_one_tensor(self):
        self.ends(0, 'pack', '--raw', 'pets', 'a.safetensors')
        path = self.folder / 'a.safetensors'
        self.assertEqual([3, 2, 3, 3], header_of(path)[0]['images']['shape'])
        self.assertEqual(bytes([7] * 18 + [8] * 18 + [9] * 18), elements_of(path, 'images'))
        (self.folder / 'pets/dog/2.png').write_bytes(png(4, 2, 0))
        _, errors = self.ends(2, 'pack', '--raw', 'pets', 'b.safetensors')
        self.assertEqual('tern-file: dog/2.png has 4 x 2 pixels, but cat/1.png has 3 x 2: --raw is '
                         'for images of one size\n', errors)
        self.assertFalse((self.folder / 'b.safetensors').exists())
        _, errors = self.ends(2, 'pack', '--raw', '--max-pixels', '5', 'pets', 'b.safetensors')
        self.assertIn('more than the 5 of --max-pixels', errors)

    def test_what_cannot_be_packed_is_said_by_the_options_names(self):
        (self.folder / 'pets/owl').mkdir()
        _, errors = self.ends(2, 'pack', 'pets', 'a.safetensors')
        self.assertIn('class owl in pets has no images; --allow-empty takes it', errors)
        self.ends(0, 'pack', '--allow-empty', 'pets', 'a.safetensors')
        (self.folder / 'pets/owl/1.webp').write_bytes(b'x')
        _, errors = self.ends(2, 'pack', '--allow-empty', '--force', 'pets', 'a.safetensors')
        self.assertIn('1.webp is a WebP file, and tern does not read these; --skip-other-formats '
                      'leaves it out', errors)
        self.ends(0, 'pack', '--allow-empty', '--skip-other-formats', '--force', 'pets',
                  'a.safetensors')
        _, errors = self.ends(2, 'pack', 'pets', 'a.safetensors')
        self.assertIn('a.safetensors exists already; --force replaces it', errors)
        _, errors = self.ends(2, 'pack', '--exif', 'pets', 'b.safetensors')
        self.assertIn('--exif is for --raw: encoded images', errors)
        _, errors = self.ends(2, 'pack', 'pets')
        self.assertIn('pack takes a folder and a file, not 1', errors)


def main():
    result = unittest.main(argv=sys.argv[:1], verbosity=2, exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f'[  PASSED  ] {result.testsRun - failed - len(result.skipped)} test(s).\n'
          f'[  FAILED  ] {failed} test(s)', flush=True)
    if len(result.skipped) == result.testsRun:
        return 77
    return 1 if failed or not result.testsRun else 0


sys.exit(main())
