#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the inputs of tests/fuzz/corpus that have names: what is known to go wrong in readers. The
others, whose names are checksums, scripts/fuzz.sh --keep found. Real files are in tests/io/data.

    make_corpus.py
"""
import gzip
import json
import math
import os
import pickle
import struct
import zlib

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "corpus")


def write(target, name, data):
    folder = os.path.join(FOLDER, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".bin"), "wb") as file:
        file.write(data)


def idx(kind, sizes, data, order=">I"):
    return bytes([0, 0, kind, len(sizes)]) + b"".join(struct.pack(order, n) for n in sizes) + data


def idx_files():
    plain = idx(8, [2, 3], bytes(range(6)))
    yield "uint8", plain
    for kind, size in ((9, 1), (0x0B, 2), (0x0C, 4), (0x0D, 4), (0x0E, 8)):
        yield f"type_{kind:02x}", idx(kind, [3], bytes(range(3 * size)))
    yield "gzip", gzip.compress(plain, mtime=0)
    yield "gzip_two", gzip.compress(plain[:7], mtime=0) + gzip.compress(plain[7:], mtime=0)
    yield "gzip_cut", gzip.compress(plain, mtime=0)[:-5]
    yield "gzip_junk", gzip.compress(plain, mtime=0) + b"junk"
    yield "gzip_sum", gzip.compress(plain, mtime=0)[:-8] + bytes(8)
    yield "bomb", gzip.compress(idx(8, [0xFFFFFFFF], bytes(50000)), mtime=0)
    yield "count_max", idx(8, [0xFFFFFFFF], b"")
    yield "wraps", idx(0x0E, [0xFFFFFFFF] * 8, b"")
    yield "rank_0", idx(8, [], b"x")
    yield "rank_255", bytes([0, 0, 8, 255]) + bytes(100)
    yield "type_0a", idx(0x0A, [1], b"x")
    yield "size_0", idx(8, [0], b"")
    yield "short", plain[:-1]
    yield "long", plain + b"x"


def npy(text, data=bytes(8), version=1):
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def header(descr="'<f4'", order="False", shape="(2,)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


def npy_files():
    yield "plain", npy(header())
    yield "length_max", b"\x93NUMPY\x02\x00\xf0\xff\xff\xff"
    yield "length_past", b"\x93NUMPY\x01\x00\xff\xff"
    yield "wraps", npy(header(shape="(4294967296, 4294967296)"))
    yield "size_max", npy(header(shape="(9223372036854775807,)"))
    yield "size_more", npy(header(shape="(9223372036854775808,)"))
    yield "zero_max", npy(header(shape="(0, 9223372036854775807, 3)"), b"")
    yield "fortran_zero", npy(header(order="True", shape="(9223372036854775807, 9, 0)"), b"")
    yield "fortran", npy(header(order="True", shape="(1, 2)"))
    yield "big", npy(header(descr="'>f8'", shape="(1,)"))
    yield "bool", npy(header(descr="'|b1'", shape="(8,)"), b"\0\1\0\1\2\0\0\0")
    yield "objects", npy(header(descr="'|O'"))
    yield "structured", npy(header(descr="[('a', '<f4')]"))
    yield "text", npy(header(descr="'<U99999999'"))
    yield "text_max", npy(header(descr="'<U9223372036854775807'"))
    yield "dates", npy(header(descr="'<M8[ns]'", shape="(1,)"))
    yield "rank_9", npy(header(shape="(1, 1, 1, 1, 1, 1, 1, 1, 2)"))
    yield "longs", npy(header(shape="(2L,)"))
    yield "hex", npy(header(shape="(0x2,)"))
    yield "quotes", npy(header().replace("'", '"'))
    yield "version_3", npy(header(), version=3)
    yield "version_4", npy(header(), version=4)


TENSOR = (b"ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000"
          b"X\3\0\0\0cpuK\6tQK\0K\2K\3\x86K\3K\1\x86\x89ccollections\nOrderedDict\n)RtR")


MOST = b"\x8a\x08" + b"\xff" * 7 + b"\x7f"  # 2^63 - 1


def pickles():
    """The first byte is the target's: 0 for a file since PyTorch 1.6."""
    yield "dict", pickle.dumps({"a": 1, "b": [1.5, True, None, 300, 70000, -1, 2**40, (1, 2)]}, 2)
    yield "deep", pickle.dumps({"a": {"b": {"c": {"d": [{"e": 1}]}}}}, 2)
    yield "protocol_0", pickle.dumps({"a": 1}, 0)
    yield "protocol_4", pickle.dumps({"a": 1}, 4)
    yield "tensor", b"\x80\2}X\1\0\0\0w" + TENSOR + b"s."
    yield "tensor_alone", b"\x80\2" + TENSOR + b"."
    yield "tensor_twice", b"\x80\2}(X\1\0\0\0w" + TENSOR + b"X\1\0\0\0v" + TENSOR + b"u."
    yield "other_class", b"\x80\2}(X\1\0\0\0w" + TENSOR + b"X\1\0\0\0v" + TENSOR.replace(
        b"Float", b"Double") + b"u."
    yield "other_numel", b"\x80\2}(X\1\0\0\0w" + TENSOR + b"X\1\0\0\0v" + TENSOR.replace(
        b"cpuK\6", b"cpuK\7") + b"u."
    for name, part, wrong in (("stride_negative", b"K\3K\1\x86", b"J\xff\xff\xff\xffK\1\x86"),
                              ("offset_max", b"QK\0", b"Q" + MOST),
                              ("numel_max", b"cpuK\6", b"cpu" + MOST),
                              ("numel_negative", b"cpuK\6", b"cpuJ\xff\xff\xff\xff")):
        yield name, b"\x80\2" + TENSOR.replace(part, wrong) + b"."
    yield "parameter", (b"\x80\2ctorch._utils\n_rebuild_parameter\n(" + TENSOR +
                        b"\x88ccollections\nOrderedDict\n)RtR.")
    yield "ordered", b"\x80\2ccollections\nOrderedDict\n)R(X\1\0\0\0aK\1u}X\1\0\0\0b}sb."
    yield "metadata", b"\x80\2ccollections\nOrderedDict\n)R(X\1\0\0\0aK\1u}X\t\0\0\0_metadata}sb."
    yield "pairs", b"\x80\2ccollections\nOrderedDict\n](X\1\0\0\0aK\1\x86X\1\0\0\0bK\2\x86e\x85R."
    yield "counter", b"\x80\2ccollections\nCounter\n}K\5K\1s\x85R."
    yield "size", b"\x80\2ctorch\nSize\nK\1K\2\x86\x85R."
    yield "device", b"\x80\2ctorch\ndevice\nX\4\0\0\0cudaK\1\x86R."
    yield "system", b"\x80\2cos\nsystem\nX\4\0\0\0true\x85R."
    yield "eval", b"\x80\2c__builtin__\neval\nX\1\0\0\0001\x85R."
    yield "memo_max", b"\x80\2Nr\xff\xff\xff\xff."
    yield "memo_unset", b"\x80\2h\5."
    yield "memo_long", b"\x80\2Nr\0\1\0\0j\0\1\0\0\x86."
    yield "marks", b"\x80\2" + b"(" * 300 + b"."
    yield "lists", b"\x80\2" + b"]" * 5000 + b"."
    yield "nested", b"\x80\2" + b"]" * 200 + b"a" * 199 + b"."
    yield "cyclic", b"\x80\2]q\0h\0a."
    yield "cyclic_dict", b"\x80\2}q\0X\1\0\0\0ah\0s."
    yield "long_255", b"\x80\2\x8a\xff" + bytes(255) + b"."
    yield "long_0", b"\x80\2\x8a\0."
    yield "text_max", b"\x80\2X\xff\xff\xff\xffa."
    yield "not_utf8", b"\x80\2X\2\0\0\0\xff\xfe."
    yield "keys_twice", b"\x80\2}(K\1NK\1Nu."
    yield "empty_stack", b"\x80\2."
    yield "no_stop", b"\x80\2N"
    yield "more", b"\x80\2N.N"
    yield "two_left", b"\x80\2NN."


