#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Describes the public headers for programs that make bindings, as JSON.

    describe.py INCLUDE/TERN VERSION FILE.json

functions   result, parameters, text; of whom a pointer is that comes back (OWNERS); arguments whose
            reference the call takes over
calls       what takes options: the functions, the struct, the fields that come by position, and the
            values of the others unless said
structs     fields with types, lengths of arrays, texts
enums       values; constants: numbers of macros; callbacks: types of functions that are handed in
opaque      structs whose fields are the library's own; aliases: other names of structs and numbers
"""
import json
import re
import sys
from pathlib import Path

OWNERS = {
    "scope": "a temporary of the innermost scope, or the tensor that was given",
    "caller": "the caller's, who frees it with the function named in `free`",
    "borrowed": "somebody else's: the argument's, or the library's own",
}
# Who frees what; tensors and text are none of them.
FREE = {f"tern_{name} *": f"tern_{name}_free" for name in (
    "module", "optim", "dataset", "loader", "metric", "generator", "state", "cuda_stream",
    "cuda_event", "cuda_graph", "progress", "lr_curve", "logger", "run")}
# Makes what it returns; everything else of these types hands on what is there.
MAKES = re.compile(r"tern_(nn_\w+|state_of|\w+_(new|with|retain|done|copy|graph_end|state_dict))$")
# Tensors that are there already: an argument, or what an object holds.
HOLDS = re.compile(r"tern_(grad|retain|assign|module_\w+|optim_\w+|context_\w+|set_requires_grad"
                   r"|state_tensor|visit_peek_tensor|record|\w+_)$")

KINDS = ("functions", "calls", "structs", "enums", "constants", "callbacks", "opaque", "aliases")

COMMENT = re.compile(r"///?<?(.*)")
ITEM = re.compile(r"(?P<doc>(?:^///(?!<).*\n)*)^(?P<code>(?:TERN_API|typedef|struct)\b[^;{]*"
                  r"(?:\{[^}]*\}[^;]*)?;)(?P<tail>(?:[ ]*///<.*\n(?:[ ]+///<.*\n)*)?)", re.M)
FIELD = re.compile(r"(?P<code>[^;]+);(?P<text>(?:\s*///<[^\n]*)*)")
VALUE = re.compile(r"(?P<name>TERN_\w+)\s*(?:=\s*(?P<value>-?\w+))?\s*,?\s*"
                   r"(?P<text>(?:\s*///<.*)*)")
CONSTANT = re.compile(r"^#define (TERN_\w*[A-Z])[ ]+\(?(-?\d+|INT64_MIN)\)?$", re.M)
OBJECT = re.compile(r"^#define (TERN_\w+_(?:DEFAULTS|FIELDS)_)((?:.*\\\n)*.*)", re.M)
CPP = re.compile(r"^#ifdef __cplusplus\n.*?^#(?:else|endif)\n", re.M | re.S)
CALL = re.compile(r"^#define (\w+)\(\.\.\.\)[ \\\n]+(?:tern_status_of_\([\s\\]*)?"
                  r"TERN_WITH_(OPTIONS_)?\([\s\\]*\1,[\s\\]*(\w+),", re.M)


def plain(comment):
    return " ".join(COMMENT.sub(r"\1", comment).split())


def declared(words):
    """{type, name, length} of `const tern_tensor *t`, `double betas[2]` or `void (*free)(int)`."""
    words = " ".join(re.sub(r"//.*", "", words).split())
    pointer = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", words)
    if pointer:
        return {"name": pointer[2], "type": f"{pointer[1].strip()} (*)({pointer[3]})"}
    match = re.fullmatch(r"(.*?[ *])(\w+)((?:\[\w+\])?)", words)
    found = {"name": match[2], "type": match[1].strip()}
    if match[3]:
        found["length"] = match[3][1:-1]
    return found


def parameters(words):
    """Of a function, without the dots of printf."""
    parts = [part.strip() for part in " ".join(words.split()).split(",")]
    return [declared(part) for part in parts if part not in ("void", "...")]


def owner(name, result):
    """Of whom a pointer is that `name` returns, {} where it returns none."""
    if result in FREE:
        makes = MAKES.match(name)
        return {"owner": "caller", "free": FREE[result]} if makes else {"owner": "borrowed"}
    if result == "tern_tensor *":
        return {"owner": "borrowed" if HOLDS.match(name) else "scope"}
    return {"owner": "borrowed"} if result.endswith("*") else {}


def taken(words, text):
    """The arguments whose reference the call takes over, as its comment says."""
    last = parameters(words)[-1:] if re.search(r"\b[Tt]akes over\b", text) else []
    return [argument["name"] for argument in last]


def function(code, text, header):
    match = re.fullmatch(r"TERN_API (TERN_NODISCARD )?(.*?[ *])(tern_\w+)\((.*?)\)"
                         r"(?: TERN_(?:PRINTF|READS|WRITES)_\(.*\))?;", " ".join(code.split()))
    result = match[2].strip()
    return {"name": match[3], "header": header, "result": result, "must_look": bool(match[1]),
            **owner(match[3], result), "takes": taken(match[4], text),
            "parameters": parameters(match[4]), "variadic": "..." in match[4], "text": text}


def fields(body):
    return [{**declared(match["code"]), "text": plain(match["text"])}
            for match in FIELD.finditer(body) if match["code"].strip()]


def enum(body):
    values, next_one = [], 0
    for match in VALUE.finditer(body):
        if match["value"]:
            same = [value["value"] for value in values if value["name"] == match["value"]]
            next_one = same[0] if same else int(match["value"])
        values.append({"name": match["name"], "value": next_one, "text": plain(match["text"])})
        next_one += 1
    return values


def read_type(found, code, text, header):
    """Puts a typedef or a struct into `found`."""
    code = " ".join(code.split("\n")) if "{" not in code else code
    body = re.match(r"(?:typedef )?(struct|enum) (\w+) \{(.*)\}", code, re.S)
    item = {"header": header, "text": text}
    if body and body[1] == "struct":
        found["structs"].append({"name": body[2], **item, "fields": fields(body[3])})
    elif body:
        found["enums"].append({"name": body[2], **item, "values": enum(body[3])})
    elif match := re.fullmatch(r"typedef struct (\w+) \1;", code):
        found["opaque"].append({"name": match[1], **item})
    elif match := re.fullmatch(r"typedef (.*?[ *])(tern_\w+)\((.*)\);", " ".join(code.split())):
        found["callbacks"].append({"name": match[2], **item, "result": match[1].strip(),
                                   "parameters": parameters(match[3])})
    elif match := re.fullmatch(r"typedef (.*) (tern_\w+);", code):
        found["aliases"].append({"name": match[2], **item, "type": match[1]})


def items_of(words):
    """Those between commas, braces within them left whole."""
    depth, item = 0, ""
    for character in words + ",":
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield item
            item = ""
        else:
            item += character


def default_of(words):
    words = words.strip()
    if words.startswith("{"):
        return [default_of(word) for word in items_of(words[1:-1])]
    known = {"true": True, "false": False, "NULL": None, "NAN": "NAN", "INT64_MAX": 2**63 - 1}
    if words in known:
        return known[words]
    if character := re.fullmatch(r"'(.)'", words):
        return ord(character[1])
    if re.fullmatch(r"-?\d+", words):
        return int(words)
    if quotient := re.fullmatch(r"([\d.]+) / ([\d.]+)", words):
        return float(quotient[1]) / float(quotient[2])
    return float(words) if re.fullmatch(r"-?\d[\d.e-]*", words) else words


def read_call(name, family, macros):
    """A macro with options, its fields by position and its defaults."""
    initialiser = macros[f"{family.upper()}_DEFAULTS_"]
    while re.search(r"TERN_\w+_DEFAULTS_", initialiser):  # one may name another
        initialiser = re.sub(r"TERN_\w+_DEFAULTS_", lambda used: macros[used[0]], initialiser)
    initialiser = re.sub(r"TERN_EACH_\((\S+)\)",
                         r"{\1, TERN_SAME_AS_FIRST, TERN_SAME_AS_FIRST}", initialiser)
    defaults = re.findall(r"\.(\w+) = (\{(?:[^{}]|\{[^}]*\})*\}|'.'|[^,]+)", initialiser)
    fields = macros[f"{family.upper()}_FIELDS_"]
    match = re.match(r"(\d), (\w+), \(([^)]*)\)", macros.get(fields, fields))
    taken = [field.strip() for field in match[3].split(",") if field.strip()]
    required = int(match[1]) + (match[2] == "DATA")
    return {"name": name, "with": f"{name}_with", "defaults": f"{family}_defaults",
            "options": f"{family}_options", "required": taken[:required],
            "optional": taken[required:],
            "values": {**dict.fromkeys(taken[required:], 0),
                       **{field: default_of(value) for field, value in defaults
                          if field != "reserved_"}}}


def read_item(found, match, header):
    """Puts what ITEM matched into `found`."""
    comment = plain(match["doc"] or match["tail"])
    if match["code"].startswith("TERN_API"):
        found["functions"].append(function(match["code"], comment, header))
    else:
        read_type(found, match["code"], comment, header)


def read_header(found, path, macros):
    text = CPP.sub("", path.read_text(encoding="utf-8"))
    for match in ITEM.finditer(text):
        read_item(found, match, path.name)
    found["constants"] += [{"name": name, "header": path.name,
                            "value": -2 ** 63 if value == "INT64_MIN" else int(value)}
                           for name, value in CONSTANT.findall(text)]
    found["calls"] += [read_call(name, family, macros) for name, _, family in CALL.findall(text)]


def macros_of(paths):
    """What the families' macros state, by name."""
    return {name: " ".join(words.replace("\\\n", " ").split()) for path in paths
            for name, words in OBJECT.findall(path.read_text(encoding="utf-8"))}


def described(folder, version):
    found = {"version": version, "owners": OWNERS, **{kind: [] for kind in KINDS}}
    paths = sorted(Path(folder).rglob("*.h"))
    macros = macros_of(paths)
    for path in paths:
        read_header(found, path, macros)
    numbers = {item["name"]: item["value"] for item in found["constants"]}
    for field in (field for struct in found["structs"] for field in struct["fields"]):
        if "length" in field:
            field["length"] = int(numbers.get(field["length"], field["length"]))
    whole = {struct["name"] for struct in found["structs"]}
    found["opaque"] = [item for item in found["opaque"] if item["name"] not in whole]
    return found


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(described(*sys.argv[1:3]), indent=1) + "\n",
                                 encoding="utf-8")
