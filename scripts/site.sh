#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the site of guides and headers, FOLDER/html/index.html, with Sphinx in a virtual environment
# of its own (TERN_SITE_VENV), and with a copy of MathJax, which typesets formulas. Where Sphinx
# cannot be had, Doxygen shows the headers alone.
# Usage: scripts/site.sh [FOLDER]; without a word build/site
. "$(dirname "$0")/common.sh"

folder=${1:-$build/site}
mkdir -p "$folder"
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
if ! make_site_venv; then
    say "there is no Sphinx: Doxygen shows the headers alone, without guides and examples"
    need doxygen
    exec "$root/docs/reference.sh" html "$folder"
fi
# What it takes of MathJax for TeX alone: the pages are read without a network.
mathjax=/usr/share/javascript/mathjax
static=$folder/static
rm -rf "$static"
if (need libjs-mathjax); then
    for part in MathJax.js config/TeX-AMS_SVG.js extensions jax/element jax/input/TeX \
        jax/output/SVG/config.js jax/output/SVG/jax.js jax/output/SVG/autoload \
        jax/output/SVG/fonts/TeX; do
        mkdir -p "$(dirname "$static/mathjax/$part")"
        cp -r "$mathjax/$part" "$static/mathjax/$part"
    done
else
    say "there is no MathJax: formulas are shown as TeX"
    static=
fi
"$sphinx" "$root/docs/site/generate.py" "$root" "$folder/source"
export TERN_SITE_VERSION="$version" TERN_SITE_MATHJAX="$static"
"$sphinx" -m sphinx -q -W --keep-going -b html -c "$root/docs/site" \
    -d "$folder/doctrees" "$folder/source" "$folder/html"
say "open $folder/html/index.html"
