#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stores small files that torch.save writes, and states of PyTorch's generator, for the tests of
tern's readers. They go into the folder that TERN_GOLDEN_FILES names, or into tests/io/data.
scripts/golden.sh runs it."""
import argparse
import collections
import copy
import io
import os
import pickle
import struct
import sys
import zipfile

sys.dont_write_bytecode = True

import torch

from golden import make_optimizer
from lion import Lion

FOLDER = os.environ.get("TERN_GOLDEN_FILES") or os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "io", "data")
# What the tests expect, of each dtype as far as it goes: a third is rounded, 200 needs 8 bits.
NUMBERS = [0, 1, 2, 200, 1 / 3, 5]
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
          torch.uint8, torch.bool)
OTHERS = (torch.int16, torch.int8, torch.uint16, torch.float8_e4m3fn, torch.complex64)


def path_of(name):
    return os.path.join(FOLDER, "torch_" + name)


def save(name, value, **options):
    torch.save(value, path_of(name + ".pt"), **options)


def of_dtypes(dtypes):
    return {str(d).replace("torch.", ""): torch.tensor(NUMBERS).to(d).reshape(2, 3) for d in dtypes}


def shapes():
    base = torch.arange(6, dtype=torch.float32)
    return collections.OrderedDict(base=base.view(2, 3), column=base.view(2, 3)[:, 1],
                                   transposed=base.view(2, 3).t(), tail=base[4:],
                                   tied=base.view(2, 3), rows=base[:3].expand(2, 3),
                                   scalar=torch.tensor(-2.5), empty=torch.zeros(0, 3))


def network():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_(torch.arange(p.numel()).reshape(p.shape) / 8 + i)
    return net


def batch_norms():
    """The same states with the versions of their modules and without, and without what came with
    the second version of batch norm."""
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    net(torch.arange(6.0).reshape(2, 3))
    whole = net.state_dict()
    newer, older = copy.copy(whole), collections.OrderedDict(whole)
    for state in (newer, older):
        del state["1.num_batches_tracked"]
    return {"whole": whole, "newer": newer, "older": older}


# ---- optimizers ---------------------------------------------------------------------------------

KINDS = {
    "sgd": lambda groups: torch.optim.SGD(groups, lr=0.125),
    "momentum": lambda groups: torch.optim.SGD(groups, lr=0.125, momentum=0.5, nesterov=True),
    "adam": lambda groups: torch.optim.Adam(groups, lr=0.125, amsgrad=True, betas=(0.75, 0.875)),
    "adamw": lambda groups: torch.optim.AdamW(groups, lr=0.125, weight_decay=0.25),
    "rmsprop": lambda groups: torch.optim.RMSprop(groups, lr=0.125, momentum=0.5, centered=True),
    "adagrad": lambda groups: torch.optim.Adagrad(groups, lr=0.125, lr_decay=0.25,
                                                  initial_accumulator_value=0.5),
    "adadelta": lambda groups: torch.optim.Adadelta(groups, lr=0.125, rho=0.75, weight_decay=0.25),
    "adamax": lambda groups: torch.optim.Adamax(groups, lr=0.125, betas=(0.75, 0.875)),
    "schedule_free": lambda groups: make_optimizer("AdamWScheduleFree", groups, lr=0.125,
                                                   betas=(0.75, 0.875), warmup_steps=4, r=0.5),
    "muon": lambda groups: torch.optim.Muon(groups, lr=0.125, momentum=0.5, ns_steps=3,
                                            adjust_lr_fn="match_rms_adamw"),
    "adafactor": lambda groups: torch.optim.Adafactor(groups, lr=0.125, beta2_decay=-0.5, d=1.5),
    "lion": lambda groups: Lion(groups, lr=0.125, betas=(0.75, 0.875), weight_decay=0.25),
    "radam": lambda groups: torch.optim.RAdam(groups, lr=0.125, betas=(0.75, 0.875),
                                              weight_decay=0.25, decoupled_weight_decay=True),
    "rprop": lambda groups: torch.optim.Rprop(groups, lr=0.125, etas=(0.25, 1.5)),
    "nadam": lambda groups: torch.optim.NAdam(groups, lr=0.125, momentum_decay=0.25),
    "asgd": lambda groups: torch.optim.ASGD(groups, lr=0.125, t0=1, lambd=0.25, weight_decay=0.25),
}


def take_steps(net, optimizer, first, count):
    """Step t: element i of each parameter has the gradient (t + 1) (i - 1) / 4."""
    for t in range(first, first + count):
        for p in net.parameters():
            p.grad = (torch.arange(p.numel()).reshape(p.shape) - 1.0) * (t + 1) / 4
        optimizer.step()


def copy_of(net):
    return {name: value.clone() for name, value in net.state_dict().items()}


def run(kind):
    """Two groups of a parameter each; the weights after 3 steps, and after 2 more."""
    net = torch.nn.Linear(3, 2)
    with torch.no_grad():
        net.weight.copy_(torch.arange(6).reshape(2, 3) / 8)
        net.bias.copy_(torch.arange(2) - 0.5)
    if kind == "muon":
        net.bias = torch.nn.Parameter(net.bias.detach().reshape(1, 2)) # it takes matrices
    optimizer = KINDS[kind]([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.0625}])
    take_steps(net, optimizer, 0, 3)
    buffer = io.BytesIO()
    torch.save({"model": copy_of(net), "optimizer": optimizer.state_dict()}, buffer)
    saved = torch.load(io.BytesIO(buffer.getvalue()), weights_only=True)
    take_steps(net, optimizer, 3, 2)
    return {**saved, "later": copy_of(net)}


LBFGS = {
    "lbfgs": (torch.float64, 3, dict(lr=0.5, max_iter=3, history_size=2)),
    "lbfgs_wolfe": (torch.float32, 3, dict(line_search_fn="strong_wolfe", max_iter=2)),
    "lbfgs_first": (torch.float64, 1, dict(max_iter=1)),
}


def run_lbfgs(dtype, count, options):
    """Likewise by LBFGS, in one group, of f = sum over elements p of both parameters, the i-th of
    its parameter, of (i + 1) (p - 1)^2 / 4 + p^4 / 8; the weights after `count` steps, and after 2
    more."""
    net = torch.nn.Linear(3, 2, dtype=dtype)
    with torch.no_grad():
        net.weight.copy_(torch.arange(6).reshape(2, 3) / 8)
        net.bias.copy_(torch.arange(2) - 0.5)
    optimizer = torch.optim.LBFGS(net.parameters(), **options)

    def closure():
        optimizer.zero_grad()
        loss = sum((torch.arange(1, p.numel() + 1).reshape(p.shape) / 4 * (p - 1) ** 2 +
                    p ** 4 / 8).sum() for p in net.parameters())
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)
    buffer = io.BytesIO()
    torch.save({"model": copy_of(net), "optimizer": optimizer.state_dict()}, buffer)
    saved = torch.load(io.BytesIO(buffer.getvalue()), weights_only=True)
    for _ in range(2):
        optimizer.step(closure)
    return {**saved, "later": copy_of(net),
            "evaluations": optimizer.state[net.weight]["func_evals"]}


def checkpoint(net):
    optimizer = torch.optim.AdamW(net.named_parameters(), lr=0.125)
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    optimizer.step()
    return {
        "epoch": 7, "model": net.state_dict(), "optimizer": optimizer.state_dict(), "loss": 0.25,
        "done": False, "best": True, "nothing": None, "name": "r\u00e9sum\u00e9",
        "list": [1, 2.5, "x", [], [-5]], "pair": (3, 400), "kilo": 70000, "tera": 2 ** 40,
        "minus": -(2 ** 62), "device": torch.device("cuda", 1), "dtype": torch.float16,
        "size": torch.Size([2, 3]), 5: "five", "parameter": torch.nn.Parameter(torch.ones(2)),
        "counter": collections.Counter({10: 1}), "pairs": collections.OrderedDict([("a", 1)]),
        "empty": {}, "text": "",
    }


# ---- values that are no weights -----------------------------------------------------------------

def with_attributes(value):
    value.note, value.index = "x", 3
    return value


def beside_weights():
    """What stands beside weights and torch.load(weights_only=True) reads; the last ones have no
    value in tern."""
    ordered = with_attributes(collections.OrderedDict(a=1))
    return {
        "w": torch.ones(2), "set": {3, 1, 2}, "texts": {"x"}, "none": set(),
        "bytes": b"ab\xff\x00\x80", "bytearray": bytearray(b"cd"),
        "parameter": with_attributes(torch.nn.Parameter(torch.full((2,), 3.0))),
        "tensor": with_attributes(torch.full((2,), 4.0)),
        "buffer": torch.nn.Buffer(torch.full((2,), 5.0)), "layout": torch.strided,
        "ordered": ordered, "int64": [2 ** 63 - 1, -2 ** 63],
        "complex": 1 + 2j, "long": 2 ** 70, "sparse": torch.eye(2).to_sparse(),
        "meta": torch.ones(2, device="meta"), "zero": "a\0b", "surrogate": "\ud800",
        "quantized": torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.quint8),
        "negative": torch._neg_view(torch.ones(2)), "rank": torch.ones([1] * 9),
        "storage": torch.ones(2).untyped_storage(), "keys": {(1, 2): 3, 1.5: [4], None: 5},
        "qscheme": torch.per_tensor_affine, "dtype": torch.uint4,
    }


def objects():
    """What torch.load(weights_only=True) refuses."""
    return {"model": {"w": torch.ones(2)}, "deque": collections.deque([1, 2]),
            "default": collections.defaultdict(list, {"a": [1]}), "frozen": frozenset([1]),
            "args": argparse.Namespace(lr=0.5), "range": range(3)}


def save_beside_weights():
    values = beside_weights()
    save("beside", values)
    read = torch.load(path_of("beside.pt"), weights_only=True)
    assert list(read) == list(values) and read["bytes"] == values["bytes"]
    save("objects", objects())
    save("protocol_3", {"w": torch.ones(2), "set": {1}}, pickle_protocol=3)
    save("protocol_4", {"w": torch.ones(2)}, pickle_protocol=4)
    save("bytes_3", {"w": torch.ones(2), "bytes": b"ab\xff\x00\x80"}, pickle_protocol=3)
    save_legacy("legacy_3", {"w": torch.ones(2)}, protocol=3)
    torch.serialization.set_crc32_options(False)
    save("no_checksums", {"w": torch.ones(2)})
    torch.serialization.set_crc32_options(True)


# ---- archives of other tools --------------------------------------------------------------------

def entries_of(name):
    with zipfile.ZipFile(path_of(name + ".pt")) as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


def write_zip(name, entries, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path_of(name + ".pt"), "w", method) as archive:
        for entry, data in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), data, method)


def save_script():
    """A TorchScript program, without what depends on where PyTorch is installed."""
    torch.jit.save(torch.jit.script(network()), path_of("script.pt"))
    write_zip("script", {entry: data for entry, data in entries_of("script").items()
                         if not entry.endswith((".debug_pkl", "serialization_id"))})


def text(word):
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def swapped(data, size):
    return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))


def save_archives():
    entries = entries_of("dtypes")
    write_zip("deflated", entries, zipfile.ZIP_DEFLATED)
    big = dict(entries)
    for i, dtype in enumerate(DTYPES):
        key = f"torch_dtypes/data/{i}"
        big[key] = swapped(big[key], torch.empty(0, dtype=dtype).element_size())
    big["torch_dtypes/byteorder"] = b"big"
    write_zip("big", big)
    cuda = entries_of("network")
    data = "torch_network/data.pkl"
    cuda[data] = cuda[data].replace(text("cpu"), text("cuda:1"))
    write_zip("cuda", cuda)


class Reader(pickle.Unpickler):
    """Reads the pickles of a file from before PyTorch 1.6, and notes the bytes of storages."""
    SIZES = {"FloatStorage": 4, "LongStorage": 8}

    def __init__(self, stream):
        super().__init__(stream)
        self.nbytes = {}

    def persistent_load(self, id):
        self.nbytes[id[2]] = id[4] * self.SIZES[id[1]]

    def find_class(self, module, name):
        return name if name in self.SIZES else collections.OrderedDict if name == "OrderedDict" \
            else lambda *args: None


def save_legacy(name, value, protocol=2):
    """The keys of storages are addresses: they become 1, 2, ... in the order of their first use."""
    stream, pickles = io.BytesIO(), []
    torch.save(value, stream, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    stream.seek(0)
    for _ in range(5):
        begin, reader = stream.tell(), Reader(stream)
        last = reader.load()
        pickles.append(stream.getvalue()[begin:stream.tell()])
        nbytes = reader.nbytes or nbytes if pickles[1:] else {}
    storages = {}
    for key in last:
        storages[key] = stream.read(8 + nbytes[key])
    assert not stream.read()
    for i, key in enumerate(nbytes):
        pickles[3] = pickles[3].replace(text(key), text(str(i + 1)))
    pickles[4] = pickle.dumps([str(i + 1) for i in range(len(nbytes))], protocol=protocol)
    with open(path_of(name + ".pt"), "wb") as file:
        file.write(b"".join(pickles) + b"".join(storages[key] for key in nbytes))


# ---- generators ---------------------------------------------------------------------------------

def save_generators():
    for draws in (0, 1, 623, 624, 625):
        generator = torch.Generator().manual_seed(-1 if draws == 1 else 42 + draws)
        if draws:
            torch.randint(0, 2 ** 20, (draws,), generator=generator, dtype=torch.int32)
        save_generator(str(draws), generator)
    generator = torch.Generator().manual_seed(7)
    torch.randn(1, generator=generator, dtype=torch.float64)
    save_generator("normal", generator)


def save_generator(name, generator):
    """The state, then what it gives next: 4 numbers of rand and 3 of randn, float64."""
    state = generator.get_state().numpy().tobytes()
    with open(path_of(f"generator_{name}.bin"), "wb") as file:
        file.write(state)
        file.write(torch.rand(4, generator=generator, dtype=torch.float64).numpy().tobytes())
        file.write(torch.randn(3, generator=generator, dtype=torch.float64).numpy().tobytes())


os.makedirs(FOLDER, exist_ok=True)
torch.manual_seed(0)
save("dtypes", of_dtypes(DTYPES))
save("others", of_dtypes(OTHERS))
save("shapes", shapes())
save("tensor", torch.tensor([1.5, -2.0]))
save("network", network().state_dict())
save("checkpoint", checkpoint(network()))
torch.manual_seed(5)
save("batch_norms", batch_norms())
save("many", {f"layer.{i}.weight": torch.full((2,), float(i)) for i in range(300)})
for kind in KINDS:
    save(kind, run(kind))
for kind, arguments in LBFGS.items():
    save(kind, run_lbfgs(*arguments))
save_archives()
save_legacy("legacy", {"model": shapes(), "count": torch.tensor([3, 4])})
save_beside_weights()
save_script()
save_generators()
