# SPDX-License-Identifier: Apache-2.0
"""C files are as clang-format 14 and .clang-format write them: other versions write otherwise."""
import os
import re
import shutil
import subprocess

from tree import Finding, c_sources

VERSION = 14


class Skip(Exception):
    """The rule cannot be checked here; says why."""


def find_clang_format():
    for name in (f'clang-format-{VERSION}', 'clang-format'):
        path = shutil.which(name)
        if not path:
            continue
        words = subprocess.run([path, '--version'], capture_output=True, text=True, check=True)
        version = re.search(r'version (\d+)', words.stdout)
        if version and int(version.group(1)) == VERSION:
            return path
    raise Skip(f'clang-format {VERSION} is not here')


def check(root):
    program = find_clang_format()
    paths = [source.path for source in c_sources(root)]
    command = [program, '--dry-run', '--style=file', '--ferror-limit=1', *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True,
                          env={**os.environ, 'LC_ALL': 'C'}, check=False)
    findings = [Finding(path, int(line), 'clang-format writes this otherwise: clang-format -i')
                for path, line in re.findall(r'^(\S+?):(\d+):\d+: (?:warning|error)', done.stderr,
                                             re.M)]
    if done.returncode and not findings:
        raise RuntimeError(done.stderr)
    return f'{len(paths)} files', len(paths), findings
