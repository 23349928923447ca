// SPDX-License-Identifier: Apache-2.0
// The options of a script as settings of its run.
#include "base/error.h"
#include "train/script/table.h"

static tern_setting setting_of(const tern_option *o)
{
    tern_setting setting = {.name = o->name};
    switch (tern_option_kind(o)) {
    case OPTION_INTEGER:
        setting.type = TERN_SETTING_INT;
        setting.integer = *o->integer.variable;
        break;
    case OPTION_NUMBER:
        setting.type = TERN_SETTING_DOUBLE;
        setting.number = *o->number.variable;
        break;
    case OPTION_FLAG:
        setting.type = TERN_SETTING_BOOL;
        setting.truth = *o->flag;
        break;
    case OPTION_CHOICE:
    case OPTION_TEXT:
        setting.type = TERN_SETTING_TEXT;
        setting.text = o->text ? *o->text : *o->choice.variable;
        break;
    case OPTION_NONE:
        break;
    }
    return setting;
}

int64_t tern_script_settings(const tern_script *script, tern_setting *settings, int64_t capacity)
{
    tern_option_list list;
    int64_t count = 0;
    if (!settings && capacity > 0) {
        tern_null_error("script_settings", "settings");
        return -1;
    }
    if (tern_option_list_make(&list, "script_settings", script))
        return -1;
    for (int i = 0; i < list.count; i++) {
        if (!list.at[i]->name || !tern_option_has_value(list.at[i]))
            continue;
        if (count < capacity)
            settings[count] = setting_of(list.at[i]);
        count++;
    }
    return count;
}
