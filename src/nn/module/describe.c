// SPDX-License-Identifier: Apache-2.0
// What modules say of themselves, in PyTorch's words: for errors, summaries and printing.
#include "nn/module/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/callback.h"
#include "base/text.h"

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
    char before[TERN_DESCRIPTION_SIZE], added[TERN_DESCRIPTION_SIZE];
    if (!out || !format) {
        tern_null_error("text_add", out ? "format" : "out");
        return;
    }
    va_list words;
    va_start(words, format);
    tern_text_format(added, sizeof added, format, words);
    va_end(words);
    memcpy(before, out->text, sizeof before);
    put(out->text, sizeof out->text, "%s%s", before, added);
}

void tern_text_add_double(tern_text *out, double value)
{
    char text[32];
    int digits = 1;
    do {
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
    } while (digits < 17 && isfinite(value) && strtod(text, NULL) != value && ++digits);
    // Python has no exponent up to 1e16, and a point in every other number.
    const bool finite = isfinite(value);
    const int whole = finite && value != 0 ? (int)floor(log10(fabs(value))) + 1 : 1;
    const bool plain = finite && whole <= 16;
    tern_text_add(out, "%.*g%s", plain && digits < whole ? whole : digits, value,
                  plain && value == floor(value) ? ".0" : "");
}

void tern_module_describe(const tern_module *module, tern_text *out)
{
    const tern_module_computed *computed = module->private_->computed;
    const bool failed_before = tern_error_pending();
    out->text[0] = 0;
    if (!module->klass->describe)
        return;
    tern_callback_begin();
    (computed ? computed->describe : module->klass->describe)(module, out);
    tern_callback_end();
    if (!failed_before) // what only says something fails nobody's call
        tern_error_clear();
}

void tern_module_title(const tern_module *module, char *title, size_t size)
{
    tern_text description;
    tern_module_describe(module, &description);
    const char *class_name = module->klass->name;
    const size_t length = strlen(class_name);
    if (!description.text[0] || length + 6 > size) {
        put(title, size, "%s", class_name);
        return;
    }
    char *rest = title + length;
    put(title, size, "%s(", class_name);
    put(rest + 1, size - length - 2, "%s", description.text);
    strcat(rest, ")");
}
