#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern beside PyTorch and JAX on the same training steps, in one run.

    compare.py --tern BUILD/bench/train_bench --torch /usr/bin/python3 [--torch VENV/bin/python ...]
    compare.py --tern BUILD/bench/train_bench --torch python3 --variants eager compile graph \
        --jax python3 --device cuda:0 [--tf32]

Every program waits for its turn: blocks of at least --block seconds of steps are dealt out in a
random order, twice to each in a round, and the shorter of the two counts. A ratio is formed within
a round; the median over the rounds is printed with its 95 % bootstrap interval. A ratio over 1 says
that tern took less time. tern runs twice: what the two differ by (A/A) is what this run can
resolve, and a row where that is over 3 % is void. Before anything is timed the losses of the first
steps are compared, and the precision of a product. On a CUDA device tern replays a captured step,
and does it eagerly beside. "ready after" are the seconds from the start of a process until it was
compiled and warm. A PyTorch or JAX that cannot do something is left out of that row, and the reason
is printed. With --seconds the run ends at about that time: a row that has begun is printed with the
rounds that it had, and one that has not is a failure. MiB are the most memory that a process had,
with the libraries it loads.
"""
import argparse
import json
import math
import os
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product

sys.dont_write_bytecode = True

from pace import Clock, Peak  # noqa: E402
from peer import Gone, Peer, keep  # noqa: E402
from serve import CNN  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
W1 = ("784,512,512,10", "cross_entropy")
TINY = ("2,16,16,1", "mse")
TASKS = [("W1", *W1, batch) for batch in (1, 64, 1024)]
TASKS += [("tiny", *TINY, batch) for batch in (1, 64)]
TASKS += [("cnn", CNN, "cross_entropy", batch) for batch in (64, 128)]
CUDA_TASKS = [("W1", *W1, batch) for batch in (64, 128, 1024, 8192)]
CUDA_TASKS += [("cnn", CNN, "cross_entropy", batch) for batch in (64, 128, 1024)]
TOLERANCE = 1e-4  # relative to the first loss
TF32_TOLERANCE = 1e-2  # 10 bits of each factor
FLOAT32 = 2**-12  # the answer to a probe; TF32 loses it
SPIN_UP = 2  # seconds that a GPU works before the first round


def flops(sizes, batch):
    """Of one step: forward, weight gradients, and input gradients of all layers but the first."""
    if sizes == CNN:  # two convolutions and two linear layers
        products = [28 * 28 * 32 * 9, 14 * 14 * 64 * 32 * 9, 3136 * 128, 128 * 10]
    else:
        sizes = [int(size) for size in sizes.split(",")]
        products = [a * b for a, b in zip(sizes, sizes[1:])]
    return 2 * batch * (3 * sum(products) - products[0])


def interval(values, draws=2000):
    """The median and its 95 % bootstrap interval."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(draws))
    return statistics.median(values), medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def check_same_work(peers, tf32):
    """Every peer's losses are the first one's, and without TF32 nobody uses it."""
    first = peers[0].losses
    limit = (TF32_TOLERANCE if tf32 else TOLERANCE) * first[0]
    for peer in peers:
        if not all(abs(a - b) <= limit for a, b in zip(first, peer.losses)):
            raise SystemExit(f"{peer.name}: losses {peer.losses}, not {first}: not the same work")
        if not tf32 and peer.probe != FLOAT32:
            raise SystemExit(f"{peer.name}: 1 + 2^-12 became 1 + {peer.probe:g}: not the same "
                             "precision")


def is_void(low, high):
    """Half of the interval of tern against itself, as it is printed, is over 3 %, or all of it is
    over 3 % off 1."""
    low, high = round(1000 * low), round(1000 * high)
    return high - low > 60 or low > 1030 or high < 970


def time_left(end):
    return end - time.perf_counter()


def on_cuda(args):
    return args.device.startswith("cuda")


