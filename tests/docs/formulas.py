#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formulas.py ROOT: formulas in the words of headers become TeX, and prose does not."""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(sys.argv[1]) / "docs/site"))
import formulas  # noqa: E402
import prose  # noqa: E402

CASES = {
    "y = x W^T + b, of (N, In)": [r"y = x \, W^{T} + b"],
    "uniform in +-1 / sqrt(In).": [r"\pm \frac{1}{\sqrt{\mathrm{In}}}"],
    "p -= lr / (1 - beta1^t) m, where g": [
        r"p \mathrel{-}= \frac{\mathrm{lr}}{1 - \beta_{1}^{t}} \, m"],
    "p -= lr / n m / (v + eps), where": [
        r"\displaystyle p \mathrel{-}= \frac{\frac{\mathrm{lr}}{n} \, m}{v + \varepsilon }"],
    "with momentum b = momentum b + d and p": [r"b = \mathrm{momentum} \, b + d"],
    "(input - target)^2, of equal shapes": [r"(\mathrm{input} - \mathrm{target})^{2}"],
    "x (N, C / groups, H, W) of a tensor": [],
    "set x = tern_relu(y); .lr = 1e-3; a = b": [],
    "out->count is 3 and NULL is a failure - as ever": [],
}


def main():
    wrong = []
    for text, expected in CASES.items():
        found = [tex for _, _, tex in formulas.find(text)]
        if found != expected:
            wrong.append(f"{text!r} gives {found}, not {expected}")
    shown = prose.inline("v = x^2 of `p = x^2` by tern_add_")
    if shown != "{math}`v = x^{2}` of `p = x^2` by `tern_add_`":
        wrong.append(f"a line of prose becomes {shown}")
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
