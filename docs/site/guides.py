# SPDX-License-Identifier: Apache-2.0
"""Guides and other pages of Markdown, with their links as the site has them."""
import os
import posixpath
import re

LINKS = re.compile(r"(^```.*?^```|`[^`\n]*`)"
                   r"|(!?\[(?:`[^`]*`|[^\[\]`])*\])\(([^()\s]+)\)", re.M | re.S)
CHART = "## Training steps\n\n![Training steps](speed.svg)\n"
FOLDERS = {"examples": "examples/index.md", "docs": "index.md"}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python", ".sh": "sh"}


class Site:
    """Which page shows a file of the tree."""

    def __init__(self, root, target):
        self.root, self.target = root, target
        self.pages = {}  # a file of the tree: its page
        self.gallery = {}  # an example, by what stands behind examples/: its page
        self.sources = set()  # files that have a page because a guide leads to them

    def write(self, page, text):
        path = self.target / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def page_of(self, path):
        """The page for a file or folder of the tree, None where there is none."""
        if path in self.pages:
            return self.pages[path]
        if path in FOLDERS:
            return FOLDERS[path]
        if path.startswith("include/tern/"):
            return "reference/" + path[len("include/tern/"):].removesuffix(".h") + ".md"
        if path.startswith("examples/") and path.split("/")[1] in self.gallery:
            return self.gallery[path.split("/")[1]]
        if (self.root / path).is_file():
            self.sources.add(path)
            return f"sources/{path}.md"
        return None

    def image(self, path):
        place = f"images/{posixpath.basename(path)}"
        self.write(place, (self.root / path).read_text(encoding="utf-8"))
        return place

    def relinked(self, text, path, page):
        """The text of the file `path` with links as `page` needs them."""
        def relink(match):
            if match[1]:
                return match[0]
            link, _, anchor = match[3].partition("#")
            if "://" in link or not link:
                return match[0]
            where = posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
            found = self.image(where) if match[2].startswith("!") else self.page_of(where)
            if not found:
                return match[2][1:-1]
            text = "[]" if match[2] == f"[{link}]" else match[2]  # of a page: its title
            relative = os.path.relpath(found, posixpath.dirname(page) or ".")
            return f"{text}({relative}{'#' + anchor if anchor else ''})"
        return LINKS.sub(relink, text)

    def add_guide(self, path):
        page = self.pages[path]
        text = (self.root / path).read_text(encoding="utf-8")
        if path == "docs/speed.md":
            text = text.replace("## Training steps\n", CHART, 1)
        self.write(page, self.relinked(text, path, page))

    def add_sources(self):
        for path in sorted(self.sources):
            text = (self.root / path).read_text(encoding="utf-8")
            language = LANGUAGES.get(posixpath.splitext(path)[1], "text")
            fence = "`" * 4
            self.write(f"sources/{path}.md", f"---\norphan: true\n---\n# {path}\n\n"
                       f"{fence}{language}\n{text}{fence}\n")
