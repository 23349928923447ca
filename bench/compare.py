#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tern beside PyTorch and JAX on the same training steps, in one run.

    compare.py --tern BUILD/bench/train_bench --torch /usr/bin/python3 [--torch VENV/bin/python ...]
    compare.py --tern BUILD/bench/train_bench --torch python3 --variants eager compile graph \
        --jax python3 --device cuda:0 [--tf32]

Every program waits for its turn: blocks of at least --block seconds of steps are dealt out in a
random order, twice to each in a round, and the shorter of the two counts; one for which its threads
waited for a core longer than they ever do was disturbed, and is played again. A ratio is formed
within a round; the median over the rounds is printed with its 95 % bootstrap interval. A ratio over
1 says that tern took less time. tern runs twice: what the two differ by (A/A) is what this run can
resolve; where that is over 3 % the row gets as many rounds once more, and if that does not help it
is void. Before anything is timed the losses of the first
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
from rounds import (  # noqa: E402
    is_void, machine, play_until_steady, python_peers, ratio, record, time_left)
from serve import CNN  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
# name, sizes, loss, optimizer
W1 = ("W1", "784,512,512,10", "cross_entropy", "adam")
W500 = ("W500", "784,500,10", "cross_entropy", "adamw")
TINY = ("tiny", "2,16,16,1", "mse", "adam")
NET = ("cnn", CNN, "cross_entropy", "adam")
TASKS = [*product([W1], (1, 64, 128, 1024)), (W500, 500), *product([TINY], (1, 32)),
         *product([NET], (64, 128))]
SHAPE_BATCH = 64  # of --shapes
CUDA_TASKS = [*product([W1], (64, 128, 1024, 8192)), *product([NET], (64, 128, 1024))]
IMAGES = 60000  # of an epoch of those with 28 x 28 inputs
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


def shape_task(text):
    """The task of "128x4": four layers of 128."""
    width, layers = (int(number) for number in text.split("x"))
    return (text, ",".join([str(width)] * (layers + 1)), "mse", "adam"), SHAPE_BATCH


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


def on_cuda(args):
    return args.device.startswith("cuda")


def choose(args, task, cores):
    """The peers of a row: tern, tern again, then the others."""
    (_, sizes, loss, optimizer), batch = task
    words = [sizes, str(batch), loss, args.device, optimizer] + (["tf32"] if args.tf32 else [])
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
        script = os.path.join(HERE, name)
        peers += python_peers(Peer, pythons, script, variants, words, cores)
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


def precision(args, peer):
    return ", not in TF32" if args.tf32 and peer.probe != 0 else ""


def print_row(args, task, peers, pace, threads):
    """What was measured of one task: tern's own line, then one for each of the others. `pace` is
    in words."""
    (name, sizes, _, optimizer), batch = task
    tern, again, *others = peers
    _, low, high = ratio(tern.seconds, again.seconds)
    void = ", void: A/A over 3 %" if is_void(low, high) else ""
    where = args.device if on_cuda(args) else f"{threads} thread(s)"
    where += ", TF32" if args.tf32 else ""
    if len(tern.seconds) < args.rounds:
        where += f", {len(tern.seconds)} of {args.rounds} rounds"
    step = statistics.median(tern.seconds)
    images = name != "tiny" and name not in args.shapes
    epoch = f" ({step * IMAGES / batch:.3f} s an epoch)" if images else ""
    shown = "" if name in args.shapes else " " + sizes.replace(",", "-")
    print(f"\n{name}{shown}, {optimizer}, batch {batch}, {where}: "
          f"tern {step * 1e6:.1f} us a step{epoch}, {pace}, "
          f"A/A {low:.3f} to {high:.3f}{void}, {tern.info}, {tern.memory():.0f} MiB, "
          f"ready after {tern.ready:.1f} s"
          f"{precision(args, tern)}")
    for peer in others:
        times, low, high = ratio(tern.seconds, peer.seconds)
        libraries = "" if on_cuda(args) else peer.libraries()
        print(f"  {times:6.2f} [{low:.2f}, {high:.2f}] times {peer.info}, {peer.name}, "
              f"{statistics.median(peer.seconds) * 1e6:.1f} us{', ' * bool(libraries)}{libraries}, "
              f"{peer.memory():.0f} MiB, ready after {peer.ready:.1f} s{precision(args, peer)}")
    sys.stdout.flush()


def row(args, task, cores, clock, told, end):
    """Measures one task and prints its lines. Returns what goes to the file."""
    (name, sizes, _, optimizer), batch = task
    peers = start(args, choose(args, task, cores), end)
    tell_versions(peers, told)
    meter = clock or Peak(peers[0])
    if clock:
        spin_up(peers[0])
    order = random.Random(f"{name}{batch}{len(cores)}")
    peers, readings = play_until_steady(peers, args.rounds, meter, order, end)
    step = statistics.median(peers[0].seconds)
    work = flops(sizes, batch)
    print_row(args, task, peers, meter.words(readings, work / step, len(cores)), len(cores))
    kind = "shape" if name in args.shapes else "step"
    words = {"kind": kind, "task": name, "sizes": sizes, "optimizer": optimizer, "batch": batch,
             "device": args.device, "tf32": args.tf32, "threads": len(cores), "flops": work}
    result = record(words, peers, meter, readings)
    with ThreadPoolExecutor(len(peers)) as pool:
        list(pool.map(Peer.end, peers))
    return result


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
    parser.add_argument("--torch", action="append", default=[],
                        help="a Python that has PyTorch, or PYTHON=VARIANT,VARIANT")
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
    parser.add_argument("--only", help="W1, W500, tiny or cnn")
    parser.add_argument("--shapes", nargs="*", default=[],
                        help="MLPs as 128x4, four layers of 128, in place of those")
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
    tasks = [task for task in ([shape_task(text) for text in args.shapes] or
                               (CUDA_TASKS if on_cuda(args) else TASKS))
             if args.only in (None, task[0][0]) and task[1] in (args.batch or [task[1]])]
    here = machine()
    print(f"{here['processor']}, {len(cores)} cores, {args.rounds} rounds of blocks of "
          f"{args.block} s")
    if clock:
        print(clock.heading())
    rows = list(product(counts, tasks))
    Peer.patience = args.patience
    told, status = set(), 0
    with open(args.json or os.devnull, "a", encoding="utf-8") as file:
        print(json.dumps(here), file=file)
        for number, (count, task) in enumerate(rows):
            left = time_left(args.end)
            if left > 0:
                end = time.perf_counter() + left / (len(rows) - number)
                result = row(args, task, set(cores[:count]), clock, told, end)
                print(json.dumps(result), file=file, flush=True)
            else:
                print(f"left out: {task[0][0]}, batch {task[1]}: there is no time")
                status = 1
    return status


try:
    sys.exit(main())
except Gone as gone:
    sys.exit(str(gone))