def zip_end(count=0, size=0, at=0, comment=b""):
    return (b"PK\5\6" + bytes(4) + struct.pack("<HHIIH", count, count, size, at, len(comment)) +
            comment)


def zip_entry(name, data, packed, method):
    """What both records of an entry have, its local header with the data, and its central one."""
    facts = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 33, zlib.crc32(data), len(packed),
                        len(data), len(name), 0)
    return (facts, b"PK\3\4" + facts + name + packed,
            b"PK\1\2\x14\0" + facts + bytes(10) + bytes(4) + name)


def zip_files():
    data = npy(header())
    name = b"a.npy"
    facts, local, central = zip_entry(name, data, data, 0)
    whole = local + central
    yield "plain", whole + zip_end(1, len(central), len(local))
    yield "empty", zip_end()
    yield "comment", whole + zip_end(1, len(central), len(local), b"PK\5\6" * 20)
    zip64 = (b"PK\6\6" +
             struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 1, 1, len(central), len(local)) +
             b"PK\6\7" + struct.pack("<IQI", 0, len(whole), 1))
    yield "zip64", whole + zip64 + zip_end(1, len(central), len(local))
    yield "zip64_all", whole + zip64 + zip_end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF)
    yield "zip64_lies", whole + zip64 + zip_end(2, len(central), len(local))
    wide = (b"PK\1\2\x2d\0" + facts[:14] + b"\xff" * 8 + struct.pack("<HH", 5, 28) + bytes(10) +
            b"\xff" * 4 + name + struct.pack("<HHQQQ", 1, 24, len(data), len(data), 0))
    yield "zip64_entry", local + wide + zip_end(1, len(wide), len(local))
    locked = central[:8] + b"\1" + central[9:]
    yield "encrypted", local + locked + zip_end(1, len(locked), len(local))
    yield "overlap", local + central * 2 + zip_end(2, 2 * len(central), len(local))
    longer = central[:20] + struct.pack("<II", len(data) + 200, len(data) + 200) + central[28:]
    yield "longer", local + longer + zip_end(1, len(longer), len(local))
    far = central[:42] + struct.pack("<I", 10000) + central[46:]
    yield "far", local + far + zip_end(1, len(far), len(local))
    _, local, central = zip_entry(name, data, zlib.compress(data)[2:-4], 8)
    yield "deflated", local + central + zip_end(1, len(central), len(local))


