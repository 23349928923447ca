#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests that run on a GPU, without Meson.

    gpu_tests.py list BUILD                 the list of a build folder, to stdout
    gpu_tests.py programs LIST              the programs that it names, in a build folder
    gpu_tests.py run LIST --at PROGRAMS=DIR [--at NAME=PATH...] [--log FILE] [--failures FILE]
                 [--only REGEX] [--but REGEX] [--wrap WORDS] [--limit S] [--seconds S] [--jobs N]

A line of the list is a test in JSON. Its paths begin with @PROGRAMS@ (a build folder, or what was
carried of one), @SOURCE@ (the tree), @DATA@ (the data set) or @CURAND@ (that library). The log has
the lines that count_cases.py reads; the start and the end of the output of what failed are added to
the file of failures. Cases that failed or were skipped are named. A test that has not begun when
the seconds are over is a failure; --limit is for each, beside its own.
"""
import argparse
import json
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = "/usr/share/datasets/fashion-mnist"
KEPT = 16000  # characters of the output that are kept: half from the start, half from the end
SKIPPED = 77
CASE = re.compile(r"^\[  (FAILED |SKIPPED) \] (.*[^:\n])$", re.MULTILINE)  # not the totals
MOST_CASES = 20  # that are named of a test


def list_tests(build):
    """Those of the suite `gpu`, as `meson test` would run them."""
    told = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True,
                          check=True)
    build = os.path.abspath(build)

    def anywhere(path):
        if path.endswith("/libcurand.so"):
            return "@CURAND@"
        for name, start in (("PROGRAMS", build), ("SOURCE", ROOT), ("DATA", DATA)):
            path = re.sub(f"(?<![^=:]){re.escape(start)}(?=/|$)", f"@{name}@", path)
        return path

    for test in json.loads(told.stdout):
        if any(suite.split(":")[-1] == "gpu" for suite in test["suite"]):
            environment = {name: anywhere(value) for name, value in test["env"].items()
                           if name != "LD_LIBRARY_PATH"}
            print(json.dumps({"name": test["name"], "limit": test["timeout"],
                              "words": [anywhere(word) for word in test["cmd"]],
                              "environment": environment}))


def read_list(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def print_programs(path):
    names = (test["words"][0] for test in read_list(path))
    print("\n".join(dict.fromkeys(name.replace("@PROGRAMS@/", "") for name in names)))


def shortened(text):
    if len(text) <= KEPT:
        return text
    return text[:KEPT // 2] + "\n[...]\n" + text[-KEPT // 2:]


class Run:
    def __init__(self, args):
        self.args = args
        self.places = dict(place.split("=", 1) for place in args.at)
        self.end = time.monotonic() + args.seconds
        self.printing = Lock()
        self.passed = self.failed = 0

    def there(self, text):
        return re.sub("@([A-Z]+)@", lambda match: self.places.get(match[1], match[0]), text)

    def execute(self, test):
        """The result, as Meson calls it, and the output."""
        left = self.end - time.monotonic()
        if left <= 0:
            return "NOTRUN", "no time was left for it"
        environment = {name: self.there(value) for name, value in test["environment"].items()}
        words = shlex.split(self.args.wrap) + [self.there(word) for word in test["words"]]
        try:
            process = subprocess.Popen(
                words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                start_new_session=True)
        except OSError as error:
            return "ERROR", f"it does not start: {error}"
        try:
            output, _ = process.communicate(timeout=min(left, self.args.limit, test["limit"]))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "TIMEOUT", process.communicate()[0]
        result = {0: "OK", SKIPPED: "SKIP"}.get(process.returncode, "FAIL")
        return result, output + ("" if result != "FAIL" else f"\nstatus {process.returncode}\n")

    def tell(self, name, result, took, output):
        with self.printing:
            print(f"{result:8}{took:6.1f} s  {name}", flush=True)
            for what, case in list(dict.fromkeys(CASE.findall(output)))[:MOST_CASES]:
                print(f"{what.strip().lower():>16}  {case}", flush=True)
            self.passed += result == "OK"
            self.failed += result not in ("OK", "SKIP")
            with open(self.args.log, "a", encoding="utf-8") as log:
                print(json.dumps({"name": name, "result": result, "stdout": output[-KEPT:],
                                  "duration": took}), file=log)
            if result != "OK":
                with open(self.args.failures, "a", encoding="utf-8") as failures:
                    print(f"==== {self.args.wrap} {name}: {result}\n{shortened(output)}",
                          file=failures)

    def play(self, test):
        begun = time.monotonic()
        result, output = self.execute(test)
        self.tell(test["name"], result, time.monotonic() - begun, output)

    def wanted(self, test):
        return (re.search(self.args.only, test["name"]) and
                not (self.args.but and re.search(self.args.but, test["name"])))


def run(args):
    """0 when something passed and nothing failed."""
    runner = Run(args)
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(runner.play, filter(runner.wanted, read_list(args.list))))
    return 0 if runner.passed and not runner.failed else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("list", "programs", "run"))
    parser.add_argument("list")
    parser.add_argument("--at", action="append", default=[])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--failures", default=os.devnull)
    parser.add_argument("--only", default="")
    parser.add_argument("--but", default="")
    parser.add_argument("--wrap", default="")
    parser.add_argument("--limit", type=float, default=math.inf)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    if args.verb == "run":
        return run(args)
    return (list_tests if args.verb == "list" else print_programs)(args.list)


sys.exit(main())
