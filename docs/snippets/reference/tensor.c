// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/tensor.h, for the site.
#include "examples.h"

static void show_empty(void)
{
    // [tern_empty]
    tern_tensor *made = tern_empty(tern_dims(64, 784)); // values are not set
    int64_t numel = tern_numel(made);                   // 50176
    // [/tern_empty]
    expect(numel == 50176);
}

static void show_zeros(void)
{
    // [tern_zeros]
    tern_tensor *y = tern_zeros(tern_dims(2, 3), .dtype = TERN_INT64); // (2, 3)
    // [/tern_zeros]
    expect_shape(y, 2, 3);
}

static void show_ones(void)
{
    // [tern_ones]
    tern_tensor *y = tern_ones(tern_dims(3), .requires_grad = true); // (3,)
    // [/tern_ones]
    expect_shape(y, 3);
    expect(tern_requires_grad(y));
}

static void show_full(void)
{
    // [tern_full]
    tern_tensor *y = tern_full(tern_dims(2, 2), 3.5); // (2, 2)
    // [/tern_full]
    expect_shape(y, 2, 2);
    expect(near(tern_item(tern_sum_all(y)), 14));
}

static void show_arange(void)
{
    // [tern_arange]
    tern_tensor *y = tern_arange(0, 10, 2); // 0, 2, 4, 6, 8
    // [/tern_arange]
    expect_shape(y, 5);
    expect(tern_item_int(tern_sum_all(y)) == 20);
}

static void show_linspace(void)
{
    // [tern_linspace]
    tern_tensor *y = tern_linspace(0, 1, 5); // 0, 0.25, 0.5, 0.75, 1
    // [/tern_linspace]
    expect_shape(y, 5);
    expect(near(tern_item(tern_sum_all(y)), 2.5));
}

static void show_eye(void)
{
    // [tern_eye]
    tern_tensor *y = tern_eye(3, 3); // (3, 3)
    // [/tern_eye]
    expect_shape(y, 3, 3);
    expect(near(tern_item(tern_sum_all(y)), 3));
}

static void show_from_data(void)
{
    // [tern_from_data]
    const float values[2][3] = {{1, 2, 3}, {4, 5, 6}};
    tern_tensor *y = tern_from_data(tern_dims(2, 3), values); // (2, 3)
    // [/tern_from_data]
    expect_shape(y, 2, 3);
    expect(near(tern_item(tern_sum_all(y)), 21));
}

int tensor_examples(void)
{
    show_empty();
    show_zeros();
    show_ones();
    show_full();
    show_arange();
    show_linspace();
    show_eye();
    show_from_data();
    return failures;
}
