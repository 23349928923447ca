# SPDX-License-Identifier: Apache-2.0
"""Words of the headers' comments as Markdown."""
import re

import formulas

WORD = re.compile(r"(`[^`]*`)|(\b(?:tern|TERN)_\w*\w(?:\*|\([^()]*\))?|\b_[A-Z]+\b|\*\w*_\w+"
                  r"|\b[a-z_]+(?:/[a-z_]+)?\.h\b)")
SPECIAL = re.compile(r"([\\*_<>\[\]|$#])")
LIST = re.compile(r"(?:\d+\.|-) ")


def named(text):
    """Names of the library as code, what Markdown would take for its own escaped."""
    parts, at = [], 0
    for match in WORD.finditer(text):
        parts += [SPECIAL.sub(r"\\\1", text[at:match.start()]), match[1] or f"`{match[2]}`"]
        at = match.end()
    return "".join(parts) + SPECIAL.sub(r"\\\1", text[at:])


def inline(text):
    """One line: formulas for MathJax, and names as code."""
    parts, at = [], 0
    for begin, end, tex in formulas.find(text):
        if text[:begin].count("`") % 2 == 0:  # not in code
            parts += [named(text[at:begin]), f"{{math}}`{tex}`"]
            at = end
    return "".join(parts) + named(text[at:])


def cell(text):
    """One cell of a table."""
    return inline(text).replace("`|`", "`\\|`")


def code(lines, language="c"):
    """A block, without the indentation that all its lines have in common."""
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([f"```{language}", *(line[indent:] for line in lines), "```"])


def blocks(lines):
    """The comment's paragraphs, each a list of lines."""
    block = []
    for line in [*lines, ""]:
        is_code = line.startswith("    ")
        if block and (not line or is_code != block[0].startswith("    ")
                      or LIST.match(line)):
            yield block
            block = []
        if line:
            block.append(line)


def markdown(lines):
    """A comment as paragraphs, lists and blocks of C."""
    found = []
    for block in blocks(lines):
        if block[0].startswith("    "):
            if found and found[-1].startswith("```"):  # one program with an empty line
                found[-1] = found[-1][:-3] + "\n" + code(block)[5:]
            else:
                found.append(code(block))
            continue
        mark = LIST.match(block[0])
        words = inline(" ".join(line.strip() for line in block)[mark.end() if mark else 0:])
        words = re.sub(r"^([+-])", r"\\\1", words)
        found.append((mark[0] if mark else "") + words)
    return "\n\n".join(found)
