#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole programs: from the start of the process to an MLP trained and tested on Fashion-MNIST.

    programs.py --tern BUILD/examples/mlp_mnist/mlp_mnist [--torch PYTHON ...] [--threads 1 2]

mlp_mnist beside program_torch.py, which does the same in PyTorch with a DataLoader, as most scripts
do, and with an index into the tensors, which is faster. They run in turns, --runs times each; the
medians are printed: seconds until the process ended, until its first step was done, seconds that
all cores worked, and the most memory. A ratio over 1 says that tern took less. What the machine
keeps of the files in memory is warm for everybody: each runs once before.
"""
import argparse
import json
import os
import pty
import re
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from peer import environment  # noqa: E402
from rounds import machine  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("seconds", "first_step_seconds", "core_seconds", "mib", "accuracy")
FIRST_STEP = re.compile(rb"epoch +1/")  # tern draws its progress after the first step
ACCURACY = re.compile(rb"accuracy[ =]+([0-9.]+)")


class Program:
    def __init__(self, name, command, cores):
        self.name, self.command, self.cores = name, command, cores
        self.runs = []

    def run(self):
        begun = time.perf_counter()
        child, terminal = pty.fork()  # progress is shown on a terminal
        if child == 0:
            os.sched_setaffinity(0, self.cores)
            os.execvpe(self.command[0], self.command, environment(self.cores))
        told, first = b"", None
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            told += data
            if first is None and FIRST_STEP.search(told):
                first = time.perf_counter() - begun
            if not data:
                break
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - begun
        os.close(terminal)
        found = ACCURACY.findall(told)
        if status or not found or first is None:
            raise RuntimeError(told.decode(errors="replace").strip() or "it said nothing")
        return (seconds, first, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                float(found[-1]))

    def medians(self):
        return dict(zip(COLUMNS, (statistics.median(values) for values in zip(*self.runs))))


def keep_running(programs):
    """Each once, before anything counts."""
    running = []
    for program in programs:
        try:
            program.run()
            running.append(program)
        except (OSError, RuntimeError) as error:
            print(f"left out: {program.name}: {str(error).splitlines()[-1]}")
    return running


def choose(args, cores):
    threads = str(len(cores))
    programs = [Program("tern", [args.tern, "--epochs", str(args.epochs), "--threads", threads],
                        cores)]
    for python in args.torch:
        script = [python, os.path.join(HERE, "program_torch.py")]
        version = version_of(python)
        programs += [Program(f"PyTorch {version}, {way}",
                             [*script, way, str(args.epochs), threads], cores)
                     for way in ("DataLoader", "index") if version]
    return programs


def version_of(python):
    """Of its PyTorch; "" where there is none, and that is said."""
    asked = subprocess.run([python, "-c", "import torch; print(torch.__version__)"],
                           capture_output=True, text=True, check=False)
    if asked.returncode:
        print(f"left out: {python}: {asked.stderr.strip().splitlines()[-1]}")
    return asked.stdout.strip().partition("+")[0]


def show(programs, threads):
    tern = programs[0].medians()
    for program in programs:
        own = program.medians()
        print(f"{program.name:28} {threads} thread(s): {own['seconds']:.2f} s "
              f"({own['seconds'] / tern['seconds']:.2f}), first step after "
              f"{own['first_step_seconds']:.3f} s, {own['core_seconds']:.2f} core seconds, "
              f"{own['mib']:.0f} MiB, accuracy {own['accuracy']:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tern", required=True, help="the built mlp_mnist")
    parser.add_argument("--torch", action="append", default=[], help="a Python that has PyTorch")
    parser.add_argument("--threads", type=int, nargs="+", help="1 and all cores")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", default=os.devnull, help="every row is added to this file")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    with open(args.json, "a", encoding="utf-8") as file:
        print(json.dumps(machine()), file=file)
        for threads in args.threads or sorted({1, len(cores)}):
            programs = keep_running(choose(args, set(cores[:threads])))
            for _ in range(args.runs):
                for program in programs:
                    program.runs.append(program.run())
            show(programs, threads)
            print(json.dumps({"kind": "program", "epochs": args.epochs, "threads": threads,
                              "programs": {program.name: program.medians()
                                           for program in programs}}), file=file, flush=True)


main()
