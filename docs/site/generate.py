#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of the site, for Sphinx with MyST, from the tree.

    generate.py ROOT FOLDER
"""
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import gallery  # noqa: E402
import headers  # noqa: E402
import names  # noqa: E402
from guides import Site  # noqa: E402
from pages import Page  # noqa: E402

GROUPS = {  # of the reference; a header that is in none is in the last
    "Foundations": ["tern", "base", "error", "scope", "free", "memory", "threads"],
    "Tensors": ["tensor", "dtype", "data_type", "scalar", "random", "generator"],
    "Operations": ["ops", "ops/activation", "ops/conv", "ops/pool", "ops/norm", "ops/dropout",
                   "ops/resize", "ops/shuffle", "ops/sort", "ops/join", "ops/view", "ops/copy",
                   "ops/inplace", "activation", "reduction", "pair"],
    "Autograd, modules": ["autograd", "module"],
    "Layers and losses": ["nn", "nn/linear", "nn/conv", "nn/activation", "nn/norm", "nn/pool",
                          "nn/dropout", "nn/pad", "nn/resize", "nn/shape", "nn/container",
                          "nn/loss"],
    "Networks": ["models"],
    "Optimizers": ["optim"],
    "Data": ["data", "idx"],
    "Saving and loading": ["checkpoint", "state", "io"],
    "Watching runs": ["run"],
    "Devices": ["device", "parallel", "cuda", "cuda_graph"],
    "Other languages": ["cpp"],
}
REGION = re.compile(r"^ *// \[(tern_\w+)\]\n(.*?)^ *// \[/\1\]\n", re.M | re.S)
GUIDE = re.compile(r"^- \[([\w-]+\.md)\]\(\1\)", re.M)
PORTS = "examples/ports/README.md"
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
           "bench/NOTES.md"]


def read_examples(root):
    """{function: the lines of its example}."""
    found = {}
    for path in sorted((root / "docs/snippets/reference").rglob("*.c")):
        for name, lines in REGION.findall(path.read_text(encoding="utf-8")):
            found[name] = lines.rstrip("\n").split("\n")
    return found


def tree_of(pages, caption):
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"])


def guide_groups(root):
    """[(caption, files)] as docs/README.md has them; what it does not list is measured."""
    text = (root / "docs/README.md").read_text(encoding="utf-8")
    parts = re.split(r"^For (.*?)[:;].*\n", text, flags=re.M)
    captions = ("Guides", "Extending", "Adding to tern")
    groups = [(caption, GUIDE.findall(part)) for caption, part in zip(captions, parts[2::2])]
    linked = [link for part in parts[2::2] for link in re.findall(r"\]\(([\w-]+\.md)\)", part)]
    listed = {"README.md", "reference.md", *linked}
    groups[2][1].extend(link for link in linked if all(link not in files for _, files in groups))
    rest = [path.name for path in sorted((root / "docs").glob("*.md")) if path.name not in listed]
    groups = [(caption, [name for name in files if name != "reference.md"])
              for caption, files in groups]
    return groups, rest


def write_reference(site, found):
    pages = {name: Page(header, names.read(
        (site.root / "docs/differences-from-pytorch.md").read_text(encoding="utf-8")),
        read_examples(site.root)) for name, header in found.items()}
    for name, page in pages.items():
        site.write(f"reference/{name.removesuffix('.h')}.md", page.markdown())
    left = {name.removesuffix(".h") for name in found}
    parts = ["# Reference", "Each header is one subject, and its page begins with what holds for "
             "all its calls: who owns what, how calls fail, which threads may call. `tern.h` "
             "includes them all. To be read first: `error.h` and `scope.h`."]
    for caption, members in GROUPS.items():
        members = [name for name in members if name in left]
        left -= set(members)
        if caption == list(GROUPS)[-1]:
            members += sorted(left)
        rows = [f"| [{name}.h]({name}.md) | {pages[name + '.h'].subject()} |" for name in members]
        parts += [f"## {caption}", "\n".join(["| header | subject |", "|---|---|", *rows]),
                  "\n".join(["```{toctree}", ":hidden:", "", *members, "```"])]
    site.write("reference/index.md", "\n\n".join(parts) + "\n")


def write_gallery(site):
    shown = {f"{name}.md": (name, example) for name, example in gallery.EXAMPLES.items()}
    ports = gallery.ports(site.root)
    for name, example in {**gallery.EXAMPLES, **ports}.items():
        site.write(f"examples/{name}.md", gallery.page(site.root, name, example))
    site.write("examples/index.md", gallery.index(site.root, shown))
    readme = site.root / PORTS
    text = readme.read_text(encoding="utf-8") if readme.exists() else "# Ports\n"
    if ports:
        site.write("examples/ports.md", site.relinked(text, PORTS, "examples/ports.md") + "\n"
                   + "\n".join(["```{toctree}", ":hidden:", "", *ports, "```", ""]))


def write_start(site, groups, rest, project):
    """The first page, from the README's beginning; the README's other sections are a page too."""
    readme = (site.root / "README.md").read_text(encoding="utf-8")
    readme = readme.replace("// SPDX-License-Identifier: Apache-2.0\n", "")
    start, on_gpu, others = readme.partition("\n## On a GPU\n")
    guides = (site.root / "docs/README.md").read_text(encoding="utf-8").split("\nFor ", 1)[1]
    links = ["- [Getting started](guides/getting-started.md): from nothing to a program of yours",
             "- [Examples](examples/index.md): whole programs and what they print",
             "- [Reference](reference/index.md): every header, every call, with examples",
             "- [PyTorch's names](guides/differences-from-pytorch.md#names-side-by-side): and what "
             "is different",
             "- [Speed](guides/speed.md): beside PyTorch and JAX",
             "- [Reliability](guides/reliability.md): what is promised, and which test holds it"]
    start = site.relinked(start, "README.md", "index.md")
    head, _, program = start.partition("\n## The shortest program that trains\n")
    parts = [head, ":::{container} cards\n" + "\n".join(links) + "\n:::",
             "## The shortest program that trains\n" + program, "## All guides",
             site.relinked("For " + guides, "docs/README.md", "index.md")]
    trees = [tree_of(["Examples <examples/index>", "about"], "tern")]
    trees += [tree_of([site.pages["docs/" + name] for name in files], caption)
              for caption, files in groups]
    trees += [tree_of(["reference/index"], "Reference")]
    measured = [site.pages["docs/" + name] for name in rest]
    trees += [tree_of(measured + [site.pages[path] for path in project], "Project")]
    site.write("index.md", "\n\n".join(parts + trees) + "\n")
    site.write("about.md", site.relinked("# On a GPU, speed, building\n" + on_gpu + others,
                                         "README.md", "about.md"))


def main(root, target):
    shutil.rmtree(target, ignore_errors=True)
    site = Site(root, target)
    groups, rest = guide_groups(root)
    project = [path for path in PROJECT if (root / path).is_file()]
    site.pages["README.md"] = "about.md"
    site.pages.update({"docs/README.md": "index.md", "docs/reference.md": "reference/index.md"})
    site.pages.update({f"docs/{path.name}": f"guides/{path.name}" for path in
                       (root / "docs").glob("*.md") if path.name not in ("README.md",
                                                                         "reference.md")})
    site.pages.update({path: f"project/{Path(path).name.lower()}" for path in project})
    known = {**gallery.EXAMPLES, **gallery.ports(root)}
    for name, example in known.items():
        for file in example.files:
            site.pages.setdefault(f"examples/{file}", f"examples/{name}.md")
            site.gallery.setdefault(file.split("/")[0], f"examples/{name}.md")
    if (root / PORTS).exists():
        site.pages[PORTS] = site.gallery["ports"] = "examples/ports.md"
    for path, page in site.pages.items():
        if page.startswith(("guides/", "project/")):
            site.add_guide(path)
    write_reference(site, headers.read_all(root / "include/tern"))
    write_gallery(site)
    write_start(site, groups, rest, project)
    site.add_sources()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
