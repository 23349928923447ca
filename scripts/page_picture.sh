#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes docs/run-page.png, the picture of a page in README: five epochs of mlp_mnist with --log,
# whose run.html a headless Chromium draws.
# Usage: scripts/page_picture.sh
# Environment: TERN_BUILD, the build directory.
. "$(dirname "$0")/common.sh"

[ $# = 0 ] || { say "usage: scripts/page_picture.sh"; exit 2; }
need gcc libc6-dev meson ninja-build pkg-config python3 zlib1g-dev libpng-dev \
    dataset-fashion-mnist chromium
configure "$build" -Dexamples=enabled
ninja -C "$build" examples/mlp_mnist/mlp_mnist >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/examples/mlp_mnist/mlp_mnist" --quiet --log "$folder/fashion-mnist" >&2
quietly chromium --headless=new --no-sandbox --hide-scrollbars --window-size=1280,2080 \
    --user-data-dir="$folder/chromium" --screenshot="$folder/page.png" \
    "file://$folder/fashion-mnist/run.html"
cp "$folder/page.png" "$root/docs/run-page.png"
say "docs/run-page.png is written"
