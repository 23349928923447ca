#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern beside PyTorch and JAX on the same training steps, in one run.

    compare.py --tern BUILD/bench/train_bench --torch /usr/bin/python3 [--torch VENV/bin/python ...]
    compare.py --tern BUILD/bench/train_bench --torch python3 --variants eager compile graph \
        --jax python3 --device cuda:0 [--tf32]

Every program waits for its turn: blocks of at least --block seconds of steps are dealt out in a
random order, twice to each in a round, and the shorter of the two counts. A ratio is formed within
a round; the median over the rounds is printed with its 95 % bootstrap interval. tern runs twice:
what the two differ by (A/A) is what this run can resolve. Before anything is timed the losses of
the first steps are compared. A ratio over 1 says that tern took less time. On a CUDA device tern
replays a captured step, and does it eagerly beside.
"""
import argparse
import csv
import os
import random
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
W1 = ("784,512,512,10", "cross_entropy")
TINY = ("2,16,16,1", "mse")
TASKS = [("W1", *W1, batch) for batch in (1, 64, 1024)]
TASKS += [("tiny", *TINY, batch) for batch in (1, 64)]
CUDA_TASKS = [("W1", *W1, batch) for batch in (64, 128, 1024, 8192)]
LOSSES = 8  # steps whose losses must agree; later the roundings of one sum lead apart
TOLERANCE = 1e-4  # relative to the first loss
TF32_TOLERANCE = 1e-2  # 10 bits of each factor
# Settings of the shell that would change a peer.
FOREIGN = re.compile(r"^(OPENBLAS|MKL|OMP|BLIS|GOTO|KMP|ATEN|TORCH)")


class Peer:
    def __init__(self, name, command, cores):
        env = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
        for variable in ("TERN", "OMP", "MKL", "OPENBLAS", "BLIS"):
            env[variable + "_NUM_THREADS"] = str(len(cores))
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
            preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.steps = 1
        self.seconds = []  # of one step, by round

    def ask(self, request):
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"{self.name} ended without an answer to '{request}'")
        return answer

    def step_time(self):
        """Each block trains from the start: nobody works on a net that has learned it all."""
        self.ask("reset")
        return float(self.ask(f"run {self.steps}")) / self.steps

    def calibrate(self, block):
        """As many steps as fill a block, after warming up."""
        while (took := self.step_time() * self.steps) < block:
            wanted = int(1.1 * block / took * self.steps)
            self.steps = max(self.steps + 1, min(10 * self.steps, wanted))

    def libraries(self):
        """Who computes the products, as the process itself has mapped it."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            files = {os.path.basename(line.split()[-1]) for line in maps if "/" in line}
        known = re.compile(r"(?<!cu)(?<!scipy_open)blas|mkl|dnnl|blis")
        return ", ".join(sorted(f for f in files if known.search(f) and ".so" in f))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def flops(sizes, batch):
    """Of one step: forward, weight gradients, and input gradients of all layers but the first."""
    products = [a * b for a, b in zip(sizes, sizes[1:])]
    return 2 * batch * (3 * sum(products) - products[0])


def interval(values, draws=2000):
    """The median and its 95 % bootstrap interval."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def check_losses(peers, tolerance):
    """The same work: every peer's losses are the first one's."""
    losses = [[float(word) for word in peer.ask(f"losses {LOSSES}").split()] for peer in peers]
    first = losses[0]
    for peer, theirs in zip(peers, losses):
        off = max(abs(a - b) for a, b in zip(first, theirs))
        if not off <= tolerance * first[0]:
            raise SystemExit(f"{peer.name}: losses are off by {off:g}: not the same work")


def play_rounds(peers, rounds, order):
    """Fills every peer's seconds; returns the peak of each round."""
    peaks = []
    for _ in range(rounds):
        best = {peer: float("inf") for peer in peers}
        seen = [float(peers[0].ask("peak"))]
        for turn in range(2):
            for peer in order.sample(peers, len(peers)):
                best[peer] = min(best[peer], peer.step_time())
            seen.append(float(peers[0].ask("peak")))
        for peer in peers:
            peer.seconds.append(best[peer])
        peaks.append(max(seen))
    return peaks


def on_cuda(args):
    return args.device.startswith("cuda")


