# SPDX-License-Identifier: Apache-2.0
"""The public headers as pages: what describe.py reads of each, in the order of the header, with the
header's opening, its sections and the lines of its comments."""
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import describe  # noqa: E402

OPENING = re.compile(r"^/// @file\n((?:^///.*\n)*)", re.M)
SECTION = re.compile(r"^// ---- (.*?)[ -]*\n", re.M)
PROSE = re.compile(r"^((?:^//(?: (?!----|SPDX|clang-format).*)?\n)+)\n?(?=///|TERN_API)", re.M)
MACRO = re.compile(r"(?P<doc>(?:^///(?!<).*\n)+)^#define (?P<name>(?:tern|TERN)_\w*[A-Za-z0-9])"
                   r"(?P<words>\([^)]*\))?[ \\\n]+(?P<body>(?:.*\\\n)*.*)", re.M)
INLINE = re.compile(r"(?P<doc>(?:^///(?!<).*\n)+)^static inline (?P<code>[^;{]*\))\n\{", re.M)
INNER = re.compile(r"_guard_(?:[a-z]+_)?$")  # what only a macro uses


@dataclass
class Part:
    """One thing of a page: `kind` is section, prose, macro, call, or one of describe.py's."""
    kind: str
    name: str
    lines: list  # of the comment
    item: dict = field(default_factory=dict)


@dataclass
class Header:
    path: str  # below include/tern
    opening: list
    parts: list
    structs: dict  # of all headers

    @property
    def subject(self):
        """The first paragraph of the opening, as one line."""
        return " ".join("\n".join(self.opening).split("\n\n")[0].split())


def comment_lines(comment):
    """The lines of a comment of /// or //, or of ///< behind a declaration."""
    return [re.sub(r"^\s*///?<? ?", "", line).rstrip() for line in comment.strip().split("\n")]


def read_items(text):
    """(place, Part) of every declaration."""
    for match in describe.ITEM.finditer(text):
        found = {kind: [] for kind in describe.KINDS}
        describe.read_item(found, match, "")
        for kind, items in found.items():
            for item in items:
                yield match.start(), Part(kind, item["name"],
                                          comment_lines(match["doc"] or match["tail"]), item)


def read_others(text):
    """(place, Part) of what describe.py passes over: sections, prose between declarations, and
    macros and inline functions with a comment."""
    for match in SECTION.finditer(text):
        yield match.start(), Part("section", match[1], [])
    for match in PROSE.finditer(text):
        yield match.start(), Part("prose", "", comment_lines(match[1]))
    for match in INLINE.finditer(text):
        item = describe.function(f"TERN_API {match['code']};", "", "")
        yield match.start(), Part("functions", item["name"], comment_lines(match["doc"]), item)
    for match in MACRO.finditer(text):
        yield match.start(), Part("macro", match["name"], comment_lines(match["doc"]),
                                  {"words": match["words"] or "", "body": match["body"]})


def with_calls(parts, calls):
    """A call is one part in the place of its function; the first of a family has its names."""
    by_name = {call["name"]: call for call in calls}
    of_families = {call[name] for call in calls for name in ("defaults", "options")}
    functions = {part.name for part in parts if part.kind == "functions"}
    seen = set()
    for part in parts:
        name = part.name.removesuffix("_with")
        if part.name == name + "_with" and name in by_name:
            call = by_name[name]
            yield Part("call", name, part.lines,
                       {**part.item, **call, "first": call["options"] not in seen})
            seen.add(call["options"])
        elif part.name in of_families:
            continue
        elif part.kind == "macro" and part.name in functions | set(by_name):
            continue  # the function, with numbers of any C type
        else:
            yield part


def once(parts):
    """Of both sides of an #if the first, of a struct the one with fields."""
    parts = list(parts)
    seen = {("opaque", part.name) for part in parts if part.kind == "structs"}
    for part in parts:
        key = (part.kind, part.name)
        if part.name and key in seen or INNER.search(part.name):
            continue
        seen.add(key)
        yield part


def read(path, name, macros, structs):
    text = describe.CPP.sub("", path.read_text(encoding="utf-8"))
    found = {kind: [] for kind in describe.KINDS}
    describe.read_header(found, path, macros)
    placed = sorted([*read_items(text), *read_others(text)], key=lambda each: each[0])
    parts = list(with_calls(list(once(part for _, part in placed)), found["calls"]))
    opening = OPENING.search(text)
    return Header(name, comment_lines(opening[1]) if opening else [], parts, structs)


def read_all(folder):
    """Every header below include/tern by its path."""
    paths = sorted(Path(folder).rglob("*.h"))
    names = [path.relative_to(folder).as_posix() for path in paths]
    macros = describe.macros_of(paths)
    found = describe.described(folder, "")
    structs = {struct["name"]: struct for struct in found["structs"]}
    structs.update({alias["name"]: structs[alias["type"]] for alias in found["aliases"]
                    if alias["type"] in structs})
    return {name: read(path, name, macros, structs) for path, name in zip(paths, names)}
