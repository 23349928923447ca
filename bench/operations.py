#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Single operations beside PyTorch and JAX, in turns; the columns are those of compare.py.

    operations.py --tern BUILD/bench/operations_bench [--torch PYTHON ...] [--jax PYTHON]
        [--threads 1 2] [--rounds 9] [--only TEXT] [--base OTHER_BUILD/bench/operations_bench]

A block is at least --block seconds of calls. Ratios are formed within a round, of the shorter of
two blocks of each; their median is printed. A ratio over 1 says that tern took less time.
"""
import argparse
import os
import random
import statistics
import sys

sys.dont_write_bytecode = True

from peer import Peer  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (
    "exp 100000", "gelu 100000", "gelu_tanh 100000", "tanh 100000", "sqrt 100000",
    "rsqrt 100000", "log 100000", "sigmoid 100000", "silu 100000", "sin 100000", "relu 100000",
    "add 100000 100000", "add 1000000 1000000", "add 512,512 512", "add 1000 1000",
    "uniform 1000000", "randn 1000000", "dropout 1000000", "grad:dropout 1000000",
    "logsigmoid 100000", "grad:logsigmoid 100000", "grad:gelu 100000", "grad:tanh 100000",
    "grad:relu 100000", "grad:mul 100000 100000", "glu 1024,512", "grad:glu 1024,512",
    "sum_rows 1024,10", "sum_rows 4096,1024", "sum_columns 4096,1024", "sum_columns 1024,10",
    "sum_all 1000000", "amax_rows 4096,1024", "argmax_rows 4096,1024", "argmax_rows 1024,10",
    "cumsum_columns 1024,1024", "cumsum_rows 1024,1024", "norm 1000000",
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
RANDOM = ("randn", "uniform", "dropout")  # JAX draws other numbers
TOLERANCE = 2e-3


class Timed(Peer):
    """One process for all operations."""

    def take(self, row, block):
        self.result = float(self.ask("take " + row))
        self.steps = 1
        self.calibrate(block)

    def step_time(self):
        return float(self.ask(f"run {self.steps}")) / self.steps


def start(args, cores):
    commands = [("tern", [args.tern])]
    commands += [("again", [args.base or args.tern])]
    for i, python in enumerate(args.torch):
        for variant in args.variants:
            script = HERE + "/operations_peer.py"
            commands.append((variant + str(i or ""), [python, script, variant]))
    if args.jax:
        commands.append(("jax", [args.jax, HERE + "/operations_peer.py", "jit"]))
    peers = [Timed(name, command, cores) for name, command in commands]
    for peer in peers:
        peer.start()
    return peers


def measure(args, row, peers):
    """{peer: seconds of each round}; those that cannot do the row are left out."""
    peers = [peer for peer in peers if not (row.startswith("sgd_many") and peer.name == "jax")]
    for peer in peers:
        peer.take(row, args.block)
        off = abs(peer.result - peers[0].result) > TOLERANCE * abs(peers[0].result)
        if off and not any(name in row for name in RANDOM):
            raise SystemExit(f"{row}: {peer.name} has {peer.result}, not {peers[0].result}")
    order = random.Random(row)
    times = {peer.name: [] for peer in peers}
    for _ in range(args.rounds):
        best = dict.fromkeys(times, float("inf"))
        for _ in range(2):
            for peer in order.sample(peers, len(peers)):
                best[peer.name] = min(best[peer.name], peer.step_time())
        for name, seconds in best.items():
            times[name].append(seconds)
    return times


def ratio(times, name):
    return statistics.median(b / a for a, b in zip(times["tern"], times[name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True)
    parser.add_argument("--base", help="another build of tern, instead of the same once more")
    parser.add_argument("--torch", action="append", default=[])
    parser.add_argument("--variants", nargs="*", default=["eager"])
    parser.add_argument("--jax")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--block", type=float, default=0.02)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    for threads in args.threads:
        peers = start(args, set(cores[:threads]))
        for row in ROWS:
            if args.only not in row:
                continue
            times = measure(args, row, peers)
            ratios = "  ".join(f"{name} {ratio(times, name):5.2f}" for name in list(times)[1:])
            least = min([ratio(times, name) for name in list(times)[2:]] or [0])
            print(f"{row:34} {threads}  {statistics.median(times['tern']) * 1e6:10.1f} us  "
                  f"{ratios}  best {least:5.2f}{' <' if least < 1 else ''}", flush=True)
        for peer in peers:
            peer.end()


main()
