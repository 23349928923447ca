// SPDX-License-Identifier: Apache-2.0
#include "train/run/member.h"

#include <math.h>
#include <string.h>
#include "base/error.h"

// Passes an array or object over without changing it: its kind says later what it has to be.
static tern_status pass(tern_json *json)
{
    int depth = 0;
    bool in_text = false;
    for (; json->at < json->end; json->at++) {
        const char c = *json->at;
        if (in_text && c == '\\' && json->at + 1 < json->end)
            json->at++;
        else if (c == '"')
            in_text = !in_text;
        else if (!in_text && (c == '[' || c == '{'))
            depth++;
        else if (!in_text && (c == ']' || c == '}') && --depth == 0)
            return json->at++, TERN_OK;
    }
    return TERN_ERR_FORMAT;
}

static tern_status read_value(tern_json *json, tern_run_member *m)
{
    m->type = tern_json_peek(json);
    m->begin = json->at;
    if (m->type == '"')
        TERN_TRY(tern_json_string(json, &m->text));
    else if (m->type == '[' || m->type == '{')
        TERN_TRY(pass(json));
    else if (tern_json_accept_word(json, "true") || tern_json_accept_word(json, "false"))
        ;
    else if (!tern_json_accept_null(json)) {
        m->type = '0';
        TERN_TRY(tern_json_number(json, &m->number));
    }
    m->end = json->at;
    return TERN_OK;
}

tern_status tern_run_members_read(tern_json *json, tern_run_record *record)
{
    bool first = true, another;
    record->count = 0; // what is behind stays undefined: it is much for each line
    TERN_TRY(tern_json_expect(json, '{'));
    for (;;) {
        tern_run_member m = {.type = 0};
        TERN_TRY(tern_json_next(json, '}', &first, &another));
        if (!another)
            return TERN_OK;
        TERN_TRY(tern_json_string(json, &m.key));
        TERN_TRY(tern_json_expect(json, ':'));
        TERN_TRY(read_value(json, &m));
        if (record->count < TERN_RUN_MAX_MEMBERS)
            record->at[record->count++] = m;
    }
}

const tern_run_member *tern_run_member_find(const tern_run_record *record, const char *key)
{
    for (int i = 0; i < record->count; i++)
        if (strcmp(record->at[i].key, key) == 0)
            return &record->at[i];
    return NULL;
}

const char *tern_run_text_member(const tern_run_record *record, const char *key)
{
    const tern_run_member *m = tern_run_member_find(record, key);
    return m && m->type == '"' ? m->text : NULL;
}

bool tern_run_integer_member(const tern_run_record *record, const char *key, int64_t *value)
{
    const tern_run_member *m = tern_run_member_find(record, key);
    if (!m || m->type != '0')
        return false;
    tern_json json = {.start = m->begin, .at = m->begin, .end = m->end};
    return tern_json_integer(&json, value) == TERN_OK && json.at == m->end;
}

// A null is a number that JSON has no word for; "text" says which.
bool tern_run_number_member(const tern_run_record *record, const char *key, double *value)
{
    const tern_run_member *m = tern_run_member_find(record, key);
    const char *text = tern_run_text_member(record, "text");
    if (!m || (m->type != '0' && m->type != 'n'))
        return false;
    *value = m->type == '0'                      ? m->number
             : text && strcmp(text, "inf") == 0  ? INFINITY
             : text && strcmp(text, "-inf") == 0 ? -INFINITY
                                                 : NAN;
    return true;
}

tern_json tern_run_json_of(const tern_run_member *m)
{
    return (tern_json){.start = m->begin, .at = m->begin, .end = m->end};
}
