// SPDX-License-Identifier: Apache-2.0
// What modules say of themselves: for errors and printing, in PyTorch's words.
#include "nn/describe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/callback.h"
#include "base/cancel.h"
#include "base/text.h"
#include "nn/list.h"

static void put(char *buffer, size_t size, const char *format, ...) TERN_PRINTF_(3, 4);
static void put(char *buffer, size_t size, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    tern_text_format(buffer, size, format, words);
    va_end(words);
}

void tern_text_add(tern_text *out, const char *format, ...)
{
    char before[TERN_DESCRIPTION_SIZE], piece[TERN_DESCRIPTION_SIZE];
    if (!out || !format) {
        tern_null_error("text_add", out ? "format" : "out");
        return;
    }
    va_list words;
    va_start(words, format);
    tern_text_format(piece, sizeof piece, format, words);
    va_end(words);
    memcpy(before, out->text, sizeof before);
    put(out->text, sizeof out->text, "%s%s", before, piece);
}

void tern_layer_add_double(tern_text *out, double value)
{
    char text[32];
    int digits = 1;
    do {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
    } while (digits < 17 && isfinite(value) && strtod(text, NULL) != value && ++digits);
    // Python has no exponent up to 1e16, and a point in every other number.
    const int whole = value != 0 ? (int)floor(log10(fabs(value))) + 1 : 1;
    const bool plain = isfinite(value) && whole <= 16;
    tern_text_add(out, "%.*g%s", plain && digits < whole ? whole : digits, value,
                  plain && value == floor(value) ? ".0" : "");
}

void tern_module_describe(const tern_module *module, tern_text *out)
{
    out->text[0] = 0;
    if (!module->klass->describe)
        return;
    tern_callback_begin();
    module->klass->describe(module, out);
    tern_callback_end();
}

void tern_module_title(const tern_module *module, char *title, size_t size)
{
    tern_text said;
    tern_module_describe(module, &said);
    const char *class_name = module->klass->name;
    const size_t length = strlen(class_name);
    if (!said.text[0] || length + 6 > size) {
        put(title, size, "%s", class_name);
        return;
    }
    char *rest = title + length;
    put(title, size, "%s(", class_name);
    put(rest + 1, size - length - 2, "%s", said.text);
    strcat(rest, ")");
}

// ---- printing -----------------------------------------------------------------------------------

static bool are_alike(const tern_module *a, const tern_module *b)
{
    const tern_module_private *x = a->private_, *y = b->private_;
    tern_text of_a, of_b;
    tern_module_describe(a, &of_a);
    tern_module_describe(b, &of_b);
    if (strcmp(a->klass->name, b->klass->name) != 0 || strcmp(of_a.text, of_b.text) != 0 ||
        x->child_count != y->child_count)
        return false;
    for (int64_t i = 0; i < x->child_count; i++)
        if (strcmp(x->children[i].name, y->children[i].name) != 0 ||
            !are_alike(x->children[i].module, y->children[i].module))
            return false;
    return true;
}

// How many children from `first` on print alike and are shown once: in lists only.
static int64_t count_alike(const tern_module *module, int64_t first)
{
    const tern_module_private *private_ = module->private_;
    int64_t next = first + 1;
    if (module->klass == &tern_nn_module_list_class)
        while (next < private_->child_count &&
               are_alike(private_->children[first].module, private_->children[next].module))
            next++;
    return next - first;
}

static void write_module(const tern_module *module, int indent, tern_writer *writer);

static void write_children(const tern_module *module, int indent, tern_writer *writer)
{
    const tern_module_private *private_ = module->private_;
    for (int64_t i = 0, alike; i < private_->child_count; i += alike) {
        alike = count_alike(module, i);
        tern_write(writer, "%*s(%s", indent, "", private_->children[i].name);
        if (alike > 1)
            tern_write(writer, "-%s): %lld x ", private_->children[i + alike - 1].name,
                       (long long)alike);
        else
            tern_write(writer, "): ");
        write_module(private_->children[i].module, indent, writer);
        tern_write(writer, "\n");
    }
}

static void write_module(const tern_module *module, int indent, tern_writer *writer)
{
    tern_text said;
    tern_module_describe(module, &said);
    tern_write(writer, "%s(", module->klass->name);
    if (module->private_->child_count == 0) {
        tern_write(writer, "%s)", said.text);
        return;
    }
    tern_write(writer, "\n");
    if (said.text[0])
        tern_write(writer, "%*s%s\n", indent + 2, "", said.text);
    write_children(module, indent + 2, writer);
    tern_write(writer, "%*s)", indent, "");
}

tern_status tern_module_print(const tern_module *module, FILE *file)
{
    TERN_TRY(tern_check_module("module_print", module));
    tern_writer writer = {.file = file ? file : stdout};
    int saved = errno; // the first write to a stream may set it even if all goes well
    int cancel_state = tern_cancel_disable();
    write_module(module, 0, &writer);
    tern_write(&writer, "\n");
    bool written = !fflush(writer.file) && !ferror(writer.file);
    tern_cancel_restore(cancel_state);
    errno = saved;
    TERN_CHECK(written, TERN_ERR_IO, "module_print: the file cannot be written");
    return TERN_OK;
}
