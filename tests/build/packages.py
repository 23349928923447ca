#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that `meson install` installs is in one list of debian/*.install, and every line of
those lists is of some file.

    packages.py ROOT BUILD INSTALLED     INSTALLED: the folder that was DESTDIR
"""
import json
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

# Its files are the source's; the plugin is there where the CUDA toolkit is.
NOT_INSTALLED = ("tern-doc",)
NOT_EVERYWHERE = ("libtern-cuda",)
TRIPLET = "some-linux-gnu"


def lists(root):
    """{package: its patterns}"""
    return {path.stem: [line.split()[0] for line in path.read_text().splitlines() if line]
            for path in sorted((root / "debian").glob("*.install"))
            if path.stem not in NOT_INSTALLED}


def options(build):
    told = subprocess.run(["meson", "introspect", build, "--buildoptions"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return {option["name"]: option["value"] for option in json.loads(told)}


def as_debian(path, prefix, libdir):
    """The path that it has in a package of Debian."""
    inside = path.relative_to(prefix)
    if inside.is_relative_to(libdir):
        return Path("usr/lib", TRIPLET, inside.relative_to(libdir))
    return Path("usr", inside)


def matches(path, pattern):
    """dh_install takes a folder with all that is in it, and wildcards for one name each."""
    words = pattern.split("/")
    return len(path.parts) >= len(words) and all(map(fnmatchcase, path.parts, words))


def wrong(files, packages):
    for path in files:
        takers = [name for name, patterns in packages.items()
                  if any(matches(path, pattern) for pattern in patterns)]
        if len(takers) != 1:
            yield f"{path} is in {' and '.join(takers) or 'no package'}"
    for name, patterns in packages.items():
        for pattern in patterns if name not in NOT_EVERYWHERE else ():
            if not any(matches(path, pattern) for path in files):
                yield f"debian/{name}.install: {pattern} is nothing that is installed"


def main(root, build, installed):
    told = options(build)
    prefix = Path(installed, told["prefix"].lstrip("/"))
    files = sorted(as_debian(path, prefix, told["libdir"]) for path in prefix.rglob("*")
                   if path.is_symlink() or path.is_file())
    packages = lists(Path(root))
    found = list(wrong(files, packages))
    print("\n".join(found))
    twice = {**packages, "other": ["usr/include/tern"]}
    planted = [list(wrong([*files, Path("usr/bin/other")], packages)),
               list(wrong(files, {**packages, "other": ["usr/share/other"]})),
               list(wrong(files, twice))]
    print(f"{len(files)} files in {len(packages)} packages, {len(found)} faults")
    return 1 if found or len(files) < 40 or not all(planted) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
