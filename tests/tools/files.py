# SPDX-License-Identifier: Apache-2.0
"""Files of weights, written by their formats' own descriptions: what tern-file is tested with."""
import json
import pickle
import struct
import zipfile

SIZES = {'F64': 8, 'F32': 4, 'F16': 2, 'BF16': 2, 'I64': 8, 'I32': 4, 'U8': 1, 'BOOL': 1,
         'F8_E5M2': 1}
CODES = {'F64': 'd', 'F32': 'f', 'F16': 'e', 'I64': 'q', 'I32': 'i', 'U8': 'B', 'BOOL': '?'}


def pack(dtype, values):
    """Values as bytes; bytes stay."""
    return values if isinstance(values, bytes) else struct.pack(f'<{len(values)}{CODES[dtype]}',
                                                                *values)


def safetensors(path, tensors, metadata=None):
    """tensors: {name: (dtype, shape, values)}."""
    header, data = {}, b''
    if metadata:
        header['__metadata__'] = metadata
    for name, (dtype, shape, values) in tensors.items():
        elements = pack(dtype, values)
        header[name] = {'dtype': dtype, 'shape': shape,
                        'data_offsets': [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
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
