// SPDX-License-Identifier: Apache-2.0
// What the tests of images share. Include <cmocka.h> before.
#ifndef TERN_TESTS_IMAGE_TEST_H
#define TERN_TESTS_IMAGE_TEST_H

#include "data/data_fixture.h"
#include "golden/golden.h"

// False, and the test says why it did nothing, where this build does not read the format.
static inline bool is_read(tern_image_format format)
{
    const char *reason = tern_image_reason(format);
    if (reason)
        print_message("skipped: %s\n", reason);
    return !reason;
}

#define NEEDS(format)                                                                              \
    do {                                                                                           \
        if (!is_read(format))                                                                      \
            skip();                                                                                \
    } while (0)

static inline bool is_golden_png(const golden_case *c)
{
    return strncmp(c->name, "png", 3) == 0;
}

static inline bool is_golden_jpeg(const golden_case *c)
{
    return strncmp(c->name, "jpeg", 4) == 0;
}

// Runs `look` on each stored file of a format that this build reads; how many there were.
static inline int each_golden_file(void (*look)(const golden_case *c, const golden_array *file))
{
    const golden_file *family = golden_read("images");
    int count = 0;
    for (int i = 0; i < family->count; i++) {
        const golden_case *c = &family->cases[i];
        const golden_array *file = golden_find_array(c, "file");
        if (!file || tern_image_reason(is_golden_png(c) ? TERN_IMAGE_PNG : TERN_IMAGE_JPEG))
            continue;
        look(c, file);
        count++;
    }
    return count;
}

// The whole image, bytes for bytes.
static inline void assert_bytes(const char *name, tern_tensor *t, tern_shape shape,
                                const uint8_t *expected)
{
    if (!t)
        fail_msg("%s: %s", name, tern_error_message());
    if (!tern_shape_equal(tern_shape_of(t), shape))
        fail_msg("%s: another shape", name);
    assert_int_equal(tern_dtype_of(t), TERN_UINT8);
    const uint8_t *bytes = tern_data(t);
    for (int64_t i = 0; i < tern_numel(t); i++)
        if (bytes[i] != expected[i])
            fail_msg("%s: byte %lld is %d, not %d", name, (long long)i, bytes[i], expected[i]);
}

#endif
