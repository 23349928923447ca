#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the site are made from the tree, without Sphinx, and nothing is left out.

    site.py ROOT

Every function and call that describe.py finds has an entry, once; every constructor has an example
of at most three lines; every guide and example has a page, every example its recorded output; links
between pages lead to files.
"""
import re
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

ROOT = Path(sys.argv[1]).resolve()
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "docs")]
import describe  # noqa: E402
import gallery  # noqa: E402
import generate  # noqa: E402

ENTRY = re.compile(r"^::::\{(\w+)\} (.*)\n(?::also: (.*)\n)?", re.M)
NAME = re.compile(r"(?:.*?)(\w+)(?:\(.*\))?$")
CODE = re.compile(r"^(`{3,}).*?^\1|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(?:#[^)\s]*)?\)")
MOST_LINES = 3


def entries(folder):
    """Each name of an entry, as often as it is there."""
    for path in sorted((folder / "reference").rglob("*.md")):
        for _, signature, also in ENTRY.findall(path.read_text(encoding="utf-8")):
            yield NAME.match(signature)[1]
            yield from also.split()


def constructors(found):
    calls = {call["name"] for call in found["calls"]}
    return calls | {item["name"] for item in found["functions"]
                    if item.get("owner") == "caller" and not item["name"].endswith("_with")}


def wrong_entries(found, folder):
    shown = list(entries(folder))
    wanted = {item["name"] for kind in ("functions", "calls", "structs", "enums", "callbacks")
              for item in found[kind] if not re.search("_guard_", item["name"])}
    if len(wanted) < 500:
        yield f"only {len(wanted)} names were found in the headers: are they read rightly?"
    yield from (f"{name} has no entry" for name in sorted(wanted - set(shown)))
    yield from (f"{name} has {shown.count(name)} entries" for name in sorted(set(shown))
                if shown.count(name) > 1)


def wrong_examples(found, folder):
    examples = generate.read_examples(ROOT)
    known = {item["name"] for kind in ("functions", "calls") for item in found[kind]}
    text = "".join(path.read_text(encoding="utf-8")
                   for path in (folder / "reference").rglob("*.md"))
    yield from (f"{name} has no example in docs/snippets/reference"
                for name in sorted(constructors(found) - set(examples)))
    for name, lines in examples.items():
        if name not in known and f"{{macro}} {name}" not in text:
            yield f"the example {name} is of no function"
        if len(lines) > MOST_LINES:
            yield f"the example {name} has {len(lines)} lines, more than {MOST_LINES}"
        if name not in "\n".join(lines):
            yield f"the example {name} does not call it"
        if "\n".join(line[4:] for line in lines) not in text:
            yield f"the example {name} is on no page"


def wrong_pages(folder):
    for path in sorted((ROOT / "docs").glob("*.md")):
        if path.name not in ("README.md", "reference.md") and not (folder / "guides" /
                                                                   path.name).exists():
            yield f"docs/{path.name} has no page"
    for name in gallery.EXAMPLES:
        if not gallery.output_of(ROOT, name):
            yield f"the output of {name} is not recorded: docs/site/record.py"
        if not (folder / f"examples/{name}.md").exists():
            yield f"the example {name} has no page"


def wrong_links(folder):
    for path in sorted(folder.rglob("*.md")):
        for link in LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
            where = folder / link[1:] if link.startswith("/") else path.parent / link
            if not where.exists():
                yield f"{path.relative_to(folder)} leads nowhere: {link}"


def main():
    found = describe.described(ROOT / "include/tern", "")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "source"
        generate.main(ROOT, folder)
        wrong = [*wrong_entries(found, folder), *wrong_examples(found, folder),
                 *wrong_pages(folder), *wrong_links(folder)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
