// SPDX-License-Identifier: Apache-2.0
// Originals and what was made of them, in the order in which that was noted.
#ifndef TERN_SRC_NN_MODULE_MEMO_H
#define TERN_SRC_NN_MODULE_MEMO_H

#include "base/pointer_map.h"

// Zero it to begin. Holds nothing.
typedef struct tern_memo {
    tern_pointer_map map; // the number of an original, of map.count
    const void **from;
    void **to;
    int64_t from_capacity, to_capacity;
} tern_memo;

// What was made of an original; NULL: nothing yet.
void *tern_memo_find(const tern_memo *memo, const void *original);
tern_status tern_memo_note(tern_memo *memo, const void *original, void *made);
void tern_memo_free(tern_memo *memo);

#endif
