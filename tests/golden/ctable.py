# SPDX-License-Identifier: Apache-2.0
"""Writes numbers and tables as C, for the scripts beside it that store PyTorch's results."""
import math
import struct


def f64(x):
    """A C literal with the same bits as the double x."""
    x = float(x)
    if math.isnan(x):
        return "NAN"
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    if x == 0:
        return "-0.0" if math.copysign(1, x) < 0 else "0"
    return "%.17g" % x if float("%.16g" % x) != x else "%.16g" % x


def f32(x):
    """A C literal that is the float32 x when it is converted to float."""
    x = float(x)
    if x == 0 or math.isnan(x) or math.isinf(x):
        return f64(x)
    text = "%.9g" % x
    assert struct.pack("<f", float(text)) == struct.pack("<f", x), x
    return text


def f32_bits(x):
    return "0x%08x" % struct.unpack("<I", struct.pack("<f", float(x)))[0]


def fnv1a(data):
    """The 64-bit FNV-1a hash of bytes."""
    h = 0xCBF29CE484222325
    for byte in data:
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def wrap(items, indent=4, width=100):
    """The items, separated by commas, in lines of at most `width` columns."""
    pad = " " * indent
    lines, line = [], pad
    for item in items:
        if len(line) + len(item) + 2 > width and line != pad:
            lines.append(line.rstrip())
            line = pad
        line += item + ", "
    lines.append(line.rstrip().rstrip(","))
    return "\n".join(lines)


def braces(items, indent=4, width=100):
    """{a, b, c}, over several lines when it does not fit into one."""
    items = list(items)
    flat = "{" + ", ".join(items) + "}"
    if len(flat) + indent + 24 <= width:
        return flat
    return "{\n" + wrap(items, indent + 4, width) + "}"


def head(guard, script, version, prose):
    """The first lines of a generated header; `prose` says what is in it."""
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Written by tests/golden/%s with PyTorch %s (CPU, one thread): do not edit." %
             (script, version)]
    lines += [("// " + line).rstrip() for line in prose.strip("\n").split("\n")]
    lines += ["// clang-format off", "#ifndef " + guard, "#define " + guard, ""]
    return "\n".join(lines) + "\n"
