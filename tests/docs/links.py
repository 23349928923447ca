#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py FOLDER: the pages of a site lead to pages and anchors that are there, and load nothing
from elsewhere. Ends with 0 or 1."""
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get(LOADS.get(tag)):
            self.loads.append(found[LOADS[tag]])


def wrong_in(path, page, pages):
    for link in page.links + page.loads:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            if link in page.loads and parts.scheme != "data":
                yield f"loads {link}"
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            yield f"leads nowhere: {link}"
        elif parts.fragment and target in pages:
            if unquote(parts.fragment) not in pages[target].anchors:
                yield f"has no anchor: {link}"


def main(folder):
    pages = {path.resolve(): Page(path) for path in sorted(Path(folder).rglob("*.html"))}
    wrong = [f"{path.relative_to(Path(folder).resolve())} {what}"
             for path, page in pages.items() for what in wrong_in(path, page, pages)]
    styles = [path for path in Path(folder).rglob("*.css")
              if "url(http" in path.read_text(encoding="utf-8")]
    wrong += [f"{path} loads from elsewhere" for path in styles]
    links = sum(len(page.links) for page in pages.values())
    print("\n".join(wrong))
    print(f"{len(pages)} pages, {links} links, {len(wrong)} of them wrong")
    return 1 if wrong or links < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