def safetensors(text, data=b"", length=None):
    text = text.encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(dtype="F32", shape="[2]", offsets="[0,8]"):
    return '{"dtype":"%s","shape":%s,"data_offsets":%s}' % (dtype, shape, offsets)


def safetensors_files():
    eight = bytes(8)
    sums = ('"__metadata__":{"format":"tern","tern.crc32c":"00000000",'
            '"tern.header_crc32c":"00000000"}')
    yield "plain", safetensors('{"a":%s}' % tensor(), eight)
    yield "sums", safetensors('{%s,"a":%s}' % (sums, tensor()), eight)
    for name, word in (
            ("state", '"tern.state":"{\\"version\\":1,\\"values\\":{\\"n\\":-12,\\"a\\":null,'
             '\\"lr\\":{\\"double\\":\\"0x1p-3\\"},\\"t\\":{\\"text\\":\\"x\\"}}}"'),
            ("state_bytes",
             '"tern.state":"{\\"version\\":1,\\"values\\":{\\"a\\":{\\"bytes\\":8}}}"'),
            ("state_2", '"tern.state":"{\\"version\\":2,\\"values\\":{\\"a\\":null}}"'),
            ("tied", '"tern.tied":"{\\"b\\":\\"a\\"}"'),
            ("tied_twice", '"tern.tied":"{\\"b\\":\\"a\\",\\"b\\":\\"a\\"}"'),
            ("tied_itself", '"tern.tied":"{\\"a\\":\\"a\\"}"')):
        kind = tensor("U8", "[8]") if name == "state_bytes" else tensor()
        yield name, safetensors("{%s,%s},\"a\":%s}" % (sums[:-1], word, kind), eight)
        yield name + "_alone", safetensors('{"__metadata__":{%s},"a":%s}' % (word, kind), eight)
    yield "empty", safetensors("{}")
    yield "null", safetensors('{"__metadata__":null}')
    yield "length_max", struct.pack("<Q", 2**64 - 1) + b"{}"
    yield "twice", safetensors('{"a":%s,"\\u0061":%s}' % (tensor(), tensor()), eight)
    yield "wraps", safetensors(
        '{"a":%s}' % tensor(shape="[4294967296,4294967296]", offsets="[0,0]"))
    yield "gap", safetensors('{"a":%s}' % tensor(offsets="[1,9]"), eight + b"x")
    yield "overlap", safetensors(
        '{"a":%s,"b":%s}' % (tensor(), tensor(offsets="[4,12]")), eight + b"xxxx")
    yield "bool", safetensors('{"a":%s}' % tensor("BOOL", "[8]"), b"\0\1\2\0\0\0\0\0")
    yield "half_byte", safetensors('{"a":%s}' % tensor("F4", "[3]", "[0,2]"), b"xx")
    yield "deep", safetensors('{"a":' + "[" * 200 + "]" * 200 + "}")


