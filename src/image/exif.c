// SPDX-License-Identifier: Apache-2.0
// How a camera was held: the tag 0x0112 of the first directory of EXIF's TIFF data (CIPA DC-008),
// where it is a SHORT; some programs write a LONG, which PIL reads as well.
#include <string.h>

#include "image/image.h"

#define ORIENTATION 0x0112
#define TYPE_SHORT  3
#define TYPE_LONG   4
#define ENTRY_BYTES 12

typedef struct tiff {
    const uint8_t *bytes;
    size_t nbytes;
    bool big_endian;
} tiff;

static uint32_t number_at(const tiff *t, size_t at, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | t->bytes[at + (size_t)(t->big_endian ? i : count - 1 - i)];
    return value;
}

static int orientation_in(const tiff *t, size_t directory)
{
    if (directory > t->nbytes - 2)
        return 1;
    const uint32_t count = number_at(t, directory, 2);
    size_t at = directory + 2;
    for (uint32_t i = 0; i < count && t->nbytes - at >= ENTRY_BYTES; i++, at += ENTRY_BYTES) {
        const uint32_t type = number_at(t, at + 2, 2);
        if (number_at(t, at, 2) != ORIENTATION || (type != TYPE_SHORT && type != TYPE_LONG))
            continue;
        const uint32_t value = number_at(t, at + 8, type == TYPE_SHORT ? 2 : 4);
        return value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}

int tern_exif_orientation(const uint8_t *bytes, size_t nbytes)
{
    if (nbytes < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0))
        return 1;
    const tiff t = {bytes, nbytes, bytes[0] == 'M'};
    return orientation_in(&t, number_at(&t, 4, 4));
}

// ---- turning ------------------------------------------------------------------------------------

// Of a pixel that is shown at (y, x): where it is stored.
typedef struct turn {
    bool transposed;     // rows are shown as columns
    bool flip_y, flip_x; // stored from the last row, from the last column
} turn;

static const turn turns[] = {
    [2] = {false, false, true}, [3] = {false, true, true}, [4] = {false, true, false},
    [5] = {true, false, false}, [6] = {true, true, false}, [7] = {true, true, true},
    [8] = {true, false, true},
};

static void copy_row(tern_pixels *to, const tern_pixels *from, const turn *how, int64_t y)
{
    const size_t channels = (size_t)to->channels;
    uint8_t *out = to->data + (size_t)(y * to->width) * channels;
    for (int64_t x = 0; x < to->width; x++, out += channels) {
        int64_t row = how->transposed ? x : y, column = how->transposed ? y : x;
        row = how->flip_y ? from->height - 1 - row : row;
        column = how->flip_x ? from->width - 1 - column : column;
        memcpy(out, from->data + (size_t)(row * from->width + column) * channels, channels);
    }
}

tern_status tern_pixels_orient(tern_pixels *pixels, int orientation)
{
    if (orientation <= 1)
        return TERN_OK;
    const turn *how = &turns[orientation];
    const tern_pixels from = *pixels;
    tern_pixels to;
    TERN_TRY(tern_pixels_alloc(&to, how->transposed ? from.width : from.height,
                               how->transposed ? from.height : from.width, from.channels));
    for (int64_t y = 0; y < to.height; y++)
        copy_row(&to, &from, how, y);
    tern_pixels_free(pixels);
    *pixels = to;
    return TERN_OK;
}
