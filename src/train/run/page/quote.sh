#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quote.sh HTML CSS JS..: the files of the page as texts of C, the scripts one after the other.
quote() {
    printf 'const char tern_page_%s[] =\n' "$1"
    shift
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/?/\\?/g' -e 's/.*/    "&\\n"/' "$@" # ? ends trigraphs
    printf '    "";\n'
}

printf '#include "train/run/page.h"\n'
printf '#pragma GCC diagnostic ignored "-Woverlength-strings"\n'
quote head "$1"
quote style "$2"
shift 2
quote script "$@"
