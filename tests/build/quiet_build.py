#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quiet_build.py ROOT: what scripts/common.sh shows of a build, on a terminal and elsewhere, with
Ninja and rules that compile nothing, and of a command that is silent where it works; and that a
build folder outlives options that Meson refuses."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import on_terminal  # noqa: E402

STEPS = 8
RULES = "rule run\n  command = $do\n"
BUILD = ". \"$0\"; build=$1; shift; build_quietly \"$@\""
COLUMNS = 60
CONFIGURE = ". \"$0\"; root=$1; build=$1/build; shift; setup_quietly \"$@\""
PROJECT = {"meson.build": "project('p')\nif get_option('lacking')\n  error('no toolkit')\nendif\n",
           "meson_options.txt": "option('lacking', type: 'boolean', value: false)\n"}


def shell(root, script, *words, terminal=False):
    """Exit status, and what stderr and stdout show."""
    command = ["sh", "-c", script, f"{root}/scripts/common.sh", *words]
    if not terminal:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               check=False)
        return ended.returncode, ended.stdout
    seen, _, status = on_terminal.run(command, COLUMNS, ["stdin", "stdout", "stderr"])
    return status, seen.replace("\r\n", "\n")


def rules(folder, commands):
    lines = [f"build t{i}: run\n  do = {command}\n" for i, command in enumerate(commands)]
    names = " ".join(f"t{i}" for i in range(len(commands)))
    text = RULES + "".join(lines) + f"build all: phony {names}\n"
    (folder / "build.ninja").write_text(text, encoding="utf-8")
    for left in folder.glob("t*"):
        left.unlink()


def screen(seen):
    """The lines that stay on a terminal."""
    return [line.split("\r")[-1].rstrip() for line in seen.split("\n") if line.strip()]


def check(holds, what, seen):
    if not holds:
        sys.exit(f"FAILED: {what}; it shows {seen!r}")


def refused_options(root, folder):
    for name, text in PROJECT.items():
        (folder / name).write_text(text, encoding="utf-8")
    check(shell(root, CONFIGURE, folder) == (0, ""), "a build is set up in silence", "")
    status, seen = shell(root, CONFIGURE, folder, "-Dlacking=true")
    check(status == 1 and "no toolkit" in seen and seen.endswith("tern: meson fails\n"),
          "why Meson fails", seen)
    seen = shell(root, CONFIGURE, folder)
    check(seen == (0, ""), "the refused option is forgotten", seen)


def main(root):
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        works = [f"sleep 0.4; echo a warning of step {i}; touch t{i}" for i in range(STEPS)]
        rules(folder, works)
        status, seen = shell(root, BUILD, work, "-j1", "all")
        lines = seen.splitlines()
        check(status == 0 and len(lines) <= 5 and "warning" not in seen, "a few plain lines", seen)
        left = "tern: building, 75 %, about [1-9] s left"
        check(re.fullmatch(left, lines[-2]), "quarters", seen)
        check(re.fullmatch(r"tern: built in \d s", lines[-1]), "the end", seen)
        check(shell(root, BUILD, work, "all") == (0, ""), "nothing to do, nothing to say", seen)

        rules(folder, works)
        status, seen = shell(root, BUILD, work, "-j1", "all", terminal=True)
        drawn = [line.rstrip() for line in re.split("[\r\n]+", seen)]
        check(status == 0 and re.fullmatch(r"tern: built in \d s", "".join(screen(seen))),
              "one line is left", seen)
        check(all(len(line) < COLUMNS for line in drawn), "a line wraps", drawn)
        check(any(re.fullmatch(left, line) for line in drawn), "the time left", drawn)

        rules(folder, [*works[:2], "echo t.c:1: error: no such thing; false"])
        status, seen = shell(root, BUILD, work, "-j1", "all")
        check(status == 1 and "\nt.c:1: error: no such thing\n" in seen and "FAILED: t2" in seen,
              "an error in full", seen)

        refused_options(root, folder)

    check(shell(root, ". \"$0\"; quietly sh -c 'echo said; echo more >&2'") == (0, ""),
          "what works is silent", "")
    seen = shell(root, ". \"$0\"; quietly sh -c 'echo said; echo more >&2; exit 3'")
    check(seen == (3, "said\nmore\n"), "what fails is not", seen)
    return 0


sys.exit(main(Path(sys.argv[1])))
