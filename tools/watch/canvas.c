// SPDX-License-Identifier: Apache-2.0
// Pictures of dots in the characters of braille (Unicode 2800 to 28FF), 2 x 4 in each.
#include <stdlib.h>

#include "watch.h"

bool canvas_make(canvas *c, int columns, int rows)
{
    *c = (canvas){columns, rows, NULL};
    c->cells = calloc((size_t)columns * (size_t)rows, sizeof *c->cells);
    for (int i = 0; c->cells && i < columns * rows; i++)
        c->cells[i].colour = -1;
    return c->cells;
}

void canvas_free(canvas *c)
{
    free(c->cells);
    c->cells = NULL;
}

static struct cell *cell_at(canvas *c, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < 2 * c->columns && y < 4 * c->rows;
    return inside ? &c->cells[y / 4 * c->columns + x / 2] : NULL;
}

static void dot(canvas *c, int x, int y, int colour, bool faint)
{
    static const unsigned char bits[4][2] = {
        {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    struct cell *cell = cell_at(c, x, y);
    if (!cell)
        return;
    cell->dots |= bits[y % 4][x % 2];
    cell->colour = (signed char)colour;
    cell->faint = faint;
}

// Bresenham's line.
void canvas_line(canvas *c, int x0, int y0, int x1, int y1, int colour, bool faint)
{
    const int dx = abs(x1 - x0), dy = -abs(y1 - y0);
    const int step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
    int error = dx + dy;
    for (;;) {
        dot(c, x0, y0, colour, faint);
        if (x0 == x1 && y0 == y1)
            return;
        const int twice = 2 * error;
        if (twice >= dy)
            error += dy, x0 += step_x;
        if (twice <= dx)
            error += dx, y0 += step_y;
    }
}

void canvas_mark(canvas *c, int x, int y, char mark, int colour)
{
    struct cell *cell = cell_at(c, x, y);
    if (!cell)
        return;
    cell->mark = mark;
    cell->colour = (signed char)colour;
    cell->faint = false;
}

void canvas_row(const canvas *c, int row, text *t)
{
    int colour = -1;
    bool faint = false;
    for (int i = 0; i < c->columns; i++) {
        const struct cell *cell = &c->cells[row * c->columns + i];
        const bool shown = cell->dots || cell->mark;
        const int wanted = shown ? cell->colour : -1;
        if (wanted != colour || (wanted >= 0 && cell->faint != faint)) {
            if (colour >= 0)
                text_colour(t, -1, false);
            if (wanted >= 0)
                text_colour(t, wanted, cell->faint);
            colour = wanted;
            faint = cell->faint;
        }
        if (cell->mark)
            text_add(t, "%c", cell->mark);
        else if (cell->dots)
            text_add(t, "\xE2%c%c", 0xA0 | cell->dots >> 6, 0x80 | (cell->dots & 0x3F));
        else
            text_add(t, " ");
    }
    if (colour >= 0)
        text_colour(t, -1, false);
}
