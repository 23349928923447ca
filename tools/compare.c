// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "tern_file.h"

// Of a text, what is shown.
#define SHOWN 60

typedef struct comparison {
    const arguments *given;
    const tern_state *a, *b;
    int64_t different; // values
} comparison;

static const char *type_name(tern_state_type type)
{
    switch (type) {
    case TERN_STATE_TENSOR:
        return "a tensor";
    case TERN_STATE_INT:
        return "an integer";
    case TERN_STATE_DOUBLE:
        return "a number";
    case TERN_STATE_TEXT:
        return "a text";
    case TERN_STATE_BYTES:
        return "bytes";
    case TERN_STATE_UNSPECIFIED:
        break;
    }
    return "nothing";
}

// ---- tensors ------------------------------------------------------------------------------------

static void print_sizes(int rank, const int64_t *size)
{
    print("(");
    for (int i = 0; i < rank; i++)
        print(i ? ", %" PRId64 : "%" PRId64, size[i]);
    print(")");
}

static void print_image(tern_tensor *t)
{
    const tern_shape shape = tern_shape_of(t);
    print("%s ", tern_dtype_name(tern_dtype_of(t)));
    print_sizes(shape.rank, shape.dim);
}

static void print_position(tern_shape shape, int64_t index)
{
    int64_t at[TERN_MAX_RANK] = {0};
    for (int i = shape.rank - 1; i >= 0; index /= shape.dim[i], i--)
        at[i] = index % shape.dim[i];
    print_sizes(shape.rank, at);
}

static void print_difference(const char *name, tern_tensor *a, tern_tensor *b, const difference *d)
{
    char value[ELEMENT_SIZE], other[ELEMENT_SIZE];
    element_text(value, a, d->first);
    element_text(other, b, d->first);
    print("%s: element ", name);
    print_position(tern_shape_of(a), d->first);
    print(" is %s and %s; %" PRId64 " of %" PRId64 " differ", value, other, d->count,
          tern_numel(a));
    if (tern_dtype_is_floating(tern_dtype_of(a)))
        print(", by at most %.3g", d->most);
    putchar('\n');
}

static bool compare_tensors(const comparison *c, const char *name)
{
    tern_tensor *a = tern_state_tensor(c->a, name), *b = tern_state_tensor(c->b, name);
    if (tern_dtype_of(a) != tern_dtype_of(b) ||
        !tern_shape_equal(tern_shape_of(a), tern_shape_of(b))) {
        print("%s: ", name);
        print_image(a);
        print(" and ");
        print_image(b);
        putchar('\n');
        return false;
    }
    const difference d = compare_elements(c->given, a, b);
    if (d.first >= 0 && !tern_error_pending())
        print_difference(name, a, b, &d);
    return d.first < 0;
}

// ---- other values -------------------------------------------------------------------------------

static bool compare_ints(const comparison *c, const char *name)
{
    int64_t a = 0, b = 0;
    if (tern_state_get_int(c->a, name, &a) || tern_state_get_int(c->b, name, &b) || a == b)
        return true;
    print_line("%s: %" PRId64 " and %" PRId64 "", name, a, b);
    return false;
}

static bool compare_doubles(const comparison *c, const char *name)
{
    char value[ELEMENT_SIZE], other[ELEMENT_SIZE];
    double a = 0, b = 0;
    uint64_t x, y;
    if (tern_state_get_double(c->a, name, &a) || tern_state_get_double(c->b, name, &b) ||
        same_double(c->given, a, b))
        return true;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    double_text(value, a, 17, x);
    double_text(other, b, 17, y);
    print_line("%s: %s and %s", name, value, other);
    return false;
}

static void print_text(const char *text)
{
    size_t length = strnlen(text, SHOWN);
    const bool cut = text[length] != 0;
    while (cut && length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    print("\"%.*s%s\"", (int)length, text, cut ? "..." : "");
}

static bool compare_texts(const comparison *c, const char *name)
{
    const char *a = tern_state_text(c->a, name), *b = tern_state_text(c->b, name);
    size_t first = 0;
    if (!a || !b || strcmp(a, b) == 0)
        return true;
    while (a[first] == b[first])
        first++;
    print("%s: ", name);
    print_text(a);
    print(" and ");
    print_text(b);
    print_line(first ? "; the same up to byte %zu" : "", first);
    return false;
}

static bool compare_bytes(const comparison *c, const char *name)
{
    size_t a_size = 0, b_size = 0, first = 0;
    const unsigned char *a = tern_state_bytes(c->a, name, &a_size);
    const unsigned char *b = tern_state_bytes(c->b, name, &b_size);
    if (tern_error_pending())
        return true;
    if (a_size != b_size)
        return print_line("%s: %zu bytes and %zu", name, a_size, b_size), false;
    while (first < a_size && a[first] == b[first])
        first++;
    if (first == a_size)
        return true;
    print_line("%s: byte %zu is 0x%02x and 0x%02x", name, first, a[first], b[first]);
    return false;
}

// ---- states -------------------------------------------------------------------------------------

static bool compare_values(const comparison *c, const char *name, tern_state_type type)
{
    switch (type) {
    case TERN_STATE_TENSOR:
        return compare_tensors(c, name);
    case TERN_STATE_INT:
        return compare_ints(c, name);
    case TERN_STATE_DOUBLE:
        return compare_doubles(c, name);
    case TERN_STATE_TEXT:
        return compare_texts(c, name);
    case TERN_STATE_BYTES:
        return compare_bytes(c, name);
    case TERN_STATE_UNSPECIFIED:
        break;
    }
    return true;
}

static bool compare_name(const comparison *c, const char *name)
{
    const tern_state_type a = tern_state_type_of(c->a, name), b = tern_state_type_of(c->b, name);
    if (!a || !b)
        return print_line("only in %s: %s", c->given->files[a ? 0 : 1], name), false;
    if (a != b)
        return print_line("%s: %s and %s", name, type_name(a), type_name(b)), false;
    return compare_values(c, name, a);
}

// In the order of the first, then what the second has alone.
static void compare_states(comparison *c)
{
    for (int64_t i = 0; i < tern_state_count(c->a) && !tern_error_pending(); i++)
        c->different += !compare_name(c, tern_state_name_at(c->a, i));
    for (int64_t i = 0; i < tern_state_count(c->b) && !tern_error_pending(); i++) {
        const char *name = tern_state_name_at(c->b, i);
        if (!tern_state_type_of(c->a, name))
            c->different += !compare_name(c, name);
    }
}

int compare(const arguments *given)
{
    comparison c = {.given = given};
    tern_state *a = tern_state_read(given->files[0], .map_location = "cpu", .only = given->only);
    tern_state *b =
        a ? tern_state_read(given->files[1], .map_location = "cpu", .only = given->only) : NULL;
    if (b) {
        c.a = a;
        c.b = b;
        compare_states(&c);
    }
    tern_state_free(a);
    tern_state_free(b);
    if (tern_error_pending())
        return failed();
    return c.different ? EXIT_DIFFERENT : 0;
}
