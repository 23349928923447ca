#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test cases in Meson's testlog.json: the groups' own totals where a program prints them
(cmocka), else one case a program. Ends with "N passed, N failed, N skipped"; exit 1 when a case
failed or none ran."""
import json
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
    if result == "SKIP":
        return {"passed": 0, "failed": 0, "skipped": max(1, cases["skipped"])}
    good = result in ("OK", "EXPECTEDFAIL")
    if not good:  # a crash prints no totals of its own
        cases["failed"] = max(1, cases["failed"])
    elif sum(cases.values()) == 0:
        cases["passed"] = 1
    return cases


def main():
    total = {"passed": 0, "failed": 0, "skipped": 0}
    with open(sys.argv[1], encoding="utf-8") as log:
        for line in log:
            for kind, number in count(json.loads(line)).items():
                total[kind] += number
    if total["passed"] + total["failed"] == 0:
        print("no test ran", file=sys.stderr)
        total["failed"] = 1
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**total))
    return 1 if total["failed"] else 0


sys.exit(main())
