// SPDX-License-Identifier: Apache-2.0
// An npz of two arrays of two float32, and rows of wrong numbers that are put into it. Include
// <cmocka.h> before.
#ifndef TERN_TESTS_IO_ZIP_ROWS_H
#define TERN_TESTS_IO_ZIP_ROWS_H

#include "npy_build.h"
#include "zip_build.h"

#define HEADER "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"

typedef enum place {
    NOWHERE = 0,
    LOCAL, // of entry 0, 1
    DATA,
    CENTRAL,
    ZIP64,
    LOCATOR,
    END
} place;

typedef struct patch {
    place place;
    int entry;
    size_t offset;
    int count; // bytes
    uint64_t value;
} patch;

typedef struct row {
    const char *name;
    patch patches[4];
    const char *words;
} row;

static zip_build archive;
static unsigned char array[400];
static size_t array_size;

static inline void build(bool deflated, bool zip64)
{
    static const float elements[2] = {1, -2};
    array_size = build_npy(array, sizeof array, 1, HEADER, elements, sizeof elements);
    const zip_part parts[] = {{"a.npy", array, array_size, deflated},
                              {"b.npy", array, array_size, false}};
    build_zip(&archive, parts, 2, zip64);
}

static inline size_t start_of(const patch *p)
{
    switch (p->place) {
    case LOCAL:
        return archive.at.local[p->entry];
    case DATA:
        return archive.at.data[p->entry];
    case CENTRAL:
        return archive.at.central[p->entry];
    case ZIP64:
        return archive.at.zip64_end;
    case LOCATOR:
        return archive.at.locator;
    case END:
        return archive.at.end;
    case NOWHERE:
        break;
    }
    return 0;
}

static inline void apply(const row *r)
{
    for (const patch *p = r->patches; p < r->patches + 4 && p->place; p++)
        put_le(archive.bytes + start_of(p) + p->offset, p->count, p->value);
}

static inline void assert_rows_refused(const row *rows, size_t count, bool deflated, bool zip64)
{
    for (size_t i = 0; i < count; i++) {
        build(deflated, zip64);
        apply(&rows[i]);
        assert_file_refused(rows[i].name, archive.bytes, archive.at.size, TERN_ERR_FORMAT,
                            rows[i].words);
    }
}

static inline void assert_read(void)
{
    tern_state *state = tern_state_read(write_file("good", archive.bytes, archive.at.size));
    if (!state)
        fail_msg("%s", tern_error_message());
    for (int i = 0; i < 2; i++) {
        tern_tensor *t = tern_state_tensor(state, i ? "b" : "a");
        assert_non_null(t);
        assert_memory_equal(tern_data(t), ((float[]){1, -2}), 8);
    }
    tern_state_free(state);
}

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

#endif
