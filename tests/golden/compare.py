#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what scripts/golden.sh made with what is stored: compare.py MADE STORED. Names, shapes,
dtypes and text are the same; floating-point numbers are as close as torch.testing.assert_close
asks by default of two ways to compute them, since another processor adds in another order:
relatively 1e-3 (float16), 1.6e-2 (bfloat16), 1.3e-6 (float32), 1e-7 (float64), and where terms
cancel 1e-5 (float64: 1e-7) of an array's largest element. What was computed in float32 and is
stored in float64 has "32" in its name. In a training in float32 (losses32) each step multiplies
what the one before differs by: 5e-2 from its second loss on, where 2e-2 was seen after five steps
of resnet18. What the ports print is compared as their test does. Exits 1 when something differs,
a line each."""
import gzip
import io
import itertools
import pathlib
import re
import sys
import zipfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))
from ports import same_line  # noqa: E402

CLOSE = {torch.float16: (1e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5),
         torch.float32: (1.3e-6, 1e-5), torch.float64: (1e-7, 1e-7)}


def differing(name, made, stored):
    """What of two tensors differs, or None."""
    if (made.dtype, made.shape) != (stored.dtype, stored.shape):
        return f"{made.dtype} {tuple(made.shape)} instead of {stored.dtype} {tuple(stored.shape)}"
    if made.dtype not in CLOSE:
        return None if torch.equal(made, stored) else "other elements"
    relative, of_largest = CLOSE[torch.float32 if "32" in name else made.dtype]
    made, stored = made.double(), stored.double()
    finite = stored[stored.isfinite()].abs()
    largest = finite.max().item() if finite.numel() else 0
    close = torch.isclose(made, stored, rtol=relative, atol=of_largest * largest, equal_nan=True)
    if name.endswith("losses32"):
        close[1:] = torch.isclose(made[1:], stored[1:], rtol=5e-2)
    if close.all():
        return None
    far = (~close).nonzero()[0].tolist()
    return f"{made[tuple(far)].item()} instead of {stored[tuple(far)].item()} at {far}"


def parts_of_family(path):
    """Pairs of a name and its value: lines of the index that are no comments, and the arrays. The
    words `norm` and `sum` of a case are one array: the terms of a sum cancel."""
    data = bytearray(gzip.decompress(path.read_bytes()))
    nbytes = int(re.match(rb"tern golden 1 \w+: \d+ cases, (\d+) bytes", data)[1])
    at, case, norm = len(data) - nbytes, "", None
    for line in data[:at].decode().split("\n")[1:]:
        first, *rest = line.split(" ")
        dtype = getattr(torch, first, None)
        if first == "case":
            case = line
        if first == "word" and rest[0] == "norm":
            norm = float(rest[1])
        elif first == "word" and rest[0] == "sum":
            pair = [norm, float(rest[1])]
            yield f"{case}, norm and sum", torch.tensor(pair, dtype=torch.float64)
        elif isinstance(dtype, torch.dtype):
            tensor = torch.empty([int(size) for size in rest[1:]], dtype=dtype)
            if tensor.numel():
                tensor = torch.frombuffer(data, dtype=dtype, count=tensor.numel(),
                                          offset=at).reshape(tensor.shape)
            at += (tensor.numel() * dtype.itemsize + 7) // 8 * 8
            yield f"{case}, {rest[0]}", tensor
        elif first != "#":
            yield case, line


def parts_of_object(name, value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from parts_of_object(f"{name}[{key!r}]", inner)
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            yield from parts_of_object(f"{name}[{i}]", inner)
    else:
        yield name, value if isinstance(value, torch.Tensor) else repr(value)


def parts_of_file(path):
    """What is not a storage, nor the hash of them, byte by byte; the tensors by their elements."""
    archive = zipfile.ZipFile(path)
    for entry in archive.infolist():
        yield entry.filename, f"{entry.header_offset} {entry.file_size}"
        if "/data/" not in entry.filename and not entry.filename.endswith("serialization_id"):
            yield entry.filename, archive.read(entry).hex()
    yield from parts_of_object("", torch.load(io.BytesIO(path.read_bytes()), weights_only=False))


def compare(made, stored):
    """Lines that say what differs in two files of one name."""
    if not made.exists() or not stored.exists():
        return [f"{made.name}: only in {(made if made.exists() else stored).parent}"]
    if made.read_bytes() == stored.read_bytes():
        return []
    if made.suffix == ".txt":
        pairs = itertools.zip_longest(made.read_text().split("\n"), stored.read_text().split("\n"),
                                      fillvalue="")
        return [f"{made.name}: {one!r} instead of {other!r}" for one, other in pairs
                if not same_line(one, other)]
    if made.suffix != ".gz" and not (made.suffix == ".pt" and zipfile.is_zipfile(made)):
        return [f"{made.name}: other bytes"]
    parts_of = parts_of_family if made.suffix == ".gz" else parts_of_file
    mine, theirs = list(parts_of(made)), list(parts_of(stored))
    if [name for name, _ in mine] != [name for name, _ in theirs]:
        return [f"{made.name}: other names"]
    wrong = []
    for (name, one), (_, other) in zip(mine, theirs):
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
            what = differing(name, one, other)
        else:
            what = None if one == other else f"{one!r} instead of {other!r}"
        wrong += [f"{made.name}: {name}: {what}"] if what else []
    return wrong


def main(made, stored):
    names = sorted({path.name for folder in (made, stored) for path in folder.iterdir()})
    wrong = [line for name in names for line in compare(made / name, stored / name)]
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(names)} files of {stored}: {len(wrong)} differences", file=sys.stderr)
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
