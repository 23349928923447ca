// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/random.h, for the site.
#include "examples.h"

static void show_rand(void)
{
    // [tern_rand]
    tern_tensor *y = tern_rand(tern_dims(2, 3)); // (2, 3)
    // [/tern_rand]
    expect_shape(y, 2, 3);
}

static void show_randn(void)
{
    // [tern_randn]
    tern_manual_seed(42);
    tern_tensor *y = tern_randn(tern_dims(2, 3)); // (2, 3)
    // [/tern_randn]
    expect_shape(y, 2, 3);
}

static void show_randint(void)
{
    // [tern_randint]
    tern_tensor *labels = tern_randint(0, 10, tern_dims(64)); // 0 to 9
    // [/tern_randint]
    expect_shape(labels, 64);
    expect(tern_item_int(tern_amax(labels, TERN_ALL_AXES, false)) < 10);
}

static void show_randperm(void)
{
    // [tern_randperm]
    tern_tensor *order = tern_randperm(100); // (100,), int64
    // [/tern_randperm]
    expect_shape(order, 100);
    expect(tern_item_int(tern_sum_all(order)) == 4950);
}

static void show_multinomial(void)
{
    tern_tensor *p = tern_softmax(tern_randn(tern_dims(10)), 0);
    // [tern_multinomial]
    tern_tensor *classes = tern_multinomial(p, 5, .replacement = true); // int64 (5)
    // [/tern_multinomial]
    expect(tern_numel(classes) == 5);
}

int random_examples(void)
{
    show_rand();
    show_randn();
    show_randint();
    show_randperm();
    show_multinomial();
    return failures;
}
