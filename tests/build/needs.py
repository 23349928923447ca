# SPDX-License-Identifier: Apache-2.0
"""needs.py BUILD: every built file that the command or the environment of a test names is made
before the test runs, also by `meson test --suite`, because it depends on it."""
import json
import os
import re
import sys


def read(build, what):
    with open(os.path.join(build, 'meson-info', f'intro-{what}.json'), encoding='utf-8') as file:
        return json.load(file)


def main(build):
    files = {target['id']: target['filename'] for target in read(build, 'targets')}
    built = {path for paths in files.values() for path in paths}
    named, missing = 0, []
    for test in read(build, 'tests'):
        ready = {path for target in test['depends'] for path in files[target]}
        words = ' '.join([*test['cmd'], *test['env'].values()])
        for path in built.intersection(re.findall(re.escape(build) + r'[^\s:]*', words)):
            named += 1
            if path not in ready:
                missing.append(f"{test['name']} names {path} and does not depend on it")
    print(*missing, f'{named} files are named', sep='\n')
    return 1 if missing or named < 100 else 0


sys.exit(main(sys.argv[1]))
