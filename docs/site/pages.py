# SPDX-License-Identifier: Apache-2.0
"""The page of a header: what its opening says, then every declaration in the header's order."""
import re

import prose


UNSAID = "…"
IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*")
NAMES = "/guides/differences-from-pytorch.md#names-side-by-side"


def shown(value):
    """A default as a script would write it."""
    words = {None: "NULL", True: "true", False: "false"}
    if isinstance(value, list):
        kept = [each for each in value if each != "TERN_SAME_AS_FIRST"]
        if not kept or str(kept[0]).endswith("_UNSPECIFIED"):
            return UNSAID
        values = [shown(each) for each in kept]
        return values[0] if len(kept) < len(value) else "{" + ", ".join(values) + "}"
    if isinstance(value, (bool, type(None))):
        return words[value]
    if isinstance(value, float):
        return f"{value:g}"
    return UNSAID if str(value).endswith("_UNSPECIFIED") else str(value)


def default(value):
    words = shown(value)
    return "" if words == UNSAID else f"`{words}`"


def without_default(text, value):
    """The default has a column of its own: `>= 0; 1e-3` says `>= 0`."""
    values = [each for each in value if each != "TERN_SAME_AS_FIRST"] \
        if isinstance(value, list) else [value]

    def is_default(words):
        words = words.split(", ")
        return len(words) == len(values) and all(map(is_same, words, values))

    return "; ".join(part for part in text.split("; ") if not is_default(part))


def is_same(word, value):
    try:
        return float(word) == value and not isinstance(value, bool)
    except ValueError:
        return word == shown(value)


def declaration(argument):
    """`const tern_tensor *t` of a parameter or field."""
    kind, name = argument["type"], argument["name"]
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{name})", 1)
    length = f"[{argument['length']}]" if "length" in argument else ""
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}{length}"


def result_of(item):
    return item["result"] + ("" if item["result"].endswith("*") else " ")


def function_signature(item):
    words = [declaration(each) for each in item["parameters"]]
    words += ["..."] if item.get("variadic") else []
    return f"{result_of(item)}{item['name']}({', '.join(words) or 'void'})"


def call_signature(item):
    """As it is written in a script: required values, then options by name with their defaults."""
    values = item["values"]
    words = item["required"] + [f"[{name}]" for name in item["optional"]]
    words += [f".{name} = {shown(value)}" for name, value in values.items()
              if name not in item["optional"]]
    return f"{result_of(item)}{item['name']}({', '.join(words)})"


def owner(item):
    """Whose the result is, as a sentence; empty where it is no pointer."""
    says = {"scope": "Result: a temporary of the innermost scope, or NULL.",
            "caller": f"Result: the caller's, freed with `{item.get('free')}`.",
            "borrowed": "Result: not the caller's to free."}
    return says.get(item.get("owner"), "")


def table(head, rows):
    return "\n".join([f"| {' | '.join(head)} |", "|" + "---|" * len(head),
                      *(f"| {' | '.join(row)} |" for row in rows)])


def option_rows(item, struct):
    """(name, type, default, meaning): first what is required, in the order of the call."""
    fields = {field["name"]: field for field in struct["fields"]}
    named = [name for name in item["values"] if name not in item["optional"]]
    for name in [*item["required"], *item["optional"], *named]:
        field = fields[name]
        of_it = "required" if name in item["required"] else default(item["values"][name])
        written = f"`.{name}`" if name in named else f"`{name}`"
        length = f"[{field['length']}]" if "length" in field else ""
        text = without_default(field["text"], item["values"].get(name))
        yield written, f"`{field['type']}{length}`", of_it, prose.cell(text)


def call_body(item, struct):
    rows = list(option_rows(item, struct))
    notes = []
    if item["optional"]:
        notes.append("Values in brackets may be left out, or given by name.")
    if rows:
        notes.append(table(["", "type", "default", "meaning"], rows))
    notes.append(f"C++ and bindings: `{item['with']}`, `{item['defaults']}`, `{item['options']}`.")
    return notes


def enum_body(item):
    rows = [(f"`{value['name']}`", str(value["value"]), prose.cell(value["text"]))
            for value in item["values"]]
    return [table(["", "value", "meaning"], rows)]


def struct_body(item):
    rows = [(f"`{declaration(field)}`", prose.cell(field["text"])) for field in item["fields"]
            if field["name"] != "reserved_"]
    return [table(["field", "meaning"], rows)] if rows else []


def directive(kind, signature, also, body, pytorch=()):
    """The names beside the signature's that lead here too are `also`."""
    options = [f":also: {' '.join(also)}"] if also else []
    options += [f":pytorch: {' '.join(pytorch)}"] if pytorch else []
    body = [each for each in body if each]
    return "\n".join([f"::::{{{kind}}} {signature}", *options, "", "\n\n".join(body), "::::"])


class Page:
    """One header; `names` is PyTorch's of tern's, `examples` the lines of the snippets."""

    def __init__(self, header, names, examples):
        self.header, self.names, self.examples = header, names, examples

    def subject(self):
        return prose.cell(self.header.subject)

    def pytorch(self, name):
        """The names of PyTorch's that are this one's alone."""
        theirs = self.names.get(name, [])
        return [each for each in theirs if IDENTIFIER.fullmatch(each)
                and [name] == [other for other, found in self.names.items() if each in found]]

    def beside(self, part):
        """The example; PyTorch's name and whose the result is, in one line."""
        found, notes = [], [owner(part.item)]
        if part.name in self.examples:
            found.append(prose.code(self.examples[part.name]))
        if part.name in self.names:
            theirs = ", ".join(f"`{each}`" for each in self.names[part.name])
            notes.insert(0, f"[PyTorch]({NAMES}): {theirs}.")
        return [*found, " ".join(notes).strip()]

    def entry(self, part):
        item = part.item
        text = [prose.markdown(part.lines)] if any(part.lines) else []
        if part.kind == "call":
            struct = self.header.structs[item["options"]]
            also = [item["with"]] + [item["defaults"], item["options"]] * item["first"]
            body = text + self.beside(part) + call_body(item, struct)
            return directive("constructor", call_signature(item), also, body,
                             self.pytorch(part.name))
        if part.kind == "functions":
            body = text + self.beside(part)
            return directive("function", function_signature(item), [], body,
                             self.pytorch(part.name))
        if part.kind == "callbacks":
            return directive("callback", function_signature(item), [], text)
        if part.kind == "enums":
            also = [value["name"] for value in item["values"]]
            return directive("enum", f"enum {part.name}", also, text + enum_body(item))
        if part.kind == "structs":
            return directive("struct", f"struct {part.name}", [], text + struct_body(item))
        if part.kind == "macro":
            body = text + self.beside(part)
            return directive("macro", part.name + item["words"], [], body,
                             self.pytorch(part.name))
        kind = f"typedef {item['type']} " if part.kind == "aliases" else "struct "
        return directive("type", kind + part.name, [], text)

    def markdown(self):
        lines = [f"# {self.header.path}", prose.markdown(self.header.opening),
                 f"```c\n#include <tern/{self.header.path}>\n```"]
        for part in self.header.parts:
            if part.kind == "section":
                lines.append(f"## {part.name[0].upper()}{part.name[1:]}")
            elif part.kind == "prose":
                lines.append(prose.markdown(part.lines))
            else:
                lines.append(self.entry(part))
        return "\n\n".join(lines) + "\n"
