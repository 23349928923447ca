#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the site of guides and headers, FOLDER/html/index.html, with Sphinx in a virtual environment
# of its own (TERN_SITE_VENV). Where that cannot be had, Doxygen shows the headers alone.
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
"$sphinx" "$root/docs/site/generate.py" "$root" "$folder/source"
TERN_SITE_VERSION=$version "$sphinx" -m sphinx -q -W --keep-going -b html -c "$root/docs/site" \
    -d "$folder/doctrees" "$folder/source" "$folder/html"
say "open $folder/html/index.html"
