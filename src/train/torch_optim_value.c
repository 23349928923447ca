// SPDX-License-Identifier: Apache-2.0
#include "train/torch_optim_value.h"

#include <stdio.h>
#include "base/text.h"

const char tern_torch_load_op[] = "optim_load_torch";

tern_status tern_torch_wrong(const tern_torch_loading *l, const char *format, ...)
{
    char words[TERN_MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    tern_text_format(words, sizeof words, format, list);
    va_end(list);
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s: %s", tern_torch_load_op, l->path, words);
}

const tern_state_value *tern_torch_look(const tern_torch_loading *l, const char *format, ...)
{
    char name[TERN_TORCH_NAME_SIZE];
    va_list list;
    const int length = snprintf(name, sizeof name, "%s", l->prefix);
    va_start(list, format);
    vsnprintf(name + length, sizeof name - (size_t)length, format, list);
    va_end(list);
    const tern_state_entry *entry = tern_state_find(l->file, name);
    return entry ? &entry->value : NULL;
}

tern_status tern_torch_put(const tern_torch_loading *l, const char *parameter, const char *key,
                           const tern_state_value *value)
{
    char name[TERN_TORCH_NAME_SIZE];
    tern_state_value copy;
    snprintf(name, sizeof name, "%s.%s", parameter, key);
    TERN_TRY(tern_state_value_copy(&copy, value));
    return tern_state_put(tern_torch_load_op, l->own, name, copy);
}

tern_status tern_torch_put_int(const tern_torch_loading *l, const char *parameter, const char *key,
                               int64_t value)
{
    return tern_torch_put(l, parameter, key,
                          &(tern_state_value){.type = TERN_STATE_INT, .integer = value});
}

tern_status tern_torch_put_double(const tern_torch_loading *l, const char *parameter,
                                  const char *key, double value)
{
    return tern_torch_put(l, parameter, key,
                          &(tern_state_value){.type = TERN_STATE_DOUBLE, .number = value});
}

bool tern_torch_to_double(const tern_state_value *value, double *number)
{
    if (value->type != TERN_STATE_TENSOR)
        return tern_state_value_double(value, number);
    if (value->tensor->numel != 1)
        return false;
    *number = tern_item(value->tensor);
    return true;
}