def texts():
    yield "value", b'{"a": [1, -2, null, "0x1p-3", "x\\u00e9\\n\\ud83d\\ude00"], "b": {}}'
    yield "numbers", b'["0x1p-3","-0x1.8p+1","inf","-inf","nan","0x0p+0","0x1p-1074"]'
    yield "integers", b"[9223372036854775807,-9223372036854775808,9223372036854775808]"
    for number in ("01", "-0", "1.5", "1e3", "-"):
        yield "number_" + number, number.encode()
    yield "escapes", rb'["\"\\\/\b\f\n\r\t\u0000","\ud800","\udc00\ud800","\x"]'
    yield "open", b'{"a":'
    yield "comma", b"[1,]"
    yield "deep", b"[" * 100
    yield "not_utf8", b'"\xff\xc0\x80\xed\xa0\x80"'


def generators():
    words = b"".join(struct.pack("<I", n * 2654435761 % 2**32) for n in range(624))

    def state(index=0, flags=0, version=2, zero=0):
        numbers = struct.pack("<IIII", version, index, flags, zero)
        return b"tern rng" + numbers + bytes(40) + words + bytes(8)

    yield "plain", state()
    yield "last", state(index=624, flags=3)
    yield "index", state(index=625)
    yield "flags", state(flags=4)
    yield "version", state(version=1)
    yield "zero", state(zero=1)
    yield "short", state()[:-1]


