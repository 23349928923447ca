# SPDX-License-Identifier: Apache-2.0
"""Files of weights, written by their formats' own descriptions: what tern-file is tested with."""
import json
import pickle
import struct
import zipfile

CODES = {'F64': 'd', 'F32': 'f', 'F16': 'e', 'I64': 'q', 'I32': 'i', 'U8': 'B', 'BOOL': '?'}


def pack(dtype, values):
    """Values as bytes; bytes stay."""
    return values if isinstance(values, bytes) else struct.pack(f'<{len(values)}{CODES[dtype]}',
                                                                *values)


def crc32c(data):
    """Castagnoli's, 8 hex digits."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return f'{value ^ 0xFFFFFFFF:08x}'


def safetensors(path, tensors, metadata=None, sums=False):
    """tensors: {name: (dtype, shape, values)}. sums: with the checksums that tern writes."""
    header, data = {}, b''
    if metadata or sums:
        header['__metadata__'] = dict(metadata or {})
    if sums:
        of_each = [crc32c(pack(dtype, values)) for dtype, _, values in tensors.values()]
        header['__metadata__'].update({'tern.crc32c': ','.join(of_each),
                                       'tern.header_crc32c': '00000000'})
    for name, (dtype, shape, values) in tensors.items():
        elements = pack(dtype, values)
        header[name] = {'dtype': dtype, 'shape': shape,
                        'data_offsets': [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    if sums:
        text = text.replace(b'"00000000"', f'"{crc32c(text)}"'.encode())
    path.write_bytes(struct.pack('<Q', len(text)) + text + data)
    return path


def npy(descr, shape, data):
    """The bytes of an npy file."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += ' ' * (-(len(header) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + data


def pt(path, value):
    """What torch.save writes of dictionaries and numbers."""
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('archive/data.pkl', pickle.dumps(value, protocol=2))
        archive.writestr('archive/version', '3\n')
    return path


def expanded_pt(path, count, rows, columns):
    """What torch.save writes of tensors (rows, columns), each a row of one storage, expanded."""
    def text(word):
        return b'X' + struct.pack('<I', len(word)) + word.encode()

    def number(value):
        return b'J' + struct.pack('<i', value)

    ordered = b'ccollections\nOrderedDict\n)R'
    storage = (b'(' + text('storage') + b'ctorch\nFloatStorage\n' + text('0') + text('cpu') +
               number(columns) + b'tQ')
    tensor = (b'ctorch._utils\n_rebuild_tensor_v2\n(' + storage + b'K\0' + number(rows) +
              number(columns) + b'\x86K\0K\1\x86\x89' + ordered + b'tR')
    values = b''.join(text(f't{i}') + tensor for i in range(count))
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('archive/data.pkl', b'\x80\x02}(' + values + b'u.')
        archive.writestr('archive/data/0', pack('F32', [float(i) for i in range(columns)]))
        archive.writestr('archive/version', '3\n')
    return path
