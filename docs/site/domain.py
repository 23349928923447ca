# SPDX-License-Identifier: Apache-2.0
"""For Sphinx: the entries of the reference, and links to them from every page.

`::::{constructor} tern_module *tern_nn_linear(in_features, out_features, .bias = true)` is an entry
whose anchor is the name; `:also:` are further names that lead there, `:pytorch:` those of PyTorch
that a search finds. In the pages that are written, every name of an entry becomes a link where it
begins `code` or stands in a block of C.
"""
import re

from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.domains.std import GenericObject

KINDS = ("constructor", "function", "macro", "struct", "enum", "callback", "type", "constant",
         "family", "pytorch")
NAMED = {"constructor": "call with options", "family": "for C++ and bindings",
         "pytorch": "PyTorch's name"}
# In a search, the smallest first.
PRIORITY = {"constructor": 0, "function": 0, "pytorch": 0, "family": 2}
SIGNATURE = re.compile(r"(.*?)(\w+)(?:\((.*)\))?$")
OPTION = re.compile(r"(\.?)(\w+)( = .*)$")
DECLARED = re.compile(r"(.*?[ *])(\w+)((?:\[\w*\])?)$")
LINK = re.compile(r"(<a\b.*?</a>)", re.S)
NAME = re.compile(r'(<span class="(?:pre|n|nf|nc|nb|kt)">)((?:tern|TERN)_\w+|_[A-Z]+|[a-z_/]+\.h)'
                  r'([^<\w][^<]*)?(</span>)')
WIDE = 80  # a signature of more columns has a line for each parameter


def split_words(words):
    """At the commas that are in no parentheses or braces."""
    parts, depth = [""], 0
    for letter in words:
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def parameter(words):
    """`tern_tensor *x`: the name stands out; `.bias = true`: so does that."""
    node = addnodes.desc_parameter("", "", noemph=True)
    match = OPTION.match(words) or DECLARED.match(words)
    if not match:
        node += addnodes.desc_sig_name("", words)
        return node
    node += addnodes.desc_type("", match[1])
    node += addnodes.desc_sig_name("", match[2])
    node += addnodes.desc_sig_literal_string("", match[3])
    return node


class Entry(GenericObject):
    option_spec = {**GenericObject.option_spec, "also": directives.unchanged,
                   "pytorch": directives.unchanged}

    def handle_signature(self, sig, signode):
        result, name, words = SIGNATURE.match(sig).groups()
        if result:
            signode += addnodes.desc_type("", result)
        signode += addnodes.desc_name("", name)
        if words is not None:
            parts = split_words(words)
            many = len(sig) > WIDE and len(parts) > 1
            signode += addnodes.desc_parameterlist("", "", *map(parameter, parts),
                                                   multi_line_parameter_list=many)
        signode["name"] = name
        return name

    def add_target_and_index(self, name, sig, signode):
        standard = self.env.get_domain("std")
        others = "constant" if self.objtype == "enum" else "family"
        for each in [name, *self.options.get("also", "").split()]:
            kind = self.objtype if each == name else others
            signode["ids"].append(each)
            standard.note_object(kind, each, each, location=signode)
        for each in self.options.get("pytorch", "").split():
            standard.note_object("pytorch", each, name, location=signode)
        self.state.document.note_explicit_target(signode)

    def _object_hierarchy_parts(self, signode):
        return (signode["name"],)

    def _toc_entry_name(self, signode):
        return signode["_toc_parts"][0]


def add_links(app, pagename, _template, context, _doctree):
    """Where the names of entries stand as code, they lead to them."""
    if "body" not in context:
        return
    objects = app.env.get_domain("std").objects
    places = {name: place for (kind, name), place in objects.items() if kind in KINDS}
    places.update({page.removeprefix("reference/") + ".h": (page, "") for page in
                   app.env.found_docs if page.startswith("reference/")})

    def link(match):
        place = places.get(match[2]) or places.get("TERN_ERR" + match[2])
        if not place:
            return match[0]
        page = "" if place[0] == pagename else app.builder.get_relative_uri(pagename, place[0])
        where = f"{page}#{place[1]}".removesuffix("#") or "#"
        return f'{match[1]}<a class="name" href="{where}">{match[2]}</a>{match[3] or ""}{match[4]}'

    parts = LINK.split(context["body"])
    context["body"] = "".join(part if at % 2 else NAME.sub(link, part)
                              for at, part in enumerate(parts))


def setup(app):
    for kind in KINDS:
        app.add_object_type(kind, kind, objname=NAMED.get(kind, kind))
        app.add_directive_to_domain("std", kind, Entry, override=True)
        app.registry.domain_object_types["std"][kind].attrs["searchprio"] = PRIORITY.get(kind, 1)
    app.connect("html-page-context", add_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
