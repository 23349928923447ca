# SPDX-License-Identifier: Apache-2.0
"""Formulas that headers write as text, as TeX: `p -= lr / (1 - beta1^t) m / (sqrt(v) + eps)`.

A formula is what reads as one in words that stand for values; a word that stands for none ends it.
A number or letter alone is none: it has an equals sign, a power or a root.
"""
import re

TOKEN = re.compile(r" *(?:(\d+(?:\.\d+)?(?:e-?\d+)?)|([A-Za-z_]\w*)|(\+=|-=|\+-|[-+*/^()=]))")
GREEK = {"alpha", "beta", "gamma", "delta", "lambda", "mu", "rho", "sigma", "pi"}
WORDS = {"bias", "correct", "dampening", "groups", "input", "lr", "lr_decay", "mean", "momentum",
         "target", "variance", "weight", "weight_decay", "In", "Out", "KH", "KW"}
FUNCTIONS = {"cos", "cosh", "exp", "log", "max", "min", "sin", "tanh"}
SIGNS = {None: r"\, ", "*": r"\cdot ", "+-": r"\pm ", "+=": r"\mathrel{+}=", "-=": r"\mathrel{-}="}
BEGINS = re.compile(r"(?<![\w.'`])[(\w+]")


class Ended(Exception):
    """What comes is no part of a formula."""


def name(word):
    stem, number = re.fullmatch(r"(.*?)(\d*)", word).groups()
    if stem == "eps":
        return r"\varepsilon "
    if stem in GREEK:
        return f"\\{stem}_{{{number}}}" if number else f"\\{stem} "
    if len(word) == 1 and word not in "aAI":
        return word
    if word in WORDS:
        return "\\mathrm{" + word.replace("_", "\\_") + "}"
    raise Ended


class Parser:
    """By recursive descent; each method takes what it can and leaves `at` behind it."""

    def __init__(self, text, at):
        self.text, self.at, self.count, self.marked = text, at, 0, False

    def peek(self):
        match = TOKEN.match(self.text, self.at)
        return match.groups() + (match.end(),) if match else (None, None, None, self.at)

    def take(self, *signs):
        """The next sign, if it is one of these."""
        _, _, sign, end = self.peek()
        if sign not in signs:
            return None
        self.at, self.count = end, self.count + 1
        self.marked |= sign in ("=", "+=", "-=", "^")
        return sign

    def tried(self, method):
        """What the method gives, or None with nothing taken."""
        kept = self.at, self.count, self.marked
        try:
            return method()
        except Ended:
            self.at, self.count, self.marked = kept
            return None

    def group(self):
        """(TeX, whether it stood in parentheses) of what is in them."""
        if not self.take("("):
            raise Ended
        inner = self.sum()
        if not self.take(")"):
            raise Ended
        return inner

    def base(self):
        number, word, sign, end = self.peek()
        if sign == "(":
            return self.group(), True
        if not number and not word:
            raise Ended
        self.at, self.count = end, self.count + 1
        if number:
            return number, False
        if word == "sqrt" and self.text[self.at:self.at + 1] == "(":
            self.marked = True
            return f"\\sqrt{{{self.group()}}}", False
        if word in FUNCTIONS and self.text[self.at:self.at + 1] == "(":
            return f"\\{word}({self.group()})", False
        return name(word), False

    def power(self):
        tex, grouped = self.base()

        def exponent():
            if not self.take("^"):
                raise Ended
            return self.base()[0]
        raised = self.tried(exponent)
        if raised is None:
            return tex, grouped
        return f"{f'({tex})' if grouped else tex}^{{{raised}}}", False

    def product(self):
        tex, grouped = self.power()

        def next_factor():
            return self.take("*", "/"), self.power()
        while True:
            found = self.tried(next_factor)
            if not found:
                return f"({tex})" if grouped else tex
            sign, (right, right_grouped) = found
            if sign == "/":
                tex, grouped = f"\\frac{{{tex}}}{{{right}}}", False
                continue
            left = f"({tex})" if grouped else tex
            right = f"({right})" if right_grouped else right
            tex, grouped = f"{left} {SIGNS[sign]}{right}", False

    def sum(self):
        sign = self.take("-", "+-")
        tex = (SIGNS.get(sign, sign) if sign else "") + self.product()

        def next_term():
            found = self.take("+", "-")
            if not found:
                raise Ended
            return f" {found} {self.product()}"
        while True:
            term = self.tried(next_term)
            if term is None:
                return tex
            tex += term

    def formula(self):
        tex, alone = self.sum(), self.count == 1

        def right_side():
            sign = self.take("=", "+=", "-=")
            if not sign:
                raise Ended
            return f" {SIGNS.get(sign, sign)} {self.sum()}"
        right = self.tried(right_side)
        if right and not alone:  # "with momentum b = ..": it begins at b
            raise Ended
        return tex + (right or "")


def find(text):
    """(begin, end, TeX) of each formula in a piece of prose."""
    at = 0
    while match := BEGINS.search(text, at):
        parser = Parser(text, match.start())
        tex = parser.tried(parser.formula)
        whole = not re.match(r"[\w(\[']", text[parser.at:])
        if tex and parser.count > 2 and parser.marked and whole:
            size = r"\displaystyle " if r"\frac{\frac" in tex else ""  # else too small to read
            yield match.start(), parser.at, size + tex
            at = parser.at
        else:
            at = re.compile(r"\w*\W?").match(text, match.start()).end()
