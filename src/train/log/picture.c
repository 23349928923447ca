// SPDX-License-Identifier: Apache-2.0
#include "train/log/picture.h"

#include <string.h>

// A matrix is about so many pixels wide, or has one for each cell.
#define SIDE 320

static int64_t cell_of(int64_t size)
{
    return size < SIDE ? SIDE / size : 1;
}

int64_t tern_log_matrix_side(int64_t size)
{
    return size * cell_of(size);
}

static double sum_of_row(const int64_t *row, int64_t size)
{
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum += row[i] > 0 ? (double)row[i] : 0;
    return sum;
}

// White for none of the row, dark blue for all of it.
static void color_of(uint8_t rgb[3], double share)
{
    static const uint8_t all[3] = {8, 48, 107};
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)(255 - share * (255 - all[c]) + 0.5);
}

static void draw_row(const tern_pixels *pixels, const tern_log_matrix *matrix, int64_t y)
{
    const int64_t size = matrix->size, cell = cell_of(size);
    const int64_t *row = matrix->values + y / cell * size;
    const double sum = sum_of_row(row, size);
    uint8_t *out = pixels->data + y * pixels->width * 3;
    for (int64_t x = 0; x < pixels->width; x++) {
        const int64_t count = row[x / cell];
        color_of(out + 3 * x, count > 0 ? (double)count / sum : 0);
    }
}

tern_status tern_log_matrix_draw(const char *op, const tern_log_matrix *matrix,
                                 tern_image_bytes *png)
{
    const int64_t side = tern_log_matrix_side(matrix->size);
    tern_pixels pixels;
    TERN_TRY(tern_pixels_alloc(&pixels, side, side, 3));
    for (int64_t y = 0; y < side; y++)
        draw_row(&pixels, matrix, y);
    const tern_status status = tern_png_encode(op, &pixels, png);
    tern_pixels_free(&pixels);
    return status;
}

// ---- the table ----------------------------------------------------------------------------------

static void add_name(tern_log_bytes *to, const tern_log_matrix *matrix, int64_t i)
{
    const char *name = matrix->class_names ? matrix->class_names[i] : NULL;
    if (!name)
        tern_log_add_integer(to, i);
    for (; name && *name; name++) {
        if (*name == '|')
            tern_log_add_text(to, "\\");
        tern_log_add(to, (unsigned char)*name < 0x20 ? " " : name, 1);
    }
    tern_log_add_text(to, " | ");
}

void tern_log_matrix_table(tern_log_bytes *to, const tern_log_matrix *matrix)
{
    tern_log_add_text(to, "| target \\ prediction | ");
    for (int64_t i = 0; i < matrix->size; i++)
        add_name(to, matrix, i);
    tern_log_add_text(to, "\n|---|");
    for (int64_t i = 0; i < matrix->size; i++)
        tern_log_add_text(to, "---|");
    for (int64_t y = 0; y < matrix->size; y++) {
        tern_log_add_text(to, "\n| ");
        add_name(to, matrix, y);
        for (int64_t x = 0; x < matrix->size; x++) {
            tern_log_add_integer(to, matrix->values[y * matrix->size + x]);
            tern_log_add_text(to, " | ");
        }
    }
    tern_log_add_text(to, "\n");
}
