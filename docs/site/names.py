# SPDX-License-Identifier: Apache-2.0
"""What a name of tern is called in PyTorch, as docs/differences-from-pytorch.md has it."""
import re

ROW = re.compile(r"^\| (.*) \| (.*) \|$", re.M)
CODE = re.compile(r"`([^`]+)`")
OURS = re.compile(r"^tern_\w+")
PREFIX = re.compile(r"^(nn|F|optim|cuda|datasets)\.(?=\w)")


def theirs_of(cell):
    """`nn.Conv1d`, `Conv2d`: the prefix of the first holds for those that have none, and so does
    the class before a colon. What stands in parentheses is an option."""
    cell = re.sub(r" \(`[^`]*`\)", "", cell)
    of_class = re.match(r"`([\w.]+)`: ", cell)
    if of_class:
        return [f"{of_class[1]}.{name}" for name in CODE.findall(cell[of_class.end():])]
    found, prefix = [], ""
    for name in CODE.findall(cell):
        match = PREFIX.match(name)
        prefix = match[0] if match else prefix
        if re.match(r"\dd$", name):  # `nn.BatchNorm1d`, `2d`
            name = found[-1][:-2] + name
        elif not match and re.fullmatch(r"\w*[a-zA-Z0-9]", name):
            name = prefix + name
        found.append(name)
    return found


def pairs_of(theirs, ours):
    """(PyTorch's names, tern's name): one beside one where there are as many, else all."""
    ours = [match[0] for name in CODE.findall(ours) if (match := OURS.match(name))]
    ours = list(dict.fromkeys(ours))
    alike = len(theirs) == len(ours)
    for place, name in enumerate(ours):
        yield ([theirs[place]] if alike else theirs), name


def read(text):
    """{tern's name: PyTorch's names}."""
    tables = text.split("\n## Names side by side", 1)[1].split("\n### Only in tern", 1)[0]
    tables = tables.split("\n### What scripts for GPUs also call", 1)[0]
    found = {}
    for left, right in ROW.findall(tables):
        for part in right.split(";"):
            for theirs, name in pairs_of(theirs_of(left), part):
                found.setdefault(name, theirs)
    return found
