#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The description of the headers is true: what it says is asserted in C, looked for in the library
and compared with what the library returns.

    description.py ROOT TERN.JSON LIBTERN.SO COMPILER...
"""
import copy
import ctypes
import json
import math
import re
import subprocess
import sys
from pathlib import Path

SAME = "_Static_assert(__builtin_types_compatible_p({}, {}), \"{}\");"
TRUE = "_Static_assert({}, \"{}\");"


def listed(item):
    words = ", ".join(parameter["type"] for parameter in item["parameters"])
    return (words + ", ..." if item.get("variadic") else words) or "void"


def declared(field):
    kind, name = field["type"], field["name"]
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{name})", 1)
    return f"{kind} {name}" + (f"[{field['length']}]" if "length" in field else "")


def of_struct(item):
    """A struct of the fields that are described is laid out as the header's, field by field."""
    name = item["name"] if "typedef" not in item else item["typedef"]
    fields = "".join(f"{declared(field)}; " for field in item["fields"])
    yield f"struct described_{name} {{ {fields}}};"
    yield TRUE.format(f"sizeof(struct described_{name}) == sizeof(struct {name})", name)
    for field in item["fields"]:
        at = field["name"]
        yield TRUE.format(f"offsetof(struct described_{name}, {at}) == "
                          f"offsetof(struct {name}, {at})", f"{name}.{at}")
        yield SAME.format(f"__typeof__(((struct described_{name} *)0)->{at})",
                          f"__typeof__(((struct {name} *)0)->{at})", f"{name}.{at}")


def program(told):
    """A C file that compiles where the description is true."""
    yield "#include <tern/tern.h>"
    for item in told["functions"]:
        yield f"#undef {item['name']}"
        yield SAME.format(f"{item['result']} ({listed(item)})", f"__typeof__({item['name']})",
                          item["name"])
        if item.get("owner") == "caller":
            yield SAME.format(f"void ({item['result']})", f"__typeof__({item['free']})",
                              item["free"])
    for item in told["callbacks"]:
        yield SAME.format(f"{item['result']} ({listed(item)})", item["name"], item["name"])
    for item in told["structs"]:
        yield from of_struct(item)
    for item in told["enums"]:
        yield from (TRUE.format(f"{value['name']} == {value['value']}", value["name"])
                    for value in item["values"])
    for item in told["constants"]:
        yield TRUE.format(f"{item['name']} + 1 == {item['value'] + 1}", item["name"])
    for item in told["opaque"]:
        yield f"extern {item['name']} *opaque_{item['name']};"
    for item in told["aliases"]:
        yield SAME.format(item["type"], item["name"], item["name"])


def compiles(root, compiler, told):
    done = subprocess.run([*compiler, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c",
                           "-I", root / "include", "-"], input="\n".join(program(told)), text=True,
                          stderr=subprocess.PIPE, check=False)
    return done.returncode == 0, done.stderr


def planted(told):
    """Descriptions with one fault each."""
    def changed(change):
        false = copy.deepcopy(told)
        change(false)
        return false
    named = {kind: {item["name"]: i for i, item in enumerate(told[kind])}
             for kind in ("functions", "structs", "enums", "callbacks", "constants", "aliases")}
    add = named["functions"]["tern_add_"]
    adam = named["structs"]["tern_optim_adam_options"]
    yield changed(lambda t: t["functions"][add]["parameters"][2].update(type="float"))
    yield changed(lambda t: t["functions"][add]["parameters"].pop())
    yield changed(lambda t: t["functions"][add].update(result="tern_module *"))
    yield changed(lambda t: t["functions"][named["functions"]["tern_nn_relu"]].update(
        free="tern_optim_free"))
    yield changed(lambda t: t["structs"][adam]["fields"].pop(1))
    yield changed(lambda t: t["structs"][adam]["fields"][1].update(length=3))
    yield changed(lambda t: t["structs"][adam]["fields"][0].update(type="int64_t"))
    yield changed(lambda t: t["enums"][0]["values"][1].update(value=7))
    yield changed(lambda t: t["callbacks"][0].update(result="void"))
    yield changed(lambda t: t["constants"][3].update(value=9))
    yield changed(lambda t: t["aliases"][0].update(type="int"))


