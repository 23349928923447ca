#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reference.sh html|xml FOLDER: writes the reference of include/tern into FOLDER/html or FOLDER/xml.
# Fails on a warning; ends with 77 where Doxygen is missing.
set -eu
folder=$2
docs=$(cd "$(dirname "$0")" && pwd)
source=${TERN_SOURCE:-${docs%/*}}
command -v doxygen >/dev/null || { echo "skipped: doxygen is not here"; exit 77; }
mkdir -p "$folder/tern"
python3 "$docs/reference_filter.py" "$source/include/tern" "$folder/tern"
status=0
{
    cat "$docs/Doxyfile"
    case $1 in
    html) echo 'GENERATE_XML = NO' ;;
    xml) echo 'GENERATE_HTML = NO' ;;
    esac
    printf 'INPUT = "%s" "%s"\n' "$folder/tern" "$docs/reference.md"
    echo 'RECURSIVE = YES'
    printf 'OUTPUT_DIRECTORY = "%s"\n' "$folder"
} | doxygen - >"$folder/log" 2>&1 || status=$?
sed "s|^$folder/tern/|include/tern/|" "$folder/log" >&2
exit $status
