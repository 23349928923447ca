// SPDX-License-Identifier: Apache-2.0
// The reader of JSON, driven over whatever comes next; and doubles as texts.
#include <stdlib.h>
#include <string.h>

#include "io/json.h"
#include "reader.h"

#define DEEPEST 8

static tern_status read_value(tern_json *json, int depth);

static tern_status read_members(tern_json *json, char close, int depth)
{
    bool first = true, another;
    const char *key;
    for (;;) {
        TERN_TRY(tern_json_next(json, close, &first, &another));
        if (!another)
            return TERN_OK;
        if (close == '}') {
            TERN_TRY(tern_json_string(json, &key));
            must(tern_utf8_valid(key, strlen(key)), "a key is no UTF-8");
            TERN_TRY(tern_json_expect(json, ':'));
        }
        TERN_TRY(read_value(json, depth + 1));
    }
}

static tern_status read_value(tern_json *json, int depth)
{
    const char *text;
    int64_t integer;
    double number;
    if (depth == DEEPEST)
        return tern_json_error(json, "is deeper than %d", DEEPEST);
    if (tern_json_accept(json, '{'))
        return read_members(json, '}', depth);
    if (tern_json_accept(json, '['))
        return read_members(json, ']', depth);
    if (tern_json_accept_null(json))
        return TERN_OK;
    if (tern_json_peek(json) != '"')
        return tern_json_integer(json, &integer);
    TERN_TRY(tern_json_string(json, &text));
    must(tern_utf8_valid(text, strlen(text)), "a text is no UTF-8");
    if (tern_json_double_parse(text, &number)) {
        char again[TERN_JSON_DOUBLE_SIZE];
        tern_json_double_text(again, number);
        must(strcmp(again, text) == 0, "a number has two texts");
    }
    return TERN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    char *text = (char *)copy_of(data, nbytes);
    tern_json json = {"state_read", "input", "header", text, text, text + nbytes};
    begin_call();
    tern_status status = read_value(&json, 0);
    if (!status)
        status = tern_json_end(&json);
    end_call(status, nbytes);
    free(text);
    return 0;
}
