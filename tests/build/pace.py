# SPDX-License-Identifier: Apache-2.0
"""pace.py BENCH: whatever nvidia-smi answers, the meter of a GPU's clock tells a rate.

A stub for nvidia-smi answers each query with what a case says.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])

from pace import Clock  # noqa: E402

NO_CLOCK = ": no clock and power to be read"
GOOD = b"1980, 690.12, 0x0000000000000005\n"
NAME = b"A GPU, 580.1\n"
# the answers about the device and the clock, the heading, the reading, the words after the rate
CASES = {
    "a clock": (NAME, GOOD, "A GPU, driver 580.1", (1980, 690.12, 4),
                ", SM at 1980 MHz (over 3 % off in 0 of 1 rounds; held back in 1: 0x4), 690 W"),
    "no numbers": (NAME, b"[N/A], [N/A], [N/A]\n", "A GPU, driver 580.1" + NO_CLOCK, (), ""),
    "no power": (NAME, b"1980, nan, [Not Supported]\n", "A GPU, driver 580.1", (1980, 0, 0),
                 ", SM at 1980 MHz (over 3 % off in 0 of 1 rounds)"),
    "nothing": (b"", b"", "no nvidia-smi" + NO_CLOCK, (), ""),
    "too few words": (b"A GPU\n", b"1980\n", "no nvidia-smi" + NO_CLOCK, (), ""),
    "a sentence": (b"No devices were found\n", b"Failed, as it is, to initialize, ever\n",
                   "no nvidia-smi" + NO_CLOCK, (), ""),
    "two devices": (NAME + NAME, GOOD + GOOD, "no nvidia-smi" + NO_CLOCK, (), ""),
    "other bytes": (b"\xff, \xfe\n", b"\xff, \xfe, \xfd\n", "\ufffd, driver \ufffd" + NO_CLOCK,
                    (), ""),
}


def answer_with(folder, device, clock):
    for name, data in (("device", device), ("clock", clock)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def stub(folder, body):
    path = os.path.join(folder, "nvidia-smi")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + body)
    os.chmod(path, 0o755)


def expect(case, what, found, wanted):
    if found != wanted:
        sys.exit(f"{case}: the {what} is {found!r}, not {wanted!r}")


def check(case, heading, reading, words):
    clock = Clock("cuda:0")
    expect(case, "heading", clock.heading(), heading)
    expect(case, "reading", clock.read(), reading)
    one_round = clock.of_round([clock.read(), clock.read()])
    expect(case, "line", clock.words([one_round], 2e12, 1), "2.00 TFLOP/s" + words)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        stub(folder, f'case $* in *name*) cat "{folder}/device" ;; *) cat "{folder}/clock" ;; '
                         'esac\n')
        for case, (device, clock, *wanted) in CASES.items():
            answer_with(folder, device, clock)
            check(case, *wanted)
        stub(folder, "echo A GPU, 580.1\nexit 9\n")
        check("a failure", "no nvidia-smi" + NO_CLOCK, (), "")
    print(f"{len(CASES) + 1} answers")


main()
