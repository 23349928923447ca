#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases in the JSON logs that Meson writes, a line for each: the groups' own totals
where a program prints them (cmocka), else one case a program. Ends with "N passed, N failed, N
skipped" of all; exit 1 when a case failed or none ran."""
import json
import os
import re
import sys

# Newer releases of cmocka put the group's name before the number.
TOTALS = {
    "passed": re.compile(r"\[  PASSED  \] (?:[^\n]*: )?(\d+) test\(s\)"),
    "failed": re.compile(r"\[  FAILED  \] (?:[^\n]*: )?(\d+) test\(s\)"),
    "skipped": re.compile(r"\[  SKIPPED \] (?:[^\n]*: )?(\d+) test\(s\)"),
}


def count(test):
    """The cases of one program."""
    text = test.get("stdout", "") + test.get("stderr", "")
    cases = {kind: sum(map(int, re.findall(pattern, text))) for kind, pattern in TOTALS.items()}
    result = test["result"]
    if result == "EXPECTEDFAIL":  # what it prints is what it was to find
        return {"passed": 1, "failed": 0, "skipped": 0}
    if result == "SKIP":
        return {"passed": 0, "failed": 0, "skipped": max(1, cases["skipped"])}
    if result != "OK":  # a crash prints no totals of its own
        cases["failed"] = max(1, cases["failed"])
    elif sum(cases.values()) == 0:
        cases["passed"] = 1
    return cases


def count_log(path):
    """The cases of one run; a run without any has failed."""
    total = {"passed": 0, "failed": 0, "skipped": 0}
    with open(path, encoding="utf-8") as log:
        for line in log:
            for kind, number in count(json.loads(line)).items():
                total[kind] += number
    if total["passed"] + total["failed"] == 0:
        total["failed"] = 1
    return total


def line_of(total):
    return "{passed} passed, {failed} failed, {skipped} skipped".format(**total)


def main():
    totals = {path: count_log(path) for path in sys.argv[1:]}
    for path, total in totals.items():
        print(f"{os.path.basename(path).rsplit('.', 1)[0]}: {line_of(total)}")
    kinds = ("passed", "failed", "skipped")
    whole = {kind: sum(total[kind] for total in totals.values()) for kind in kinds}
    print(line_of(whole))
    return 1 if whole["failed"] else 0


sys.exit(main())
