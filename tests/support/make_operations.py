#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the functions of ops.h and ops/ that make a tensor of one or two and nothing else, so that
tests of all of them have each from its declaration on.

    make_operations.py INCLUDE/TERN OPERATIONS.H

OPERATIONS_OF_1(X) is X(neg, "neg", "x") .. and OPERATIONS_OF_2(X) is X(add, "add", "a", "b") ..:
the function, what it is called in messages, and its operands.
"""
import re
import sys
from pathlib import Path

FUNCTION = re.compile(r"^TERN_API\s[^;{(]*?tern_tensor \*tern_(\w+)(?<!_)\(([^)]*)\)", re.M)
TENSOR = re.compile(r"\s*tern_tensor \*(\w+)\s*")
# Short forms of another operation, whose name messages have.
SAYS = {"sum_all": "sum", "mean_all": "mean"}


def operations(text):
    for name, words in FUNCTION.findall(text):
        operands = [TENSOR.fullmatch(word) for word in words.split(",")]
        if all(operands):
            yield name, SAYS.get(name, name), *(operand[1] for operand in operands)


def main():
    headers = Path(sys.argv[1])
    paths = [headers / "ops.h", *sorted((headers / "ops").glob("*.h"))]
    found = [one for path in paths for one in operations(path.read_text("utf-8"))]
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        for count in (1, 2):
            calls = [", ".join([name, *(f'"{word}"' for word in words)])
                     for name, *words in found if len(words) == 1 + count]
            list_of = "".join(f" \\\n    X({call})" for call in calls)
            file.write(f"#define OPERATIONS_OF_{count}(X){list_of}\n")


if __name__ == "__main__":
    main()
