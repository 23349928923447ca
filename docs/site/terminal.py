#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the picture of a run that README.md shows, docs/run.svg, from what record.py recorded of
mlp_mnist: a terminal, readable in light and dark.

    terminal.py           writes it; after `record.py BUILD mlp_mnist`
    terminal.py --check   ends with 1 where it is not that of the recorded output
"""
import re
import sys
from html import escape
from pathlib import Path

sys.dont_write_bytecode = True

import gallery  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURE = ROOT / "docs/run.svg"
COLUMN, LINE, EDGE = 7.23, 17, 14  # pixels
STYLE = """<style>
.back { fill: #f6f8fa; stroke: #d0d7de } text { font: 12px ui-monospace, monospace; fill: #24292f }
.prompt { fill: #57606a } .good { fill: #1a7f37; font-weight: bold }
@media (prefers-color-scheme: dark) { .back { fill: #161b22; stroke: #30363d }
text { fill: #d0d7de } .prompt { fill: #8b949e } .good { fill: #3fb950 } }
</style>"""


def marked(line):
    """Colours as progress.c has them."""
    return re.sub(r"test accuracy [\d.]+", r'<tspan class="good">\g<0></tspan>', escape(line))


def picture(command, output):
    lines = output.rstrip("\n").split("\n")
    width = COLUMN * max(map(len, lines)) + 2 * EDGE
    height = LINE * (len(lines) + 1) + 2 * EDGE
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
             f'width="{width:.0f}" role="img" aria-label="A terminal: {escape(command)}">', STYLE,
             f'<rect class="back" x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" '
             'rx="6"/>', '<g xml:space="preserve" style="white-space: pre">']
    shown = [f'<tspan class="prompt">$</tspan> {escape(command)}', *map(marked, lines)]
    parts += [f'<text x="{EDGE}" y="{EDGE + LINE * (i + 1) - 5}" xml:space="preserve">{text}</text>'
              for i, text in enumerate(shown)]
    return "\n".join([*parts, "</g></svg>", ""])


def main(words):
    _, *options = gallery.EXAMPLES["mlp_mnist"].command
    drawn = picture(" ".join(["scripts/mlp_mnist.sh", *options]),
                    gallery.output_of(ROOT, "mlp_mnist"))
    if words != ["--check"]:
        PICTURE.write_text(drawn, encoding="utf-8")
    elif PICTURE.read_text(encoding="utf-8") != drawn:
        print("docs/run.svg is not the picture of docs/site/output/mlp_mnist.txt: "
              "docs/site/terminal.py draws it anew")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
