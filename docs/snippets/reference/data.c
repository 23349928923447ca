// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/data.h, for the site.
#include "examples.h"

static int64_t count_squares(const tern_dataset *self)
{
    (void)self;
    return 100;
}

static tern_status make_square(const tern_dataset *self, const tern_sample_context *context,
                               int64_t index, tern_sample *out)
{
    (void)self;
    (void)context;
    out->at[out->count++] = tern_full(tern_dims(1), (double)(index * index));
    return tern_error_code();
}

static const tern_dataset_class squares_class = {
    .name = "squares", .size = sizeof(tern_dataset), .count = count_squares, .item = make_square};

static void show_dataset_retain(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    tern_dataset *data = tern_data_tensors(x, y);
    // [tern_dataset_retain]
    tern_dataset *mine = tern_dataset_retain(data);
    tern_dataset_free(data); // mine is still there
    // [/tern_dataset_retain]
    expect(tern_dataset_count(mine) == 10);
    tern_dataset_free(mine);
}

static void show_dataset_new(void)
{
    // [tern_dataset_new]
    tern_dataset *data = tern_dataset_new(&squares_class);
    int64_t count = tern_dataset_count(data); // 100
    // [/tern_dataset_new]
    expect(count == 100);
    tern_dataset_free(data);
}

int data_examples(void)
{
    show_dataset_retain();
    show_dataset_new();
    return failures;
}
