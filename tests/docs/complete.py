#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing in the public headers or among the numbered goals is left out of the guides.

    complete.py ROOT names    every function is in docs/differences-from-pytorch.md
    complete.py ROOT codes    the table of docs/errors.md is the enum of error.h, word for word
    complete.py ROOT missing  no name of its list of what is not there is one of tern's, and no
                              other guide writes of it
    complete.py ROOT ratio    README.md says how much longer a port is, as their test and table do
    complete.py ROOT pages PAGE...   every page of docs is among these, which guide.py checks
    complete.py ROOT goals    docs/reliability.md has the tests with a number, and no others
"""
import re
import sys
from pathlib import Path

FUNCTION = re.compile(r"^TERN_API\b[^;(]*?\b(tern_\w+)\(", re.M)
MACRO = re.compile(r"^#define (tern_[a-z]\w*)", re.M)
CODE = re.compile(r"^ +(TERN_ERR_\w+),? +///< (.*)$", re.M)
GOAL = re.compile(r"\bR\d+_\w+")
ROW = re.compile(r"^\| `(TERN_ERR_\w+)` \| ([^|]*) \|", re.M)


def public_names(root):
    """Functions and macros, those of options by the macro's name; *_defaults and what only a macro
    runs (*_guard_*_, *_typed, tern_required_*_) are not counted."""
    text = "\n".join(p.read_text() for p in sorted((root / "include/tern").rglob("*.h")))
    functions = {re.sub("_with$", "", name) for name in FUNCTION.findall(text)}
    names = functions | set(MACRO.findall(text))
    inner = re.compile("_defaults$|_guard_[a-z]+_$|_typed$|^tern_required_")
    return {name for name in names if not inner.search(name)}


def missing_names(root):
    text = (root / "docs/differences-from-pytorch.md").read_text()
    shown = set(re.findall(r"tern_\w+", text))
    names = public_names(root)
    if len(names) < 250:
        return [f"only {len(names)} names were found in the headers: are they read rightly?"]
    return [f"{name} is in no table of differences-from-pytorch.md"
            for name in sorted(names - shown)]


def plain(name):
    """As both sides spell it: tern_nn_l1_loss and L1Loss are l1loss."""
    return re.sub("^(tern_)?(nn_|optim_|sched_|init_|data_)?|_", "", name).lower()


def wrong_missing(root):
    page = root / "docs/differences-from-pytorch.md"
    text = page.read_text().split("\n## Not there yet\n")[1].split("\n## ")[0]
    rows = [row.split("|")[2] for row in text.split("\n") if row.startswith("| ")]
    names = [name for row in rows[1:] for name in re.findall(r"`([\w.]+)`", row)]
    there = {plain(name) for name in public_names(root)}
    wrong = [] if names else ["the list of what is not there is empty: is it read rightly?"]
    wrong += [f"{name} is not there by the list, but the headers have it"
              for name in names if plain(name) in there]
    for guide in sorted((root / "docs").glob("*.md")):
        words = set(re.findall(r"\w+", guide.read_text())) if guide != page else set()
        wrong += [f"{guide.name} writes of {name}, which is not there"
                  for name in names if name in words and name != "profiler"]
    return wrong


def wrong_ratio(root):
    most = re.search(r"^LONGER = (\S+)", (root / "tests/examples/ports.py").read_text(), re.M)[1]
    rows = re.findall(r"^\| \w+ \(\[py\].*\| (\d+) \| (\d+) \|$",
                      (root / "examples/ports/README.md").read_text(), re.M)
    python, c = (sum(int(row[i]) for row in rows) for i in (0, 1))
    text = " ".join((root / "README.md").read_text().split())
    return [f"README.md does not say: {words}" for words in (
        f"at most {most} times the lines of their scripts", f"together {c / python:.1f} times")
            if words not in text]


def unchecked_pages(root, pages):
    there = {path.stem for path in (root / "docs").glob("*.md")}
    return [f"docs/{name}.md is not checked by guide.py" for name in sorted(there - set(pages))]


def wrong_codes(root):
    declared = CODE.findall((root / "include/tern/error.h").read_text())
    shown = ROW.findall((root / "docs/errors.md").read_text())
    if len(declared) < 12:
        return [f"only {len(declared)} codes were found in error.h: is it read rightly?"]
    wrong = [f"errors.md lacks or has otherwise: {row}" for row in declared if row not in shown]
    return wrong + [f"error.h does not say: {row}" for row in shown if row not in declared]


def wrong_goals(root):
    """R35's groups and R40's tests share a row: their number is enough."""
    files = (root / "tests").glob("*/meson.build")
    tests = set(GOAL.findall("\n".join(p.read_text() for p in files)))
    shown = set(GOAL.findall((root / "docs/reliability.md").read_text()))
    if len(tests) < 20:
        return [f"only {len(tests)} goals were found in tests: are they read rightly?"]
    shared = ("R35_", "R40_")
    lacking = [test for test in tests - shown if not test.startswith(shared)]
    unknown = [goal for goal in shown - tests if not goal.startswith(shared)]
    return ([f"reliability.md lacks {test}" for test in sorted(lacking)] +
            [f"reliability.md has {goal}, which is no test" for goal in sorted(unknown)])


def main():
    root, what = Path(sys.argv[1]), sys.argv[2]
    checks = {"names": missing_names, "codes": wrong_codes, "goals": wrong_goals,
              "missing": wrong_missing, "ratio": wrong_ratio,
              "pages": lambda root: unchecked_pages(root, sys.argv[3:])}
    wrong = checks[what](root)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
