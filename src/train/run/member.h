// SPDX-License-Identifier: Apache-2.0
// The members of an object of JSON, found before its kind is known.
#ifndef TERN_SRC_TRAIN_RUN_MEMBER_H
#define TERN_SRC_TRAIN_RUN_MEMBER_H

#include "io/json.h"

enum { TERN_RUN_MAX_MEMBERS = 256 }; // of an object; more are passed over

typedef struct tern_run_member {
    const char *key;
    char type;         // '"', '0', '[', '{', 't', 'f' or 'n' (null)
    char *begin, *end; // of the value, as it is written but for a text
    union {
        const char *text;
        double number;
    };
} tern_run_member;

typedef struct tern_run_record {
    int64_t step;
    double time;
    const char *tag;
    int count;
    tern_run_member at[TERN_RUN_MAX_MEMBERS];
} tern_run_record;

// Takes an object, changing its texts: TERN_ERR_FORMAT, not raised, where it is none. `step`,
// `time` and `tag` are left to the caller.
tern_status tern_run_members_read(tern_json *json, tern_run_record *record);
// NULL where there is none.
const tern_run_member *tern_run_member_find(const tern_run_record *record, const char *key);
// NULL where there is none, or it is no text.
const char *tern_run_text_member(const tern_run_record *record, const char *key);
// False where there is none, or it is none.
bool tern_run_integer_member(const tern_run_record *record, const char *key, int64_t *value);
// Likewise; null is what the member "text" says: "nan", "inf" or "-inf".
bool tern_run_number_member(const tern_run_record *record, const char *key, double *value);
// To read an array or object.
tern_json tern_run_json_of(const tern_run_member *member);

#endif
