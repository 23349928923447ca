// SPDX-License-Identifier: Apache-2.0
#include "tern_file.h"

int pack(const arguments *given)
{
    tern_data_pack_options options = tern_data_pack_defaults();
    if (!may_write(given, given->files[1]))
        return EXIT_UNUSABLE;
    options.directory = given->files[0];
    options.path = given->files[1];
    options.raw = given->raw;
    options.exif = given->exif;
    options.allow_empty = given->allow_empty;
    options.skip_other_formats = given->skip_other_formats;
    if (given->max_pixels > 0)
        options.max_pixels = given->max_pixels;
    return tern_data_pack_with(&options) ? failed() : 0;
}
