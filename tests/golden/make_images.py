#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores PNG and JPEG files of every kind with the pixels that torchvision's ImageFolder gives for
them, and what torchvision's make_grid and save_image make of tensors: the family images.
scripts/golden.sh runs it."""
import io
import math
import struct
import sys
import zlib

sys.dont_write_bytecode = True

import numpy as np
import PIL
import torch
from PIL import Image, ImageOps, features
from torchvision.utils import make_grid

from golden import Golden

PROSE = f"""
Pillow {PIL.__version__}, libjpeg-turbo {features.version('libjpeg_turbo')}. `file` has the bytes of
a file; `rgb`, `grey` and `rgba` are convert('RGB'), ('L') and ('RGBA') of the opened file, and
`upright` is convert('RGB') of ImageOps.exif_transpose. `source` is what Pillow encoded,
`alpha` what a transparent color means by PNG's standard.
grid: `out` is make_grid(x, nrow, padding, normalize, value_range, scale_each, pad_value).
save: `bytes` is what save_image makes of x before it is encoded.
"""
HEIGHT, WIDTH = 19, 23
ADAM7 = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1)]  # first row and column, steps of rows and columns
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by color type
random = np.random.default_rng(37)
golden = Golden("images", "make_images.py", PROSE)


# ---- pixels --------------------------------------------------------------------------------------

def picture(channels, height=HEIGHT, width=WIDTH):
    """Waves, an edge and noise, uint8 (height, width, channels)."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 90 * np.sin((x + 3 * c) / 4.0) * np.cos(y / (3.0 + c)) + (40 if c == 1 else 0)
              * (x > width // 2) + random.integers(-12, 13, (height, width))
              for c in range(channels)]
    return np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)


def samples_of(color, depth, height=HEIGHT, width=WIDTH):
    if depth == 8:
        return picture(SAMPLES[color], height, width).astype(np.uint16)
    return random.integers(0, 1 << depth, (height, width, SAMPLES[color])).astype(np.uint16)


# ---- PNG -----------------------------------------------------------------------------------------

