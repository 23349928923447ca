#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""logs.py PROGRAM SCHEMA: what mlp_mnist keeps with --log: curves, histograms, images, the page;
the training is the same with it; a run that is killed goes on in the same folder without a step
that is there twice; Ctrl-C is a stopped run; a folder that cannot be written ends nothing."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "train"))

import log_reader  # noqa: E402
from terminal import write_images  # noqa: E402

STEPS = 11  # an epoch's: 650 images in batches of 64


def check(holds, what, seen):
    if not holds:
        sys.exit(f"FAILED: {what}; it shows {seen!r}")


def run(words):
    done = subprocess.run(words, capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, f"{words} runs", (done.stdout, done.stderr))
    return re.sub(" seconds=.*", "", done.stdout)


def steps_of(lines, kind, tag):
    return [line["step"] for line in lines if line["kind"] == kind and line["tag"] == tag]


def check_whole(log, schema, epochs):
    """Every step and every epoch once, in the lines and in the event files."""
    lines = log_reader.read_lines(log / "log.jsonl", schema)
    every, ends = list(range(1, STEPS * epochs + 1)), [STEPS * (e + 1) for e in range(epochs)]
    for kind, tag, due in (("scalar", "train/loss", every), ("scalar", "lr", every),
                           ("scalar", "valid/loss", ends), ("scalar", "valid/accuracy", ends),
                           ("scalar", "train/accuracy", ends),
                           ("histogram", "weights/1.weight", ends),
                           ("histogram", "gradients/3.bias", ends),
                           ("matrix", "valid/confusion", ends)):
        seen = steps_of(lines, kind, tag)
        check(seen == due, f"{tag} has each step once", seen)
    events = [log_reader.read_events(file) for file in log_reader.event_files(log)]
    seen = [e["step"] for e in log_reader.after_purges(events) if e["tag"] == "train/loss"]
    check(sorted(seen) == every, "event files have each step once", seen)
    return lines


def plain(program, folder, schema):
    log = Path(folder) / "plain"
    without = run([*program, "--epochs", "2"])
    check(run([*program, "--epochs", "2", "--log", str(log)]) == without,
          "a log does not change a training", without)
    lines = check_whole(log, schema, 2)
    settings = next(line["settings"] for line in lines if line["kind"] == "settings")
    check(settings["hidden"] == "8" and settings["epochs"] == 2 and settings["lr"] == 0.001,
          "settings are those of the command line", settings)
    check(lines[-1]["kind"] == "end" and lines[-1]["status"] == "finished", "it ends",
          lines[-1])
    page = (log / "run.html").read_text()
    check('"status":"finished"' in page and "valid/confusion" in page, "a page", page[-200:])
    matrix = [line for line in lines if line["kind"] == "matrix"][-1]
    check(sum(matrix["values"]) == 100, "the matrix has all test images", matrix)
    accuracy = sum(matrix["values"][i * 11] for i in range(10)) / 100
    told = float(re.search("test_accuracy=([0-9.]+)", without).group(1))
    check(accuracy == told, "and is right as often as it is told", (accuracy, told))
    mistakes = [line for line in lines if line.get("tag", "").startswith("valid/mistakes/")]
    if accuracy < 1:
        check(mistakes and " taken for " in mistakes[0]["text"], "mistakes", mistakes)
    again = subprocess.run([*program, "--log", str(log)], capture_output=True, text=True)
    check(again.returncode == 1 and "has the log of another run" in again.stderr,
          "a second run has a folder of its own", again.stderr)


def wait_for(log, step):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        path = log / "log.jsonl"
        if path.exists() and f'"step":{step},' in path.read_text(errors="replace"):
            return
        time.sleep(0.005)
    sys.exit(f"FAILED: step {step} did not come")


def killed(program, folder, schema):
    log, checkpoints = Path(folder) / "killed", f"{folder}/checkpoints"
    words = [*program, "--epochs", "40", "--checkpoint-dir", checkpoints, "--checkpoint-every", "7",
             "--log", str(log)]
    for step in (30, 120):
        with subprocess.Popen([*words, *(["--resume"] if step > 30 else [])]) as p:
            wait_for(log, step)
            p.kill()
    run([*words, "--resume"])
    check_whole(log, schema, 40)


def interrupted(program, folder, schema):
    log = Path(folder) / "interrupted"
    words = [*program, "--epochs", "100000", "--log", str(log)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as p:
        wait_for(log, 2 * STEPS)
        p.send_signal(signal.SIGINT)
        p.wait()
    lines = log_reader.read_lines(log / "log.jsonl", schema)
    check(p.returncode == 130 and lines[-1] == {**lines[-1], "kind": "end", "status": "stopped"},
          "Ctrl-C is a stopped run", (p.returncode, lines[-1]))


def unwritable(program):
    done = subprocess.run([*program, "--log", "/proc/nowhere"], capture_output=True, text=True)
    check(done.returncode == 0 and done.stderr.count("nothing is logged to /proc/nowhere") == 1,
          "a folder that cannot be written is said once", done.stderr)


def main():
    program, schema = sys.argv[1], log_reader.Schema(sys.argv[2])
    os.environ["TERN_LOG"] = "on"
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, "train", 650)
        write_images(folder, "t10k", 100)
        words = [program, "--data", folder, "--device", "cpu", "--hidden", "8", "--quiet"]
        plain(words, folder, schema)
        killed(words, folder, schema)
        interrupted(words, folder, schema)
        unwritable([*words, "--epochs", "1"])


if __name__ == "__main__":
    main()
