#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The site is built without a warning, its links lead somewhere, and its search knows the calls.
# Only where its virtual environment is there: scripts/site.sh makes it.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../build/common.sh"
venv=${TERN_SITE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/tern/site-venv}
"$venv/bin/python" -c 'import furo, myst_parser, sphinx' 2>/dev/null ||
    skip "there is no Sphinx in $venv"
"$TERN_SOURCE/scripts/site.sh" "$work/site"
"$venv/bin/python" "$TERN_SOURCE/tests/docs/links.py" "$work/site/html"
for word in tern_nn_linear tern_backward tern_error_pending; do
    grep -q "$word" "$work/site/html/searchindex.js" || fail "the search does not know $word"
done
if [ -d "$work/site/html/_static/mathjax" ]; then
    grep -q 'src="[./]*_static/mathjax/MathJax.js' "$work/site/html/reference/optimizers.html" ||
        fail "a page with formulas does not load the MathJax beside it"
    # Of a section of the class tex2jax_ignore it typesets elements of these classes alone.
    grep -q 'x-mathjax-config.*"processClass": "[^"]*|math["|]' \
        "$work/site/html/reference/optimizers.html" || fail "MathJax passes formulas by"
fi
grep -q 'class="math' "$work/site/html/reference/optimizers.html" || fail "there are no formulas"