def start(args, task, cores):
    """The peers of a row: tern, tern again, then the others."""
    _, sizes, loss, batch = task
    words = [sizes, str(batch), loss, args.device] + (["tf32"] if args.tf32 else [])
    best = words + (["graph"] if on_cuda(args) else [])
    peers = [Peer(name, [args.tern, *best], cores) for name in ("tern", "tern again")]
    if on_cuda(args):
        peers.append(Peer("tern eager", [args.tern, *words], cores))
    for pythons, name, variants in ((args.torch, "torch_peer.py", args.variants),
                                    (args.jax, "jax_peer.py", ["jit", "scan"])):
        for python in pythons:
            script = [python, os.path.join(HERE, name)]
            peers += [Peer(variant, [*script, variant, *words], cores) for variant in variants]
    return peers


def print_row(args, task, peers, infos, peaks, threads):
    """What was measured of one task: tern's own line, then one for each PyTorch."""
    name, sizes, _, batch = task
    tern, again, *others = peers
    steady = statistics.median(peaks)
    odd = sum(abs(peak - steady) > 0.03 * steady for peak in peaks)
    step = statistics.median(tern.seconds)
    work = flops([int(size) for size in sizes.split(",")], batch)
    share = 100 * work / step / (steady * 1e9 * threads) if steady else 0
    _, low, high = interval([b / a for a, b in zip(tern.seconds, again.seconds)])
    where, peak = f"{threads} thread(s)", (
        f", {share:.1f} % of the peak ({steady:.0f} GFLOP/s a core; over 3 % off in {odd} of "
        f"{args.rounds} rounds)")
    if on_cuda(args):
        where = args.device + (", TF32" if args.tf32 else "")
        peak = f", {work / step / 1e12:.2f} TFLOP/s"
    print(f"\n{name} {sizes.replace(',', '-')}, batch {batch}, {where}: tern {step * 1e6:.1f} us a "
          f"step{peak}, A/A {low:.3f} to {high:.3f}")
    for peer in others:
        ratio, low, high = interval([b / a for a, b in zip(tern.seconds, peer.seconds)])
        print(f"  {ratio:6.2f} [{low:.2f}, {high:.2f}] times {infos[peer]}, {peer.name}, "
              f"{statistics.median(peer.seconds) * 1e6:.1f} us, {peer.libraries()}")


def row(args, task, cores, write):
    """Measures one task and prints its lines."""
    name, sizes, _, batch = task
    peers = start(args, task, cores)
    infos = {peer: peer.ask("info") for peer in peers}
    check_losses(peers, TF32_TOLERANCE if args.tf32 else TOLERANCE)
    for peer in peers:
        peer.calibrate(args.block)
    peaks = play_rounds(peers, args.rounds, random.Random(f"{name}{batch}{len(cores)}"))
    print_row(args, task, peers, infos, peaks, len(cores))
    sys.stdout.flush()
    for peer in peers:
        for number, seconds in enumerate(peer.seconds):
            write([name, batch, len(cores), infos[peer], peer.name, number, f"{seconds:.9f}",
                   f"{peaks[number]:.6g}"])
        peer.end()


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True, help="the built train_bench")
    parser.add_argument("--torch", action="append", default=[], help="a Python that has PyTorch")
    parser.add_argument("--variants", nargs="*", default=["eager"], help="eager, compile, graph")
    parser.add_argument("--jax", action="append", default=[],
                        help="a Python that has JAX, and PyTorch for the data")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--tf32", action="store_true", help="products in TF32, of everybody")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--block", type=float, default=0.2, help="seconds")
    parser.add_argument("--threads", type=int, nargs="*", default=None, help="1 and all cores")
    parser.add_argument("--only", help="W1 or tiny")
    parser.add_argument("--batch", type=int, help="this batch only")
    parser.add_argument("--csv", help="every block goes to this file")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    counts = [len(cores)] if on_cuda(args) else args.threads or sorted({1, len(cores)})
    print(f"{processor()}, {len(cores)} cores, {args.rounds} rounds of blocks of {args.block} s")
    with open(args.csv or os.devnull, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "batch", "threads", "what", "variant", "round", "step_seconds",
                         "peak_gflops"])
        for count in counts:
            for task in CUDA_TASKS if on_cuda(args) else TASKS:
                if args.only in (None, task[0]) and args.batch in (None, task[3]):
                    row(args, task, set(cores[:count]), writer.writerow)


main()
