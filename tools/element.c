// SPDX-License-Identifier: Apache-2.0
// Two tensors, element by element.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tern_file.h"

// Elements that are looked at together: their copies in float64 stay small.
#define PIECE (1 << 18)

bool same_double(const arguments *given, double value, double other)
{
    if (memcmp(&value, &other, sizeof value) == 0)
        return true;
    if (!given->tolerant)
        return false;
    return value == other || (isnan(value) && isnan(other)) ||
           (isfinite(value) && isfinite(other) &&
            fabs(value - other) <= given->atol + given->rtol * fabs(other));
}

// ---- comparing ----------------------------------------------------------------------------------

typedef struct piece {
    const arguments *given;
    int64_t start, count;
    size_t size;         // of an element
    const char *a, *b;   // the elements
    const double *x, *y; // those of floating dtypes as doubles, else NULL
} piece;

static double distance(const piece *p, int64_t i)
{
    return p->x ? fabs(p->x[i] - p->y[i]) : 0;
}

static void look_at_each(const piece *p, difference *d)
{
    for (int64_t i = 0; i < p->count; i++) {
        const size_t at = (size_t)i * p->size;
        if (memcmp(p->a + at, p->b + at, p->size) == 0 ||
            (p->given->tolerant && p->x && same_double(p->given, p->x[i], p->y[i])))
            continue;
        if (d->first < 0)
            d->first = p->start + i;
        d->count++;
        if (isnan(distance(p, i)) || distance(p, i) > d->most)
            d->most = distance(p, i);
    }
}

static const double *as_doubles(tern_tensor *t)
{
    return tern_data(tern_to_dtype(t, TERN_FLOAT64));
}

// Two flat ones.
static void compare_piece(piece p, tern_tensor *a, tern_tensor *b, difference *d)
{
    a = tern_narrow(a, 0, p.start, p.count);
    b = tern_narrow(b, 0, p.start, p.count);
    p.size = tern_dtype_size(tern_dtype_of(a));
    p.a = tern_data(a);
    p.b = tern_data(b);
    if (!p.a || !p.b || memcmp(p.a, p.b, (size_t)p.count * p.size) == 0)
        return;
    if (tern_dtype_is_floating(tern_dtype_of(a))) {
        p.x = as_doubles(a);
        p.y = as_doubles(b);
    }
    if (!tern_error_pending())
        look_at_each(&p, d);
}

difference compare_elements(const arguments *given, tern_tensor *a, tern_tensor *b)
{
    difference d = {.first = -1};
    const int64_t numel = tern_numel(a);
    const tern_scope all = tern_scope_open();
    a = tern_reshape(a, tern_dims(numel));
    b = tern_reshape(b, tern_dims(numel));
    for (int64_t start = 0; start < numel && !tern_error_pending(); start += PIECE) {
        const int64_t left = numel - start;
        const tern_scope scope = tern_scope_open();
        const piece p = {.given = given, .start = start, .count = left < PIECE ? left : PIECE};
        compare_piece(p, a, b, &d);
        tern_scope_close(scope);
    }
    tern_scope_close(all);
    return d;
}

// ---- texts --------------------------------------------------------------------------------------

void double_text(char text[ELEMENT_SIZE], double value, int digits, uint64_t bits)
{
    if (isnan(value))
        snprintf(text, ELEMENT_SIZE, "nan (0x%llx)", (unsigned long long)bits);
    else
        snprintf(text, ELEMENT_SIZE, "%.*g", digits, value);
}

static void floating_text(char text[ELEMENT_SIZE], tern_tensor *one, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, tern_data(one), size);
    double_text(text, tern_item(one), size == 8 ? 17 : 9, bits);
}

void element_text(char text[ELEMENT_SIZE], tern_tensor *t, int64_t index)
{
    const tern_dtype dtype = tern_dtype_of(t);
    const tern_scope scope = tern_scope_open();
    tern_tensor *one = tern_narrow(tern_reshape(t, tern_dims(tern_numel(t))), 0, index, 1);
    if (!one)
        snprintf(text, ELEMENT_SIZE, "?");
    else if (tern_dtype_is_floating(dtype))
        floating_text(text, one, tern_dtype_size(dtype));
    else if (dtype == TERN_BOOL)
        snprintf(text, ELEMENT_SIZE, "%s", tern_item_int(one) ? "true" : "false");
    else
        snprintf(text, ELEMENT_SIZE, "%lld", (long long)tern_item_int(one));
    tern_scope_close(scope);
}