def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def pack_row(row, depth):
    flat = row.reshape(-1)
    if depth == 16:
        return flat.astype(">u2").tobytes()
    if depth == 8:
        return flat.astype(np.uint8).tobytes()
    bits = (flat[:, None] >> np.arange(depth - 1, -1, -1)) & 1
    return np.packbits(bits.reshape(-1).astype(np.uint8)).tobytes()


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def filtered(row, above, step, number):
    out = bytearray([number])
    for i, value in enumerate(row):
        a = row[i - step] if i >= step else 0
        b = above[i]
        c = above[i - step] if i >= step else 0
        guess = [0, a, b, (a + b) // 2, paeth(a, b, c)][number]
        out.append((value - guess) & 255)
    return bytes(out)


def rows_of(samples, depth):
    """Every filter in turn."""
    step = max(1, samples.shape[2] * depth // 8)
    above, data = None, b""
    for y, row in enumerate(samples):
        packed = pack_row(row, depth)
        above = above or bytes(len(packed))
        data += filtered(packed, above, step, y % 5)
        above = packed
    return data


def png(samples, color, depth, interlaced=False, extra=b"", parts=1):
    height, width = samples.shape[:2]
    if interlaced:
        passes = [samples[y::dy, x::dx] for y, x, dy, dx in ADAM7]
        data = b"".join(rows_of(p, depth) for p in passes if p.size)
    else:
        data = rows_of(samples, depth)
    packed = zlib.compress(data)
    size = -(-len(packed) // parts)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra +
            b"".join(chunk(b"IDAT", packed[at:at + size]) for at in range(0, len(packed), size)) +
            chunk(b"IEND", b""))


def palette(count):
    return chunk(b"PLTE", random.integers(0, 256, 3 * count).astype(np.uint8).tobytes())


def transparent(*values):
    return chunk(b"tRNS", bytes(values))


# ---- cases ---------------------------------------------------------------------------------------

def as_tensor(image):
    return torch.from_numpy(np.array(image).copy())


def store(name, data, modes=("RGB", "L", "RGBA"), upright=False, source=None,
          alpha=None):
    arrays = [("file", torch.frombuffer(bytearray(data), dtype=torch.uint8))]
    if source is not None:
        arrays.append(("source", torch.from_numpy(np.array(source))))
    if alpha is not None:
        arrays.append(("alpha", torch.from_numpy(alpha)))
    names = {"RGB": "rgb", "L": "grey", "RGBA": "rgba"}
    for mode in modes:
        arrays.append((names[mode], as_tensor(Image.open(io.BytesIO(data)).convert(mode))))
    if upright:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
        arrays.append(("upright", as_tensor(image.convert("RGB"))))
    golden.case(name, [("mode", Image.open(io.BytesIO(data)).mode)], arrays)


def png_cases():
    for color, depths in {0: (1, 2, 4, 8, 16), 2: (8, 16), 4: (8, 16), 6: (8, 16)}.items():
        for depth in depths:
            for interlaced in (False, True):
                data = png(samples_of(color, depth), color, depth, interlaced)
                store(f"png color{color} depth{depth}{' interlaced' * interlaced}", data)
    for depth in (1, 2, 4, 8):
        for interlaced in (False, True):
            data = png(samples_of(3, depth), 3, depth, interlaced, palette(1 << depth))
            store(f"png palette depth{depth}{' interlaced' * interlaced}", data)
    index = random.integers(0, 8, (HEIGHT, WIDTH, 1)).astype(np.uint16)
    store("png palette transparent",
          png(index, 3, 8, extra=palette(8) + transparent(0, 128, 255, 7)))
    store("png palette index without color", png(index, 3, 8, extra=palette(6)))
    # PIL looks for these colors among those of 8 bits alone, and only in convert('RGBA').
    grey = (picture(1) // 64).astype(np.uint16)
    store("png grey transparent", png(grey, 0, 8, extra=transparent(0, 2)))
    color = (picture(3) // 128).astype(np.uint16)
    store("png color transparent", png(color, 2, 8, extra=transparent(0, 1, 0, 1, 0, 1)))
    deep = random.integers(250, 266, (HEIGHT, WIDTH, 1)).astype(np.uint16)
    store("png grey16 transparent", png(deep, 0, 16, extra=transparent(1, 2)), modes=("RGB", "L"),
          alpha=np.where(deep[..., 0] == 258, 0, 255).astype(np.uint8))
    store("png many parts", png(samples_of(2, 8), 2, 8, parts=9))
    store("png one pixel", png(samples_of(2, 8, 1, 1), 2, 8))
    store("png one pixel interlaced", png(samples_of(6, 8, 1, 1), 6, 8, True))
    store("png with text", png(samples_of(2, 8), 2, 8, extra=chunk(b"tEXt", b"Title\0a") +
                               chunk(b"gAMA", struct.pack(">I", 45455)) +
                               chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"b" * 100))))
    for mode, channels in {"RGB": 3, "RGBA": 4, "L": 1, "LA": 2}.items():
        file = io.BytesIO()
        Image.fromarray(picture(channels).squeeze(-1) if channels == 1 else picture(channels),
                        mode).save(file, "PNG")
        store(f"png by Pillow {mode}", file.getvalue())
    file = io.BytesIO()
    Image.fromarray(picture(3)).quantize(40).save(file, "PNG")
    store("png by Pillow P", file.getvalue())


def jpeg(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def adobe(data, transform):
    """The Adobe marker with another transform; None: without it."""
    at = data.index(b"\xff\xeeAdobe"[:2] + b"\x00\x0eAdobe")
    if transform is None:
        return data[:at] + data[at + 16:]
    return data[:at + 15] + bytes([transform]) + data[at + 16:]


def exif(orientation, order):
    body = b""
    entries = [(0x010F, 2, 4, b"abc\0"),
               (0x0112, 3, 1, struct.pack(order + "HH", orientation, 0))]
    for tag, kind, count, value in entries:
        body += struct.pack(order + "HHI", tag, kind, count) + value
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "IH", 8, len(entries)) + body + struct.pack(order + "I", 0)


def jpeg_cases():
    rgb = Image.fromarray(picture(3))
    store("jpeg", jpeg(rgb), modes=("RGB", "L"), source=rgb)
    for name, options in {"444": {"subsampling": 0}, "422": {"subsampling": 1},
                          "quality 20": {"quality": 20}, "progressive": {"progressive": True},
                          "optimized": {"optimize": True, "quality": 95},
                          "restarts": {"restart_marker_blocks": 1},
                          "kept rgb": {"keep_rgb": True}}.items():
        store(f"jpeg {name}", jpeg(rgb, **options), modes=("RGB", "L"), source=rgb)
    store("jpeg large", jpeg(Image.fromarray(picture(3, 70, 101))), modes=("RGB",))
    store("jpeg one pixel", jpeg(Image.fromarray(picture(3, 1, 1))), modes=("RGB",))
    grey = Image.fromarray(picture(1)[..., 0])
    store("jpeg grey", jpeg(grey), modes=("RGB", "L"), source=grey)
    cmyk = jpeg(Image.fromarray(picture(4), "CMYK"))
    store("jpeg cmyk of Adobe", cmyk, modes=("RGB", "L"))
    store("jpeg ycck of Adobe", adobe(cmyk, 2), modes=("RGB", "L"))
    store("jpeg cmyk", adobe(cmyk, None), modes=("RGB", "L"))


def exif_cases():
    for orientation in range(0, 10):
        order = "<>"[orientation % 2]
        data = jpeg(Image.fromarray(picture(3, 9, 14)), subsampling=0,
                    exif=b"Exif\0\0" + exif(orientation, order))
        store(f"jpeg exif {orientation}", data, modes=("RGB",), upright=True)
    for orientation in (1, 6):
        data = png(samples_of(2, 8, 5, 7), 2, 8, extra=chunk(b"eXIf", exif(orientation, ">")))
        store(f"png exif {orientation}", data, modes=("RGB",), upright=True)


def grid_cases():
    shapes = {"ten": (10, 3, 5, 7), "grey": (3, 1, 4, 4), "one": (1, 3, 6, 5), "one grey": (5, 4),
              "chw": (3, 5, 6), "nine": (9, 3, 2, 2), "two channels": (4, 2, 3, 3)}
    options = [{}, {"nrow": 3}, {"nrow": 4, "padding": 0}, {"padding": 1, "pad_value": 0.25},
               {"normalize": True}, {"normalize": True, "value_range": (-1.0, 1.5)},
               {"normalize": True, "scale_each": True, "nrow": 2},
               {"normalize": True, "value_range": (0.5, 0.5)}]
    for name, shape in shapes.items():
        x = torch.from_numpy(random.standard_normal(shape).astype(np.float32))
        for number, o in enumerate(options):
            low, high = o.get("value_range", (math.nan, math.nan))
            golden.case(f"grid {name} {number}",
                        [("nrow", o.get("nrow", 8)), ("padding", o.get("padding", 2)),
                         ("pad_value", o.get("pad_value", 0.0)),
                         ("normalize", o.get("normalize", False)), ("low", low), ("high", high),
                         ("scale_each", o.get("scale_each", False))],
                        [("x", x), ("out", make_grid(x, **o))])


def save_cases():
    for dtype in (torch.float32, torch.float64):
        values = np.concatenate([random.uniform(-0.2, 1.2, 300), np.arange(0, 256) / 255.0,
                                 (np.arange(0, 255) + 0.5) / 255.0, [math.inf, -math.inf, 1e30, 0]])
        x = torch.from_numpy(values[:810]).to(dtype).reshape(3, 15, 18)
        saved = make_grid(x).mul(255).add_(0.5).clamp_(0, 255).to(torch.uint8)
        golden.case(f"save {str(dtype)[6:]}", [], [("x", x), ("bytes", saved)])


png_cases()
jpeg_cases()
exif_cases()
grid_cases()
save_cases()
golden.write()
