#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rule is silent on a clean tree and finds each planted fault, at its line."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import format  # noqa: E402
import planted  # noqa: E402
from style import RULES  # noqa: E402


def write(root, path, content):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())


def lines_found(rule, root):
    """(file, line) of what the rule reports; None when it cannot run here."""
    try:
        return [(finding.path, finding.line) for finding in RULES[rule](root)[2]]
    except format.Skip as reason:
        print(f'{rule}: not tried, {reason}')
        return None


def fails_with(fault):
    """Plants one fault in a tree of its own; what is wrong with the rule's answer, or None."""
    rule, path, content, line = fault
    with tempfile.TemporaryDirectory() as root:
        for name, text in planted.CLEAN.items():
            write(root, name, text)
        clean = lines_found(rule, root)
        write(root, path, content)
        found = lines_found(rule, root)
    expected = [(path, line)] if line else []
    if clean is None:
        return None
    if clean:
        return f'{rule} finds {clean} in a tree without faults'
    if found != expected:
        return f'{rule} finds {found}, not {expected}, with this in {path}:\n{content!r}'
    return None


def main():
    wrong = [answer for answer in map(fails_with, planted.FAULTS) if answer]
    untried = set(RULES) - {fault[0] for fault in planted.FAULTS if fault[3]}
    wrong += [f'no fault is planted for the rule {rule}' for rule in sorted(untried)]
    for answer in wrong:
        print(answer)
    print(f'{len(planted.FAULTS)} trees, {len(wrong)} wrong answers')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
