#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A guide shows what is compiled, and what the library really says.

    guide.py ROOT GUIDE [PROGRAM...]
    guide.py ROOT GUIDE --fill     # writes the regions, as they are now, into the guide's blocks

Every ```c, ```cpp and ```python block follows a comment that names where it is from:
<!-- FILE#REGION --> is what FILE has between the lines "// [REGION]" and "// [/REGION]";
<!-- FILE --> is some lines of FILE. The indentation that all lines have in common does not count.
Every line of a ```text block, and every
`tern: sentence`, is a line that a PROGRAM prints; one that ends in "..." stands for any that begins
so; of "  at FUNCTION (FILE:LINE)" the last part of FILE is compared. Links lead to files that are
there; every tern_name and TERN_NAME is one of the sources. A function that a block from
docs/snippets calls is tern's, C's, one of the page's blocks, or named in its text: a reader has
nothing else.
"""
import functools
import re
import subprocess
import sys
import textwrap
from pathlib import Path

FENCE = re.compile(r"^\s*```(.*)$")
SOURCE = re.compile(r"^<!-- ([^ #;]+)(?:#([a-z0-9_]+))?\b.*-->$")
SENTENCE = re.compile(r"`(tern: [^`]+)`")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
FOLDERS = re.compile(r"\((?:[^()]*/)(?=[^/()]+:\d+\)$)")
NAME = re.compile(r"\b(?:tern_|TERN_)\w+\*?")
CALL = re.compile(r"(?<![\w.>])([a-z_]\w*)\(")
DECLARED = re.compile(r"^[a-z][\w *]*?\b(\w+)\(|\(\*(\w+)\)", re.M)
NOT_CODE = re.compile(r'"(?:\\.|[^"\\])*"|//.*')
STANDARD = set("""assert calloc cosh exp fabs fclose fmax fopen for fprintf fputs free fscanf if
    isnan log malloc memcmp memcpy memset printf pthread_create pthread_join puts
    rand return sizeof snprintf sqrt srand sscanf strchr strcmp strdup strlen
    strncmp strstr switch tanh while""".split())
COMPILED = ("c", "cpp", "python")
LANGUAGES = (*COMPILED, "text", "sh", "meson", "cmake", "ini")


def blocks(lines):
    """(line number of the fence, language, the line before it, text) of each block."""
    found, start = [], None
    for number, line in enumerate(lines):
        fence = FENCE.match(line)
        if not fence:
            continue
        if start is None:
            start = number
        else:
            found.append((start + 1, FENCE.match(lines[start]).group(1), lines[start - 1],
                          lines[start + 1:number]))
            start = None
    if start is not None:
        sys.exit(f"the block of line {start + 1} does not end")
    return found


def plain(lines):
    return textwrap.dedent("\n".join(lines)).strip("\n").split("\n")


def region(lines, name):
    marks = [i for i, line in enumerate(lines) if line.strip() in (f"// [{name}]", f"// [/{name}]")]
    return lines[marks[0] + 1:marks[1]] if len(marks) == 2 else None


def is_in(block, lines):
    return any(plain(lines[i:i + len(block)]) == block for i in range(len(lines)))


def check_c(root, where, block):
    source = SOURCE.match(where)
    if not source:
        return "does not say where it is from"
    path, name = root / source.group(1), source.group(2)
    if not path.is_file():
        return f"is from {path}, which is not there"
    lines = path.read_text().split("\n")
    if not name:
        return None if is_in(plain(block), lines) else f"is not in {path}"
    shown = region(lines, name)
    if shown is None:
        return f"is from {path}, which has no region {name}"
    return None if plain(shown) == plain(block) else f"is not the region {name} of {path}"


def of_now(lines, number):
    """A line, without its first cell in a table of names `| before | now |`."""
    first = number
    while first > 0 and lines[first - 1].startswith("|"):
        first -= 1
    old = lines[first].strip() == "| before | now |"
    return "|".join(lines[number].split("|")[2:]) if old else lines[number]


def unknown_calls(lines, found):
    """(line number of its fence, name) of each call of a snippet that the page does not explain."""
    code = [(start, NOT_CODE.sub("", "\n".join(text)), before)
            for start, language, before, text in found if language == "c"]
    declared = {name for _, text, _ in code for pair in DECLARED.findall(text) for name in pair}
    named = set(re.findall(r"`(\w+)(?:\(\))?`", "\n".join(lines)))
    for start, text, before in code:
        if "docs/snippets/" in before:
            yield from ((start, name) for name in dict.fromkeys(CALL.findall(text))
                        if not name.startswith("tern_") and name not in STANDARD | declared | named)


def said(lines, found):
    """(line number, line) of all that the program must print."""
    for start, language, _, text in found:
        if language == "text":
            yield from ((start + 1 + i, line) for i, line in enumerate(text))
    for number, line in enumerate(lines):
        for sentence in SENTENCE.findall(line):
            yield number + 1, sentence


def is_printed(line, output):
    """The folders of a file are those of a build: only its name counts. Without libdw there are no
    lines to compare."""
    if line.startswith("  at "):
        if any("(install libdw to see" in printed for printed in output):
            return True
        output = [FOLDERS.sub("(", printed) for printed in output]
    if line.endswith("..."):
        return any(printed.startswith(line[:-3]) for printed in output)
    return line in output


@functools.lru_cache(maxsize=None)
def sources(root):
    folders = ("include", "src", "tests", "examples", "tools", "docs/snippets", "bench")
    files = [p for f in folders for p in (root / f).rglob("*.[ch]")]
    files += [p for end in ("cu", "def") for p in (root / "src").rglob(f"*.{end}")]
    files += [root / "README.md", root / "meson_options.txt"]
    files += [p for p in (root / "src").rglob("meson.build")]
    files += [p for p in (root / "scripts").glob("*.sh")]
    return {word for p in files for word in re.findall(r"\w+", p.read_text())}


def known(root, name):
    if name.endswith("*"):
        return any(word.startswith(name[:-1]) for word in sources(root))
    return name in sources(root)


def run(program):
    """Its exit status and the lines that it prints."""
    ended = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    return ended.returncode, [line.rstrip() for line in ended.stdout.split("\n")]


def problems(root, guide, programs):
    lines = guide.read_text().split("\n")
    found = blocks(lines)
    for start, language, before, text in found:
        if language not in LANGUAGES:
            yield start, f"is a block of the language '{language}'"
        wrong = check_c(root, before, text) if language in COMPILED else None
        if wrong:
            yield start, wrong
    for start, name in unknown_calls(lines, found):
        yield start, f"calls {name}, which nothing on the page declares"
    output = []
    for program in programs:
        status, printed = run(program)
        output += printed
        if status:
            yield 0, f"{program} ends with {status}:\n" + "\n".join(printed)
    for number, line in said(lines, found):
        if not is_printed(line.rstrip(), output):
            yield number, f"is not printed by {' or '.join(programs)}: {line}"
    inside = {number for start, _, _, text in found for number in range(start, start + len(text))}
    for number, line in enumerate(lines):
        for link in LINK.findall(line) if number not in inside else ():
            if "://" not in link and not (guide.parent / link).exists():
                yield number + 1, f"leads nowhere: {link}"
        for name in NAME.findall(of_now(lines, number)):
            if not known(root, name):
                yield number + 1, f"names {name}, which does not exist"


def fill(root, guide):
    lines = guide.read_text().split("\n")
    for start, language, before, text in reversed(blocks(lines)):
        source = SOURCE.match(before)
        if language == "c" and source and source.group(2):
            shown = region((root / source.group(1)).read_text().split("\n"), source.group(2))
            lines[start:start + len(text)] = plain(shown)
    guide.write_text("\n".join(lines))


def main():
    root, guide = Path(sys.argv[1]), Path(sys.argv[2])
    if sys.argv[3:] == ["--fill"]:
        return fill(root, guide)
    wrong = list(problems(root, guide, sys.argv[3:]))
    for number, what in wrong:
        print(f"{guide.name}:{number}: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
