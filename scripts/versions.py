#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The version, in each file that names it, and the notes of a release.

    versions.py check ROOT                 all name the same
    versions.py set ROOT VERSION DAY       writes VERSION, released on DAY (2030-01-31), into all
    versions.py notes ROOT VERSION         prints the section of CHANGELOG.md
"""
import re
import sys
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

VERSION = re.compile(r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}")
# In each file the first match is what is meant.
PLACES = {
    "meson.build": r"^ *version: '([^']+)',$",
    "CITATION.cff": r"^version: (.+)$",
    "CHANGELOG.md": r"^## \[(\d[^\]]*)\]",
    "debian/changelog": r"\Atern \((\d[^)]*)-\d+\) ",
}
HEADER = "include/tern/base.h"
NUMBERS = r"^(#define TERN_VERSION_{} )(\d+)$"
PARTS = ("MAJOR", "MINOR", "PATCH")
PACKAGE = re.compile(r"^Package: libtern(\d\S*)$", re.M)
SIGNED = " -- The tern authors <tern@example.org>  "


def abi(version):
    """As meson.build has it: until 1.0 every minor version has one of its own."""
    major, minor, _ = version.split(".")
    return f"0.{minor}" if major == "0" else major


def header_version(text):
    found = [re.search(NUMBERS.format(part), text, re.M) for part in PARTS]
    return ".".join(match.group(2) if match else "?" for match in found)


def versions(root):
    """{path: the version that it names, or None}"""
    found = {}
    for path, pattern in PLACES.items():
        match = re.search(pattern, (root / path).read_text(encoding="utf-8"), re.M)
        found[path] = match.group(1) if match else None
    found[HEADER] = header_version((root / HEADER).read_text(encoding="utf-8"))
    return found


def check(root):
    found = versions(root)
    version = found["meson.build"]
    wrong = [f"{path}: {other}, and meson.build says {version}"
             for path, other in found.items() if other != version]
    if not version or not VERSION.fullmatch(version):
        return wrong + [f"meson.build: {version} is no version"]
    package = PACKAGE.search((root / "debian/control").read_text(encoding="utf-8"))
    named = package.group(1) if package else None
    if named != abi(version):
        wrong.append(f"debian/control: the package of the library is libtern{named}, and the "
                     f"soname is libtern.so.{abi(version)}: rename the package and its files")
    return wrong


def notes(root, version):
    """The section of a version, without its heading; None where there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return section.group(1).strip("\n") if section and section.group(1).strip() else None


def replaced(pattern, by, text):
    text, count = re.subn(pattern, by, text, count=1, flags=re.M)
    if not count:
        sys.exit(f"nothing is like {pattern}")
    return text


def debian(text, version, day):
    """The newest entry is for this version, and for unstable."""
    when = datetime.fromisoformat(day).replace(hour=12, tzinfo=timezone.utc)
    if not text.startswith(f"tern ({version}-"):
        text = (f"tern ({version}-1) unstable; urgency=medium\n\n"
                f"  * CHANGELOG.md says what is new.\n\n{SIGNED}now\n\n") + text
    text = replaced(r"\A(tern \(\S+\)) \w+;", r"\1 unstable;", text)
    return replaced(r"^( -- .*  ).*$", rf"\g<1>{format_datetime(when)}", text)


def header(text, version, _):
    for part, number in zip(PARTS, version.split(".")):
        text = replaced(NUMBERS.format(part), rf"\g<1>{number}", text)
    return text


def citation(text, version, day):
    text = re.sub(r"^date-released: .*\n", "", text, flags=re.M)
    return replaced(PLACES["CITATION.cff"], f"version: {version}\ndate-released: {day}", text)


WRITERS = {
    "meson.build": lambda text, version, _: replaced(r"^( *version: )'[^']+',$",
                                                     rf"\1'{version}',", text),
    "CITATION.cff": citation,
    "CHANGELOG.md": lambda text, version, day: replaced(
        rf"^## \[{re.escape(version)}\].*$", f"## [{version}] - {day}", text),
    "debian/changelog": debian,
    HEADER: header,
}


def write(root, version, day):
    written = {path: writer((root / path).read_text(encoding="utf-8"), version, day)
               for path, writer in WRITERS.items()}
    for path, text in written.items():
        (root / path).write_text(text, encoding="utf-8")


def main(what, root, *words):
    root = Path(root)
    if what == "check":
        wrong = check(root)
        print("\n".join(wrong) or f"{len(PLACES) + 1} files name the version")
        return 1 if wrong else 0
    if not VERSION.fullmatch(words[0]):
        sys.exit(f"{words[0]} is no version; 0.1.0 is one")
    if what == "set":
        write(root, *words)
        return 0
    section = notes(root, words[0])
    print(section or f"CHANGELOG.md has no section [{words[0]}], or it is empty")
    return 0 if section else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
