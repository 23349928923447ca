#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single operations and layers beside PyTorch and JAX, in one run, as compare.py times steps.

    operations.py --tern BUILD/bench/operations_bench [--torch PYTHON ...] [--jax PYTHON ...]
        [--threads 1 2] [--only TEXT ...] [--base OTHER_BUILD/bench/operations_bench]

"grad:" stands for forward and backward; a layer's numbers stand behind its name: in, out, kernel,
stride, padding and groups of a convolution; kernel, stride and padding of pooling. Blocks are dealt
out, repeated and made to ratios as compare.py --help says, and results are compared before anything
is timed. "best" is the least of the ratios: over 1 tern took less time than everybody. "% of peak"
is of one core's multiply-adds times the threads. A row that a peer does not know, or whose result
is not the same, is left out, and it is said.
"""
import argparse
import json
import math
import os
import random
import statistics
import sys

sys.dont_write_bytecode = True

from pace import Peak  # noqa: E402
from peer import Gone, Peer, keep  # noqa: E402
from rounds import (  # noqa: E402
    is_void, machine, play_until_steady, python_peers, ratio, record)

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (
    "exp 100000", "gelu 100000", "gelu_tanh 100000", "tanh 100000", "sqrt 100000",
    "rsqrt 100000", "log 100000", "sigmoid 100000", "silu 100000", "sin 100000", "relu 100000",
    "add 100000 100000", "add 1000000 1000000", "add 512,512 512", "add 1024,512 1024,1",
    "add 1024,10 10", "add 1000 1000", "mul 100000 100000", "mul 1000000 1000000", "clone 100000",
    "uniform 1000000", "randn 1000000", "dropout 1000000", "grad:dropout 1000000",
    "logsigmoid 100000", "grad:logsigmoid 100000", "grad:gelu 100000", "grad:tanh 100000",
    "grad:relu 100000", "grad:mul 100000 100000", "glu 1024,512", "grad:glu 1024,512",
    "sum_rows 1024,10", "sum_rows 4096,1024", "sum_columns 4096,1024", "sum_columns 1024,10",
    "sum_all 1000000", "amax_rows 4096,1024", "argmax_rows 4096,1024", "argmax_rows 1024,10",
    "cumsum_columns 1024,1024", "cumsum_rows 1024,1024", "norm 1000000",
    "sort_rows 1000000", "sort_rows 1024,1024", "sort_rows 4096,10", "topk_rows 1024,1000",
    "topk_rows 4096,10", "grad:topk_rows 1024,1000",
    "softmax 1024,1024", "grad:softmax 1024,1024", "grad:log_softmax 1024,10",
    "layer_norm 1024,512", "grad:layer_norm 1024,512", "composed_layer_norm 1024,512",
    "grad:composed_layer_norm 1024,512", "gather 1024,1000 1024,100",
    "grad:gather 1024,1000 1024,100", "index_select 10000,64 4096",
    "grad:index_select 10000,64 4096", "from_uint8 1000000", "to_bfloat16 1000000",
    "to_float16 1000000", "copy_transposed 1024,1024", "matmul 64,128,64 64,64,128",
    "matmul 64,64,64 64,64,64", "matmul 1024,1024 1024,1024", "matmul 2048,2048 2048,2048",
    "matmul_transposed 64,512 64,512", "matmul 64,512 512,512", "matmul 32,32 32,32",
    "grad:matmul 512,512 512,512", "chain 100,100", "sgd_many 64", "sgd 10000000",
)
LAYERS = (  # each forward, and forward and backward
    "conv2d:1,32,3,1,1,1 64,1,28,28", "conv2d:32,64,3,1,1,1 64,32,14,14",
    "conv2d:64,64,3,1,1,1 32,64,32,32", "conv2d:512,512,3,1,1,1 16,512,7,7",
    "conv2d:64,128,3,2,1,1 16,64,32,32", "conv2d:64,256,1,1,0,1 16,64,32,32",
    "conv2d:64,64,3,1,1,64 16,64,32,32", "conv2d:3,64,7,2,3,1 16,3,112,112",
    "conv2d:3,768,16,16,0,1 8,3,224,224",
    "batch_norm2d:32 64,32,28,28", "batch_norm2d:64 64,64,14,14", "batch_norm2d:256 16,256,7,7",
    "group_norm:8,64 16,64,32,32", "max_pool2d:2,2,0 64,32,28,28", "max_pool2d:3,2,1 16,64,56,56",
    "avg_pool2d:2,2,0 64,32,28,28", "adaptive_avg_pool2d:1 16,512,7,7",
)
RANDOM = ("randn", "uniform", "dropout")  # JAX draws other numbers
TOLERANCE = 2e-3


class Timed(Peer):
    """One process for all rows."""

    def take(self, row, block):
        self.info = self.ask("info")
        self.result = float(self.ask("take " + row))
        self.seconds, self.calm, self.disturbed, self.steps = [], float("inf"), 0, 1
        self.calibrate(block)

    def step_time(self):
        return float(self.ask(f"run {self.steps}")) / self.steps


def numbers(text):
    return [int(number) for number in text.split(",")]


def flops(row):
    """Of the products of a row; 0 where there are none."""
    name, *sizes = row.split()
    shapes = [numbers(size) for size in sizes]
    times = 3 if name.startswith("grad:") else 1
    name, _, layer = name.removeprefix("grad:").partition(":")
    if name == "matmul":
        return times * 2 * math.prod(shapes[0]) * shapes[1][-1]
    if name == "matmul_transposed":
        return times * 2 * math.prod(shapes[0]) * shapes[1][1]
    if name == "chain":
        return times * 6 * shapes[0][0] ** 3
    if name == "conv2d":
        channels, out, kernel, stride, padding, groups = numbers(layer)
        batch, _, height, width = shapes[0]
        places = math.prod((size + 2 * padding - kernel) // stride + 1 for size in (height, width))
        return times * 2 * batch * out * places * channels // groups * kernel**2
    return 0


def start(args, cores):
    peers = [Timed("tern", [args.tern], cores),
             Timed("tern again", [args.base or args.tern], cores)]
    script = os.path.join(HERE, "operations_peer.py")
    for pythons, variants in ((args.torch, args.variants), (args.jax, ["jit"])):
        peers += python_peers(Timed, pythons, script, variants, [], cores)
    return keep(peers, Timed.start)


def is_same(row, peer, tern):
    if any(name in row for name in RANDOM):
        return True
    return abs(peer.result - tern.result) <= TOLERANCE * abs(tern.result)


def take(args, row, peers):
    """Those that do the row, and do the same."""
    doing = peers[:2]
    for peer in peers:
        knows = not (row.startswith("sgd") and peer.name == "jit" and "many" in row)
        if knows:
            peer.take(row, args.block)
        if knows and not is_same(row, peer, peers[0]):
            print(f"left out: {peer.name}, {row}: {peer.result}, not {peers[0].result}")
        elif knows and peer not in doing:
            doing.append(peer)
    return doing


def names(peers):
    """What tells them apart: the variant, and the version where two have the same."""
    variants = [peer.name for peer in peers]
    return [peer.name if variants.count(peer.name) == 1 else f"{peer.name} ({peer.versions})"
            for peer in peers]


def print_row(row, peers, meter, readings, threads):
    tern, again, *others = peers
    step = statistics.median(tern.seconds)
    work = flops(row)
    share = f", {meter.share(readings, work / step, threads):.0f} % of peak" if work else ""
    _, low, high = ratio(tern.seconds, again.seconds)
    void = ", void" if is_void(low, high) else ""
    line = f"{row:34} {threads}  {step * 1e6:10.1f} us{share}, A/A {low:.3f} to {high:.3f}{void}"
    found = [ratio(tern.seconds, peer.seconds) for peer in others]
    for name, (middle, low, high) in zip(names(others), found):
        line += f"  {name} {middle:.2f} [{low:.2f}, {high:.2f}]"
    if found:
        best = min(found)[0]
        line += f"  best {best:.2f}{' <' if best < 1 else ''}"
    print(line, flush=True)


def measure(args, row, peers, threads, file):
    peers = take(args, row, peers)
    meter, order = Peak(peers[0]), random.Random(row)
    peers, readings = play_until_steady(peers, args.rounds, meter, order, math.inf)
    print_row(row, peers, meter, readings, threads)
    words = {"kind": "operation", "task": row, "threads": threads, "flops": flops(row)}
    print(json.dumps(record(words, peers, meter, readings)), file=file, flush=True)


def wanted(args):
    rows = [*ROWS, *(grad + row for row in LAYERS for grad in ("", "grad:"))]
    return [row for row in rows if not args.only or any(text in row for text in args.only)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True, help="the built operations_bench")
    parser.add_argument("--base", help="another build of tern, instead of the same once more")
    parser.add_argument("--torch", action="append", default=[],
                        help="a Python that has PyTorch, or PYTHON=VARIANT,VARIANT")
    parser.add_argument("--variants", nargs="*", default=["eager"], help="eager, compile")
    parser.add_argument("--jax", action="append", default=[],
                        help="a Python that has JAX, and PyTorch for the data")
    parser.add_argument("--threads", type=int, nargs="+", help="1 and all cores")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--block", type=float, default=0.02, help="seconds")
    parser.add_argument("--only", nargs="*", help="rows that have one of these texts")
    parser.add_argument("--json", default=os.devnull, help="every row is added to this file")
    return parser.parse_args()


def main():
    args = parse()
    cores = sorted(os.sched_getaffinity(0))
    with open(args.json, "a", encoding="utf-8") as file:
        print(json.dumps(machine()), file=file)
        for threads in args.threads or sorted({1, len(cores)}):
            peers = start(args, set(cores[:threads]))
            for row in wanted(args):
                measure(args, row, peers, threads, file)
            for peer in peers:
                peer.end()


try:
    main()
except Gone as gone:
    sys.exit(str(gone))
