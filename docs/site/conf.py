# SPDX-License-Identifier: Apache-2.0
# Of Sphinx; generate.py writes the sources, with a file `version` beside them.
import os
import sys
from pathlib import Path

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here))
sys.dont_write_bytecode = True

project = "tern"
version = release = os.environ.get("TERN_SITE_VERSION", "")
formulas = os.environ.get("TERN_SITE_MATHJAX", "")  # a folder with the folder mathjax
extensions = ["myst_parser", "domain", "sphinx.ext.mathjax" if formulas else "plain_math"]
source_suffix = {".md": "markdown"}
nitpicky = True
primary_domain = None

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"tern {release}".strip()
html_static_path = [str(here / "static")] + [formulas] * bool(formulas)
mathjax_path = "mathjax/MathJax.js?config=TeX-AMS_SVG"
# MyST has MathJax pass by all but elements of these classes; it tells MathJax 3, not 2.
mathjax2_config = {"tex2jax": {"processClass": "tex2jax_process|mathjax_process|math"}}
html_css_files = ["tern.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
html_theme_options = {"navigation_with_keys": True}
toc_object_entries_show_parents = "hide"
highlight_language = "none"
