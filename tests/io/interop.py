#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interop.py PROGRAM: the libraries themselves and tern (the program of interop.c) read what the
other wrote: values bit for bit, an AdamW and an LBFGS run, states of generators, a network of
torchvision's. scripts/interop.sh runs it.
Ends with 0, or 1 with what differed."""
import os
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.numpy
import safetensors.torch
import torch
import torchvision

PROGRAM = os.path.abspath(sys.argv[1])
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32,
          torch.uint8, torch.bool)
checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"interop: {what}")


def tern(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return [float(line) for line in done.stdout.split()]


def bits(tensor):
    return tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes() \
        if tensor.numel() else b""


def same(expected, found, what):
    check(set(expected) == set(found), f"{what}: {sorted(expected)} became {sorted(found)}")
    for name, tensor in expected.items():
        other = found[name]
        other = other if isinstance(other, torch.Tensor) else torch.from_numpy(np.array(other))
        check((tensor.dtype, tensor.shape) == (other.dtype, other.shape) and
              bits(tensor) == bits(other), f"{what}: {name} differs")


# ---- values -------------------------------------------------------------------------------------

def values(dtypes):
    """Each dtype in several shapes, with all that floats have."""
    random = torch.Generator().manual_seed(5)
    found = {}
    for dtype in dtypes:
        name = str(dtype).replace("torch.", "")
        whole = torch.randint(0, 2, (3, 40), generator=random) if dtype is torch.bool else \
            torch.randint(0, 250, (3, 40), generator=random)
        found[name] = whole.to(dtype)
        if dtype.is_floating_point:
            found[name] = torch.randn(3, 40, generator=random).to(dtype)
            found[name][0, :5] = torch.tensor([np.inf, -np.inf, np.nan, -0.0, 1e-40]).to(dtype)
        found[name + ".scalar"] = found[name][1, 1].clone()
        found[name + ".empty"] = found[name][:0].clone()
    return found


def load_torch(path):
    plain = torch.load(path, weights_only=True)
    same(plain, torch.load(path, weights_only=True, mmap=True), f"{path} through mmap")
    return plain


def load_npz(path):
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files}


WRITERS = {
    "torch.pt": lambda value, path: torch.save(value, path),
    "legacy.pt": lambda value, path: torch.save(value, path, _use_new_zipfile_serialization=False),
    "torch.safetensors": safetensors.torch.save_file,
    "numpy.safetensors": lambda value, path: safetensors.numpy.save_file(arrays(value), path),
    "plain.npz": lambda value, path: np.savez(path, **arrays(value)),
    "packed.npz": lambda value, path: np.savez_compressed(path, **arrays(value)),
}
READERS = {
    ".pt": [load_torch],
    ".safetensors": [safetensors.torch.load_file, safetensors.numpy.load_file],
    ".npz": [load_npz],
}


def arrays(tensors):
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def check_values():
    for wide in (True, False):
        tensors = values(DTYPES if wide else [d for d in DTYPES if d is not torch.bfloat16])
        for name, write in WRITERS.items():
            if wide and ("npz" in name or "numpy" in name):
                continue
            write(tensors, name)
            for ending, readers in READERS.items():
                if wide and ending == ".npz":
                    continue
                out = "tern" + ending
                tern("copy", name, out)
                for read in readers:
                    if not wide or read is not safetensors.numpy.load_file:
                        same(tensors, read(out), f"{name} as {ending}")


def check_arrays():
    for name, tensor in values([d for d in DTYPES if d is not torch.bfloat16]).items():
        np.save("in.npy", tensor.numpy())
        tern("copy", "in.npy", "out.npy")
        same({name: tensor}, {name: np.load("out.npy")}, "npy")
        np.save("in.npy", tensor.numpy().copy(order="F"))
        tern("copy", "in.npy", "out.npy")
        same({name: tensor}, {name: np.load("out.npy")}, "npy in Fortran's order")


# ---- a run --------------------------------------------------------------------------------------

def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def adamw(net):
    return torch.optim.AdamW(net.parameters(), lr=0.05, weight_decay=0.1, amsgrad=True)


def lbfgs(net):
    return torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=3, history_size=4,
                             line_search_fn="strong_wolfe")


def steps(net, optimizer, x, y, count):
    def closure():
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        return loss
    return [optimizer.step(closure).item() for _ in range(count)]


def go_on(command, make, counts):
    """Steps in PyTorch alone; and the first of them there, then in tern, then there again."""
    random = torch.Generator().manual_seed(9)
    x = torch.randn(32, 4, generator=random)
    y = torch.randint(0, 3, (32,), generator=random)
    net = network()
    expected = steps(net, make(net), x, y, sum(counts))
    net = network()
    optimizer = make(net)
    losses = steps(net, optimizer, x, y, counts[0])
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict(), "x": x, "y": y},
               "run.pt")
    losses += tern(command, "run.pt", "model.pt", "optim.pt", counts[1])
    net = network()
    optimizer = make(net)
    net.load_state_dict(torch.load("model.pt", weights_only=True))
    optimizer.load_state_dict(torch.load("optim.pt", weights_only=True))
    losses += steps(net, optimizer, x, y, counts[2])
    check(len(losses) == sum(counts), f"{len(losses)} losses of {command}")
    for i, (a, b) in enumerate(zip(expected, losses)):
        check(abs(a - b) <= 1e-5 * abs(a), f"loss {i} of {command} is {b}, not {a}")


def check_runs():
    go_on("train", adamw, (7, 7, 6))
    go_on("lbfgs", lbfgs, (3, 3, 3))


# ---- generators ---------------------------------------------------------------------------------

def check_generators():
    for draws in (0, 1, 100, 623, 624, 625, 2000):
        here = torch.Generator().manual_seed(draws)
        torch.randint(0, 2 ** 20, (77,), generator=here, dtype=torch.int32)
        with open("in.bin", "wb") as file:
            file.write(here.get_state().numpy().tobytes())
        numbers = tern("generator", "in.bin", "out.bin", draws)
        if draws:
            torch.randint(0, 2 ** 20, (draws,), generator=here, dtype=torch.int32)
        there = torch.Generator()
        with open("out.bin", "rb") as file:
            state = file.read()
        check(state == here.get_state().numpy().tobytes(), f"the state after {draws} draws differs")
        there.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
        expected = torch.rand(4, generator=there)
        check(torch.equal(expected, torch.tensor(numbers)), f"numbers after {draws} draws differ")


# ---- a network ----------------------------------------------------------------------------------

def check_resnet18():
    """torchvision's network after three steps of training, on images of two sizes."""
    torch.manual_seed(4)
    net = torchvision.models.resnet18()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    steps(net, optimizer, torch.randn(8, 3, 64, 64), torch.randint(0, 1000, (8,)), 3)
    net.eval()
    for size in (64, 97):
        x = torch.randn(2, 3, size, size)
        torch.save({"model": net.state_dict(), "x": x}, "net.pt")
        tern("resnet18", "net.pt", "saved.pt", "y.npz")
        saved = torch.load("saved.pt", weights_only=True)
        same(net.state_dict(), saved, "the state of resnet18")
        again = torchvision.models.resnet18()
        again.load_state_dict(saved)
        expected, found = again.eval()(x).detach(), torch.from_numpy(load_npz("y.npz")["y"])
        worst = ((expected - found).abs() / (1 + expected.abs())).max().item()
        check(worst <= 1e-4, f"outputs of resnet18 on {size} x {size} differ by {worst}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (check_values, check_arrays, check_runs, check_generators,
                     check_resnet18):
            before = checks
            part()
            print(f"interop: {part.__name__}: {checks - before} comparisons agree")
        os.chdir("/")


if __name__ == "__main__":
    main()
