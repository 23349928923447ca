#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""style.py RULE [ROOT]: holds the tree below ROOT to one rule. Ends with 0, 1, or 77 for a skip."""
import os
import sys

sys.dont_write_bytecode = True

import arrows  # noqa: E402
import circles  # noqa: E402
import documented  # noqa: E402
import editorconfig  # noqa: E402
import format  # noqa: E402
import leftovers  # noqa: E402
import licence  # noqa: E402
import own_headers  # noqa: E402
import places  # noqa: E402
import process  # noqa: E402
import sizes  # noqa: E402
import words  # noqa: E402

RULES = {
    'arrows': arrows.check,
    'calls': arrows.check_calls,
    'circles': circles.check,
    'documented': documented.check,
    'editorconfig': editorconfig.check,
    'ends': process.check_ends,
    'families': places.check_families,
    'format': format.check,
    'homes': places.check_homes,
    'intrinsics': leftovers.check_intrinsics,
    'leftovers': leftovers.check_leftovers,
    'licence': licence.check,
    'own_headers': own_headers.check,
    'prints': process.check_prints,
    'sizes': sizes.check,
    'switches': leftovers.check_switches,
    'words': words.check,
}


def main(arguments):
    if not arguments or arguments[0] not in RULES:
        print(f'usage: style.py RULE [ROOT], the rules being {", ".join(RULES)}')
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    root = arguments[1] if len(arguments) > 1 else os.path.join(here, '..', '..')
    try:
        what, count, findings = RULES[arguments[0]](root)
    except format.Skip as reason:
        print(f'skipped: {reason}')
        return 77
    for finding in findings:
        print(f'{finding.path}:{finding.line}: {finding.text}')
    print(f'{arguments[0]}: {what}, {len(findings)} faults')
    return 1 if findings or not count else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
