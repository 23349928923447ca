# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2059
# write_images FOLDER COUNT NAME: COUNT images of 28 x 28 as the files of MNIST, in turn bright
# below with label 1 and bright above with label 9. NAME is train or t10k. $work is a folder for
# what is left over.
write_images()
{
    mkdir -p "$1"
    awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) for (k = 0; k < 784; k++)
        printf "%c", (k < 392) == (i % 2) ? "~" : " " }' >"$work/pixels"
    hex=$(printf '%04x' "$2")
    size="\\0\\0\\$(printf %o 0x"${hex%??}")\\$(printf %o 0x"${hex#??}")"
    { printf '\0\0\10\3'"$size"'\0\0\0\34\0\0\0\34'; cat "$work/pixels"; } |
        gzip >"$1/$3-images-idx3-ubyte.gz"
    { printf '\0\0\10\1'"$size"; awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++)
        printf "%c", i % 2 ? "\t" : "\001" }'; } | gzip >"$1/$3-labels-idx1-ubyte.gz"
}
