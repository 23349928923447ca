#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run of mlp_mnist on 2,000 images that is killed and resumed to its end has the bits of the run
that was never stopped: the weights, everything in the last checkpoint (the sums of the losses, the
optimizer, the generators) and the line that it prints. Its log has no step twice.

    resume.py PROGRAM DEVICE THREADS moments COUNT   killed at random moments, or
                                                     stopped by Ctrl-C (TERN_TEST_SEED)
    resume.py PROGRAM DEVICE THREADS calls one|all   killed before system calls of a save: one of
                                                     each, or each one (strace)
    resume.py PROGRAM DEVICE THREADS order           the order of the system calls of a save
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from bands import write_images

IMAGES, MORE, TESTED = 2000, 100, 300
KINDS = ("openat", "write", "fsync", "close", "rename", "unlink", "flock")
SKIPPED = 77


def fail(what):
    sys.exit(f"FAILED: {what}")


def check(holds, what):
    if not holds:
        fail(what)


# ---- runs -----------------------------------------------------------------------------------


class Run:
    """A run in a folder of its own."""

    def __init__(self, work, program, device, threads, logs):
        self.folder = tempfile.mkdtemp(dir=work)
        self.checkpoints = f"{self.folder}/checkpoints"
        self.weights = f"{self.folder}/net.safetensors"
        self.log = f"{self.folder}/log"
        self.command = [program, "--data", work, "--limit", str(IMAGES), "--hidden", "32",
                        "--epochs", "3", "--batch-size", "50", "--lr", "0.02", "--device", device,
                        "--schedule", "one_cycle:pct_start=0.4", "--clip", "2",
                        "--ema", "0.9", "--augment", "--workers", "2",
                        "--threads", threads, "--checkpoint-dir", self.checkpoints,
                        "--checkpoint-every", "8", "--save", self.weights, "--resume",
                        *(["--log", self.log] if logs else [])]

    def start(self, before=()):
        return subprocess.Popen([*before, *self.command], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def finish(self):
        """To the end: its line without the seconds. No checkpoint may be damaged."""
        process = self.start()
        out, err = process.communicate()
        check(process.returncode == 0, f"the run ends with {process.returncode}: {err}")
        check("passed over" not in err, err)
        return re.search(r"^test_accuracy=.*(?= seconds=)", out, re.M)[0]

    def files(self, hidden):
        if not os.path.isdir(self.checkpoints):
            return []
        names = sorted(os.listdir(self.checkpoints))
        return [name for name in names if name.startswith(".") == hidden]

    def remove(self):
        shutil.rmtree(self.folder)


def read_state(path):
    """The values of a safetensors file of tern's by name, but the time that it was saved at."""
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    values = json.loads(header.pop("__metadata__")["tern.state"])["values"]
    check(values.pop("checkpoint.saved"), "there is no time in the checkpoint")
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        check(name in values, f"{name} is no value")
        values[name] = entry["dtype"], entry["shape"], data[8 + size + begin:8 + size + end]
    return values


def result_of(run):
    line = run.finish()
    with open(run.weights, "rb") as f:
        weights = f.read()
    check(run.files(hidden=True) == [], f"left over: {run.files(hidden=True)}")
    return {"line": line, "weights": weights,
            **read_state(f"{run.checkpoints}/{run.files(hidden=False)[-1]}")}


def check_log(run, what):
    """Each step once, and the last of all."""
    if not os.path.isdir(run.log):
        return
    with open(f"{run.log}/log.jsonl", encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    entries = [(line["kind"], line["tag"], line["step"]) for line in lines if "step" in line]
    doubled = [entry for entry, count in collections.Counter(entries).items() if count > 1]
    check(not doubled, f"{what}: these are logged twice: {doubled[:9]}")
    check(lines[-1].get("status") == "finished", f"{what}: {lines[-1]}")


def check_same(run, expected, what):
    """What a killed run left goes on to the same end."""
    left = run.files(hidden=True)
    check(len(left) <= 1, f"{what}: more than one temporary file is left: {left}")
    found = result_of(run)
    differing = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    check(not differing, f"{what}: these differ: {sorted(differing)}")
    check_log(run, what)
    run.remove()


# ---- moments --------------------------------------------------------------------------------


def kill_at_moments(make_run, expected, seconds, count):
    seed = int(os.environ.get("TERN_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"TERN_TEST_SEED={seed}")
    draw, kills = random.Random(seed), 0
    for moment in range(10 * count):
        if moment >= count and kills > 0:
            break  # all of the first may have come too late, where those runs were faster
        run = make_run()
        for _ in range(draw.choice((1, 1, 2))):  # what was resumed may be killed as well
            process = run.start()
            time.sleep(draw.uniform(0, seconds))
            process.send_signal(draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGINT)))
            process.communicate()
            kills += process.returncode != 0
        print(f"moment {moment}: {len(run.files(hidden=False))} checkpoints, "
              f"{len(run.files(hidden=True))} temporary files")
        check_same(run, expected, f"moment {moment}")
    check(kills > 0, "no run was killed before its end")
    print(f"{kills} runs killed")


# ---- system calls ---------------------------------------------------------------------------


def strace_reason():
    """Why strace cannot be used, or None."""
    if not shutil.which("strace"):
        return "there is no strace"
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True)
    return None if tried.returncode == 0 else f"strace cannot trace: {tried.stderr.strip()}"


def trace(run):
    """(name, its number among those of that name, the line) of the first thread's calls."""
    path = f"{run.folder}/trace"
    process = run.start(["strace", "-f", "-qq", "-o", path, "-e", "trace=" + ",".join(KINDS)])
    _, err = process.communicate()
    check(process.returncode == 0, err)
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = [line.split(maxsplit=1) for line in f]
    numbers, calls = dict.fromkeys(KINDS, 0), []
    for thread, line in lines:
        name = line.split("(")[0]
        if thread == lines[0][0] and name in KINDS:
            numbers[name] += 1
            calls.append((name, numbers[name], line.strip()))
    return calls


def saves(calls):
    """The calls of each save of a checkpoint: from the temporary file to the next save's."""
    begins = [i for i, call in enumerate(calls) if call[0] == "openat" and "/.step-" in call[2]]
    check(len(begins) > 5, f"only {len(begins)} saves were traced")
    return [calls[i:j] for i, j in zip(begins, begins[1:])]


def kill_at_calls(make_run, expected, how):
    traced = make_run()
    found = saves(trace(traced))
    traced.remove()
    save = next(save for save in found if any(name == "unlink" for name, _, _ in save))
    chosen = save if how == "all" else list({call[0]: call for call in reversed(save)}.values())
    for name, number, line in chosen:
        run = make_run()
        process = run.start(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e",
                             f"inject={name}:signal=SIGKILL:when={number}"])
        process.communicate()
        check(process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL),
              f"it was not killed at {line}, but ended with {process.returncode}")
        print(f"killed at {line[:70]}: {run.files(hidden=False)} {run.files(hidden=True)}")
        check(run.files(hidden=False), f"no checkpoint is left after {line}")
        check_same(run, expected, line)
    kinds = {name for name, _, _ in chosen}
    check(kinds >= {"openat", "write", "fsync", "close", "rename", "unlink"}, f"only {kinds}")


