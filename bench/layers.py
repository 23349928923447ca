#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layers beside PyTorch's, forward and backward, in turns.

    layers.py --tern BUILD/bench/layers_bench [--torch VENV/bin/python] [--threads 1 2]
        [--rounds 20] [--only NAME]

The least time of all rounds counts, for everybody; a ratio over 1 says that tern took less. "% of
peak" is of one core's multiply-adds times the threads, measured between the rounds. Memory is by
how much a process has grown at most since before its first forward: with what its libraries make
at a first call, a compiler too.
"""
import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True

from peer import environment  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (  # name, layer, input, numbers
    ("cnn_mnist 1", "conv2d", "64,1,28,28", "1,32,3,1,1,1"),
    ("cnn_mnist 2", "conv2d", "64,32,14,14", "32,64,3,1,1,1"),
    ("3x3 64-64 32x32", "conv2d", "16,64,32,32", "64,64,3,1,1,1"),
    ("3x3 512-512 7x7", "conv2d", "16,512,7,7", "512,512,3,1,1,1"),
    ("3x3 64-128 stride 2", "conv2d", "16,64,32,32", "64,128,3,2,1,1"),
    ("1x1 64-256 32x32", "conv2d", "16,64,32,32", "64,256,1,1,0,1"),
    ("depthwise 3x3 64", "conv2d", "16,64,32,32", "64,64,3,1,1,64"),
    ("7x7 3-64 stride 2", "conv2d", "16,3,112,112", "3,64,7,2,3,1"),
    ("BatchNorm2d 32 28x28", "batch_norm2d", "64,32,28,28", "32"),
    ("BatchNorm2d 64 14x14", "batch_norm2d", "64,64,14,14", "64"),
    ("BatchNorm2d 256 7x7", "batch_norm2d", "16,256,7,7", "256"),
    ("LayerNorm 512", "layer_norm", "1024,512", "512"),
    ("GroupNorm 8 of 64", "group_norm", "16,64,32,32", "8,64"),
    ("MaxPool2d 2", "max_pool2d", "64,32,28,28", "2,2,0"),
    ("MaxPool2d 3 stride 2", "max_pool2d", "16,64,56,56", "3,2,1"),
    ("AvgPool2d 2", "avg_pool2d", "64,32,28,28", "2,2,0"),
    ("AdaptiveAvgPool2d 1", "adaptive_avg_pool2d", "16,512,7,7", "1"),
)
VARIANTS = ("eager", "compile")


class Process:
    def __init__(self, command, threads):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(range(threads)))

    def ask(self, request):
        print(request, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def measure(peers, rounds):
    """{(peer, direction): seconds}, and the peak."""
    best, peak = {}, 0
    for _ in range(rounds):
        for name, peer in peers.items():
            for direction in ("forward", "backward"):
                taken = peer.ask(f"{direction} 5")
                best[name, direction] = min(taken, best.get((name, direction), taken))
        peak = max(peak, peers["tern"].ask("peak"))
    return best, peak


def start(row, threads, args):
    peers = {"tern": Process([args.tern, *row[1:]], threads)}
    for variant in VARIANTS if args.torch else ():
        script = os.path.join(HERE, "layers_peer.py")
        peers[variant] = Process([args.torch, script, variant, *row[1:]], threads)
    return peers


def show(row, threads, args):
    peers = start(row, threads, args)
    best, peak = measure(peers, args.rounds)
    flops = peers["tern"].ask("flops")
    for direction, share in (("forward", 1), ("backward", 2)):
        tern = best["tern", direction]
        line = f"{row[0]:20} {threads}  {direction:8} {tern * 1e3:9.3f} ms"
        if flops:
            line += f" {share * flops / tern / (peak * 1e9 * threads):6.0%} of peak"
        for name in list(peers)[1:]:
            other = best[name, direction]
            line += f"  {name} {other * 1e3:9.3f} ms, ratio {other / tern:5.2f}"
        print(line, flush=True)
    memory = [f"{name} {peer.ask('memory') / 2**20:.1f} MiB" for name, peer in peers.items()]
    print(f"{'':20} {threads}  memory   {', '.join(memory)}", flush=True)
    for peer in peers.values():
        peer.process.stdin.close()
        peer.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True)
    parser.add_argument("--torch")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    for threads in args.threads:
        for row in ROWS:
            if args.only in row[0]:
                show(row, threads, args)


main()