def choose(args, task, cores):
    """The peers of a row: tern, tern again, then the others."""
    _, sizes, loss, batch = task
    words = [sizes, str(batch), loss, args.device] + (["tf32"] if args.tf32 else [])
    best = words + (["graph"] if on_cuda(args) else [])
    peers = [Peer(name, [args.tern, *best], cores) for name in ("tern", "tern again")]
    if on_cuda(args):
        peers.append(Peer("tern eager", [args.tern, *words], cores))
    for plugin in args.plugin:
        other = ["env", "TERN_CUDA_PLUGIN=" + plugin, args.tern]
        name = os.path.basename(plugin)
        peers += [Peer(name, [*other, *best], cores), Peer(name, [*other, *words], cores)]
    for pythons, name, variants in ((args.torch, "torch_peer.py", args.variants),
                                    (args.jax, "jax_peer.py", args.jax_variants)):
        for python in pythons:
            script = [python, os.path.join(HERE, name)]
            peers += [Peer(variant, [*script, variant, *words], cores) for variant in variants]
    return peers


def start(args, peers, end):
    """Those that are ready to be timed. They start together, each on a core, but compile in turns:
    compilers time what they choose from, and nobody else is to be at work then. The last third of
    the time is for the rounds."""
    latest = end - time_left(end) / 3

    def warm_up(peer):
        if time_left(latest) <= 0 and not peer.name.startswith("tern"):
            raise peer.gone("there was no time to compile it")
        peer.warm_up(args.block)

    with ThreadPoolExecutor(len(peers[0].cores)) as pool:
        peers = keep(peers, Peer.start, pool.map)
    peers = keep(peers, warm_up)
    check_same_work(peers, args.tf32)
    return peers


def spin_up(tern):
    end = time.perf_counter() + SPIN_UP
    while time.perf_counter() < end:
        tern.step_time()


def play_round(peers, order):
    """Gives each peer the seconds of its better block. Returns those that are still there."""
    best = {peer: float("inf") for peer in peers}

    def play_block(peer):
        best[peer] = min(best[peer], peer.step_time())

    for _ in range(2):
        left = keep(order.sample(peers, len(peers)), play_block)
        peers = [peer for peer in peers if peer in left]
    for peer in peers:
        peer.seconds.append(best[peer])
    return peers


def precision(args, peer):
    return ", not in TF32" if args.tf32 and peer.probe != 0 else ""


def print_row(args, task, peers, pace, threads):
    """What was measured of one task: tern's own line, then one for each of the others. `pace` is
    in words."""
    name, sizes, _, batch = task
    tern, again, *others = peers
    _, low, high = interval([b / a for a, b in zip(tern.seconds, again.seconds)])
    void = ", void: A/A over 3 %" if is_void(low, high) else ""
    where = args.device if on_cuda(args) else f"{threads} thread(s)"
    where += ", TF32" if args.tf32 else ""
    if len(tern.seconds) < args.rounds:
        where += f", {len(tern.seconds)} of {args.rounds} rounds"
    print(f"\n{name} {sizes.replace(',', '-')}, batch {batch}, {where}: "
          f"tern {statistics.median(tern.seconds) * 1e6:.1f} us a step, {pace}, "
          f"A/A {low:.3f} to {high:.3f}{void}, {tern.info}, {tern.memory()}, "
          f"ready after {tern.ready:.1f} s"
          f"{precision(args, tern)}")
    for peer in others:
        ratio, low, high = interval([b / a for a, b in zip(tern.seconds, peer.seconds)])
        libraries = "" if on_cuda(args) else peer.libraries()
        print(f"  {ratio:6.2f} [{low:.2f}, {high:.2f}] times {peer.info}, {peer.name}, "
              f"{statistics.median(peer.seconds) * 1e6:.1f} us{', ' * bool(libraries)}{libraries}, "
              f"{peer.memory()}, ready after {peer.ready:.1f} s{precision(args, peer)}")
    sys.stdout.flush()


def play(args, peers, meter, order, end):
    """Rounds, as many as there is time for, and the meter's reading of each."""
    readings = [meter.read()]
    while len(readings) <= args.rounds and (len(readings) == 1 or time_left(end) > 0):
        peers = play_round(peers, order)
        readings.append(meter.read())
    return peers, [meter.of_round(pair) for pair in zip(readings, readings[1:])]