def complete(root, told):
    """What the headers have by another way of counting."""
    text = "".join(path.read_text() for path in (root / "include/tern").rglob("*.h"))
    listed = next((root / "tests/reliability").glob("abi-*.txt")).read_text()
    exports = sorted(re.findall(r"^ *\(function \*\)(\w+),$", listed, re.M))
    functions = sorted(item["name"] for item in told["functions"])
    assert functions == exports, set(functions) ^ set(exports)
    for kind, mark in (("enums", "typedef enum "),
                       ("calls", r"TERN_WITH_(?:OPTIONS_)?\([\s\\]*tern_")):
        assert len(told[kind]) == len(re.findall(mark, text)), kind
    calls = {item["with"] for item in told["calls"]}
    assert calls == {name for name in functions if name.endswith("_with")}, calls
    for item in told["functions"]:
        assert item["text"] or item["name"].endswith("_defaults"), item["name"]
        assert item["result"].endswith("*") == ("owner" in item), item["name"]


def value(found, tern):
    """A field's value as the description writes it."""
    if isinstance(found, ctypes.Array):
        return [value(one, tern) for one in found]
    if isinstance(found, ctypes.Structure):
        return [value(getattr(found, name), tern) for name, _ in found._fields_]
    if isinstance(found, float) and math.isnan(found):
        return "NAN"
    return found if isinstance(found, (bool, int, float)) else (found or None) and "a pointer"


def flat(list_or_number):
    if not isinstance(list_or_number, list):
        return [list_or_number]
    return [number for item in list_or_number for number in flat(item)]


def same(told, found):
    """What braces leave out is 0, and so is NULL; stderr is any other pointer."""
    told, found = flat(told), flat(found)
    told += [0] * (len(found) - len(told))
    return len(told) == len(found) and all(
        bool(there) if said == "stderr" else (said or 0) == (there or 0)
        for said, there in zip(told, found))


def number(told, tern):
    if isinstance(told, list):
        return [number(one, tern) for one in told]
    return tern.numbers.get(told, told) if isinstance(told, str) else told


def defaults(told, tern):
    """(struct.field, what is described, what the library returns), of every optional field."""
    fields = {item["name"]: [field["name"] for field in item["fields"]] for item in told["structs"]}
    fields.update({item["name"]: fields[item["type"]] for item in told["aliases"]
                   if item["type"] in fields})
    for call in told["calls"]:
        options = getattr(tern.library, call["defaults"])()
        names = fields[call["options"]]
        optional = names[:names.index("reserved_")] + call["optional"]
        assert set(call["values"]) == set(optional) or call["optional"], call["name"]
        for name in optional:
            yield (f"{call['options']}.{name}", number(call["values"].get(name), tern),
                   value(getattr(options, name), tern))


def main(root, description, library, *compiler):
    root = Path(root)
    told = json.loads(Path(description).read_text(encoding="utf-8"))
    works, words = compiles(root, compiler, told)
    assert works, words
    faults = [compiles(root, compiler, false)[0] for false in planted(told)]
    assert not any(faults), f"planted faults that compile: {faults}"
    complete(root, told)
    sys.path.insert(0, str(root / "examples/python"))
    from quickstart import Tern  # pylint: disable=import-outside-toplevel
    found = list(defaults(told, Tern(library, description)))
    wrong = [line for line in found if not same(line[1], line[2])]
    assert not wrong, wrong
    print(f"{len(told['functions'])} functions, {len(told['structs'])} structs, "
          f"{len(found)} defaults, {len(faults)} planted faults")
    return 0 if len(found) > 100 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