def golden_images():
    """{name: bytes} of the files that make_images.py stored: see golden.h."""
    tests = os.path.dirname(os.path.dirname(FOLDER))
    with gzip.open(os.path.join(tests, "golden/data/images.gz")) as archive:
        data = archive.read()
    size = int(data[:data.index(b"\n")].split(b", ")[1].split()[0])
    arrays, at, case, files = data[len(data) - size:], 0, None, {}
    sizes = {"uint8": 1, "float32": 4, "float64": 8}
    for line in data[:len(data) - size].decode().split("\n"):
        words = line.split(" ")
        if words[0] == "case":
            case = line[len("case "):]
        elif words[0] in sizes:
            nbytes = sizes[words[0]] * math.prod(map(int, words[2:]))
            if words[1] == "file":
                files[case] = arrays[at:at + nbytes]
            at += -(-nbytes // 8) * 8
    return files


def images_of(format):
    for name, data in golden_images().items():
        if name.startswith(format) and len(data) < 1200:
            yield name.replace(" ", "_"), data


def png_files():
    yield from images_of("png")
    plain = dict(images_of("png"))["png_one_pixel"]
    yield "huge", plain[:16] + struct.pack(">II", 10000, 10000) + plain[24:]
    yield "no_header", plain[:12] + b"IDAT" + plain[16:]
    yield "long_chunk", plain[:33] + b"\xff\xff\xff\xfftEXt" + plain[41:]


def jpeg_files():
    yield from images_of("jpeg")
    plain = dict(images_of("jpeg"))["jpeg_one_pixel"]
    yield "no_frame", plain[:20] + b"\xff\xd9"
    yield "long_marker", plain[:2] + b"\xff\xe1\xff\xff" + plain[2:]


def packed(count=2, offsets=(0, 3, 3), labels=(0, 1), classes=b"a\0b\0", names=b"a/1\0b/2\0",
           images=b"abc", shape=None):
    lists = [("offsets", "I64", [len(offsets)], struct.pack(f"<{len(offsets)}q", *offsets)),
             ("labels", "I64", [count], struct.pack(f"<{len(labels)}q", *labels)),
             ("classes", "U8", [len(classes)], classes), ("names", "U8", [len(names)], names),
             ("images", "U8", shape or [len(images)], images)]
    header, data = {}, b""
    for name, dtype, sizes, elements in lists:
        header[name] = {"dtype": dtype, "shape": sizes,
                        "data_offsets": [len(data), len(data) + len(elements)]}
        data += elements
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def packed_files():
    pixel = golden_images()["png one pixel"]
    yield "plain", packed(offsets=(0, len(pixel), len(pixel)), images=pixel)
    yield "jpeg", packed(offsets=(0, 0, 300), images=golden_images()["jpeg one pixel"])
    yield "raw", packed(shape=[2, 1, 2, 3], images=bytes(range(12)))
    yield "raw_empty", packed(shape=[2, 0, 2, 3], images=b"")
    yield "raw_other_count", packed(shape=[1, 2, 2, 3], images=bytes(range(12)))
    yield "backwards", packed(offsets=(3, 0, 3))
    yield "outside", packed(offsets=(0, 3, 4))
    yield "negative", packed(offsets=(-1, 3, 3))
    yield "label", packed(labels=(0, 2))
    yield "label_negative", packed(labels=(0, -1))
    yield "no_end", packed(names=b"a/1\0b/2")
    yield "names", packed(names=b"a/1\0")
    yield "empty", packed(0, (0,), (), b"", b"", b"")


def csv_files():
    yield "plain", b"a,b,l\n1,2.5,0\n-3,4e1,2\n.5,6.,1\n"
    yield "texts", b"city,n,l\nRome,1,dog\nBern,2,cat\nRome,3,Dog\n"
    yield "no_header", b"1,2\n3,4\n"
    yield "quotes", b'a,"l"\r\n"1","one, ""two"""\r\n2,"line\nline"\r\n'
    yield "mark", b"\xef\xbb\xbf1;2;x\n\n3;4;y"
    yield "empty_cells", b'a,b,l\n1,,x\nNA,"",y\n'
    yield "empty", b""
    yield "blank", b"\n\r\n\n"
    yield "header_only", b"a,b,l\n"
    yield "ragged", b"1,2\n3\n"
    yield "nul", b"1,2\n3,\0\n"
    yield "quote_open", b'1,"2\n3,4\n'
    yield "quote_middle", b'1,x"y\n'
    yield "quote_after", b'1,"x"y\n'
    yield "return", b"1,2\r3,4\r"
    yield "not_utf8", b"a,l\n\xc4,\xff\n"
    for number in ("1e999", "-1e999", "1e-999", "0x10", "nan", "1e", ".", "1" * 400, "9" * 19,
                   "-9223372036854775808", "9223372036854775808", "1e99999999999999999999"):
        yield "number_" + number[:20], b"l,a\n1,%s\n" % number.encode()
        yield "label_" + number[:20], b"a,l\n1,%s\n" % number.encode()
    yield "commas", b"," * 3000
    yield "many_texts", b"\n".join(b"t%d,l" % i for i in range(400))
def datasets():
    for name, data in npy_files():
        yield "npy_" + name, b"\0" + data
        yield "pairs_" + name, b"\1" + data
    yield "text", b"\2To be, or not to be"
    yield "text_short", b"\2To"
    yield "tokens", b"\3" + bytes(16)
    yield "tokens_odd", b"\3" + bytes(17)
    for way, size in ((4, 3073), (5, 3074), (6, 3074)):
        yield f"cifar_{way}", bytes([way]) + bytes(size)
        yield f"cifar_{way}_label", bytes([way]) + b"\x63\x63" + bytes(size - 2)
        yield f"cifar_{way}_short", bytes([way]) + bytes(size - 1)
    yield "nothing", b""
for target, files in (("csv", csv_files), ("dataset", datasets), ("idx", idx_files),
                      ("npy", npy_files), ("zip", zip_files), ("safetensors", safetensors_files),
                      ("json", texts), ("generator", generators), ("png", png_files),
                      ("jpeg", jpeg_files), ("packed", packed_files)):
    for name, data in files():
        write(target, name, data)
for name, data in pickles():
    write("pickle", name, b"\0" + data)
for name, data in list(zip_files()) + list(npy_files())[:3]:
    write("file", name, data)