def check_order(make_run):
    """The temporary file in the same folder, its bytes, fsync, the name, fsync of the folder; and
    only then may older ones go."""
    run = make_run()
    for save in saves(trace(run)):
        lines = [line for _, _, line in save]
        temporary = re.search(r'"(.*)/(\.step-\d+\.safetensors\.tmp\.[\d.]+)"', lines[0])
        check(temporary and os.path.samefile(temporary[1], run.checkpoints), lines[0])
        check("O_CREAT|O_EXCL" in lines[0] and "O_CLOEXEC" in lines[0], lines[0])
        names = [name for name, _, _ in save if name != "flock"]
        end = names.index("write")
        while names[end] == "write":
            end += 1
        order = names[end:]
        order = order[:order.index("fsync", 1) + 1]
        check(names[0] == "openat" and names[1] == "write", f"{names}")
        wanted = ["fsync", "close", "rename", "close", "openat", "fsync"]
        check(order == wanted, f"after the bytes comes {order}, not {wanted}")
        renamed = next(line for line in lines if line.startswith("rename("))
        check(re.search(r'/\.step-(\d+)\..*", ".*/step-\1\.safetensors"\)', renamed), renamed)
        folder = [line for name, _, line in save if name == "openat"][1]
        check("O_DIRECTORY" in folder and os.path.samefile(folder.split('"')[1], run.checkpoints),
              folder)
        check("unlink" not in names[:end + len(order)], "an older one goes before the new one is "
              "on the disk")
    run.remove()


def main():
    program, device, threads, what = sys.argv[1:5]
    reason = strace_reason() if what != "moments" else None
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        draw = random.Random(1)
        write_images(work, "train", IMAGES + MORE, draw)
        write_images(work, "t10k", TESTED, draw)

        def make_run():
            return Run(work, program, device, threads, logs=what == "moments")

        if what == "order":
            check_order(make_run)
            return 0
        whole, started = make_run(), time.monotonic()
        expected = result_of(whole)
        seconds = time.monotonic() - started
        print(f"{expected['line']} in {seconds:.2f} s")
        if what == "moments":
            kill_at_moments(make_run, expected, seconds, int(sys.argv[5]))
        else:
            kill_at_calls(make_run, expected, sys.argv[5])
    return 0


sys.exit(main())
