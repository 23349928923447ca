// SPDX-License-Identifier: Apache-2.0
// The table as text.
#include <string.h>
#include "nn/module/describe.h"
#include "train/summary/table.h"

#define PARAMETERS 12 // columns
#define PRODUCTS   15
#define NAME       30 // where the lines are as long as they need
#define SHAPE      20
#define MIN_TEXT   12 // of a description, below which there is none

// Columns of what varies.
typedef struct layout {
    tern_writer *writer;
    int name, shape;
    int rest; // of the description, with what is before it; -1: all of it
} layout;

static layout lay_out(int width, tern_writer *writer)
{
    layout l = {.writer = writer, .name = NAME, .shape = SHAPE, .rest = -1};
    if (width == 0)
        return l;
    const int left = width - PARAMETERS - PRODUCTS - 3;
    if (left < NAME + SHAPE) {
        l.name = left * 3 / 5;
        l.shape = left - l.name;
    }
    l.rest = left - l.name - l.shape;
    return l;
}

// 1234567 as "1,234,567".
static const char *with_commas(int64_t number, char text[32])
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%lld", (long long)number), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = 0;
    return text;
}

static void cut(char *text, int columns)
{
    if ((int)strlen(text) <= columns || columns < 2)
        return;
    memcpy(text + columns - 2, "..", 3);
}

// What a row has none of is a dash.
static const char *number_of(int64_t number, char text[32])
{
    return number > 0 ? with_commas(number, text) : "-";
}

static void write_line(const layout *l, char *name, char *shape, const char *parameters,
                       const char *products, char *description)
{
    if (l->rest >= 0) {
        cut(name, l->name);
        cut(shape, l->shape);
        cut(description, l->rest - 2);
    }
    if (l->rest >= 0 && l->rest - 2 < MIN_TEXT)
        description[0] = 0;
    tern_write(l->writer, "%-*s %-*s %*s %*s%s%s\n", l->name, name, l->shape, shape, PARAMETERS,
               parameters, PRODUCTS, products, description[0] ? "  " : "", description);
}

static void write_row(const layout *l, const summary_row *r)
{
    char name[128], shape[96] = "not run", parameters[32], products[32];
    snprintf(name, sizeof name, "%*s%s%s%s", r->indent < 40 ? r->indent : 40, "", r->name,
             r->name[0] ? " " : "", r->module->klass->name);
    if (r->ran && r->outputs > 0)
        snprintf(shape, sizeof shape, "%s%s", tern_shape_string(r->output),
                 r->outputs > 1 ? ", .." : "");
    else if (r->ran)
        snprintf(shape, sizeof shape, "nothing");
    tern_text description;
    tern_module_describe(r->module, &description);
    write_line(l, name, shape, number_of(r->own, parameters), number_of(r->multiply_adds, products),
               description.text);
}

static void write_rule(const layout *l)
{
    for (int i = 0; i < l->name + l->shape + PARAMETERS + PRODUCTS + 3; i++)
        tern_write(l->writer, "-");
    tern_write(l->writer, "\n");
}

// ---- totals -------------------------------------------------------------------------------------

static void write_bytes(const layout *l, const char *of, int64_t nbytes)
{
    char number[32];
    tern_write(l->writer, "Bytes of %s: %s\n", of, with_commas(nbytes, number));
}

static void write_memory(const layout *l, const summary_table *t)
{
    const summary_memory *m = &t->memory;
    write_bytes(l, "parameters and buffers", m->weights);
    write_bytes(l, "gradients", m->gradients);
    if (m->optim >= 0) {
        char of[80];
        snprintf(of, sizeof of, "optimizer state (%s)", t->optim_name);
        write_bytes(l, of, m->optim);
    }
    if (m->activations >= 0)
        write_bytes(l, "activations for backward", m->activations);
    else
        tern_write(l->writer, "Bytes of activations for backward: not known (%s)\n",
                   m->why_not_known);
}

void tern_summary_write(const summary_table *t, int width, tern_writer *writer)
{
    const layout l = lay_out(width, writer);
    char number[32], none[] = "";
    write_line(&l, (char[]){"Layer"}, (char[]){"Output shape"}, "Parameters", "Multiply-adds",
               none);
    write_rule(&l);
    for (int64_t i = 0; i < t->count; i++)
        write_row(&l, &t->rows[i]);
    write_rule(&l);
    tern_write(writer, "Parameters: %s", with_commas(t->elements, number));
    tern_write(writer, ", trainable: %s\n", with_commas(t->trainable, number));
    tern_write(writer, "Multiply-adds: %s\n", with_commas(t->multiply_adds, number));
    write_memory(&l, t);
}