def row(args, task, cores, clock, told, end):
    """Measures one task and prints its lines. Returns what goes to the file."""
    name, sizes, _, batch = task
    peers = start(args, choose(args, task, cores), end)
    tell_versions(peers, told)
    meter = clock or Peak(peers[0])
    if clock:
        spin_up(peers[0])
    order = random.Random(f"{name}{batch}{len(cores)}")
    peers, rounds = play(args, peers, meter, order, end)
    step = statistics.median(peers[0].seconds)
    work = flops(sizes, batch)
    print_row(args, task, peers, meter.words(rounds, work / step, len(cores)), len(cores))
    with ThreadPoolExecutor(len(peers)) as pool:
        list(pool.map(Peer.end, peers))
    return {
        "task": name, "sizes": sizes, "batch": batch, "device": args.device, "tf32": args.tf32,
        "threads": len(cores),
        "peers": [{"variant": peer.name, "what": peer.info, "versions": peer.versions,
                   "ready_seconds": peer.ready, "step_seconds": peer.seconds} for peer in peers],
        "pace": [dict(zip(meter.columns, reading)) for reading in rounds],
    }


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":")[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else "unknown"


def tell_versions(peers, told):
    """Once each; they are the rest of the heading."""
    for versions in dict.fromkeys(peer.versions for peer in peers):
        if versions not in told:
            print(versions)
    told.update(peer.versions for peer in peers)


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True, help="the built train_bench")
    parser.add_argument("--torch", action="append", default=[], help="a Python that has PyTorch")
    parser.add_argument("--variants", nargs="*", default=["eager"],
                        help="eager, compile, reduce-overhead, graph, graph-compile")
    parser.add_argument("--jax", action="append", default=[],
                        help="a Python that has JAX, and PyTorch for the data")
    parser.add_argument("--jax-variants", nargs="*", default=["jit", "scan"])
    parser.add_argument("--plugin", action="append", default=[],
                        help="tern once more, with this plugin for CUDA")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:0")
    parser.add_argument("--tf32", action="store_true", help="products in TF32, of everybody")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--block", type=float, default=0.2, help="seconds")
    parser.add_argument("--threads", type=int, nargs="*", default=None, help="1 and all cores")
    parser.add_argument("--only", help="W1, tiny or cnn")
    parser.add_argument("--batch", type=int, nargs="*", help="these batches only")
    parser.add_argument("--seconds", type=float, default=math.inf, help="for the whole run")
    parser.add_argument("--patience", type=float, default=Peer.patience,
                        help="seconds for one answer; the longest are compilations")
    parser.add_argument("--json", help="every row is added to this file, a line each")
    args = parser.parse_args()
    args.end = time.perf_counter() + args.seconds
    return args


def main():
    args = parse()
    cores = sorted(os.sched_getaffinity(0))
    counts = [len(cores)] if on_cuda(args) else args.threads or sorted({1, len(cores)})
    clock = Clock(args.device) if on_cuda(args) else None
    tasks = [task for task in (CUDA_TASKS if on_cuda(args) else TASKS)
             if args.only in (None, task[0]) and task[3] in (args.batch or [task[3]])]
    print(f"{processor()}, {len(cores)} cores, {args.rounds} rounds of blocks of {args.block} s")
    if clock:
        print(clock.heading())
    rows = list(product(counts, tasks))
    Peer.patience = args.patience
    told, status = set(), 0
    with open(args.json or os.devnull, "a", encoding="utf-8") as file:
        for number, (count, task) in enumerate(rows):
            left = time_left(args.end)
            if left > 0:
                end = time.perf_counter() + left / (len(rows) - number)
                result = row(args, task, set(cores[:count]), clock, told, end)
                print(json.dumps(result), file=file, flush=True)
            else:
                print(f"left out: {task[0]}, batch {task[3]}: there is no time")
                status = 1
    return status


try:
    sys.exit(main())
except Gone as gone:
    sys.exit(str(gone))
