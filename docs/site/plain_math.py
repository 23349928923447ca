# SPDX-License-Identifier: Apache-2.0
"""For Sphinx where there is no MathJax: formulas are shown as TeX."""
from docutils import nodes


def visit(writer, node):
    writer.body.append(writer.starttag(node, "code", "", CLASS="math")
                       + writer.encode(node.astext()) + "</code>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("plain", (visit, None), (visit, None))
    return {"parallel_read_safe": True}
