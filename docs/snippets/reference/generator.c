// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/generator.h, for the site.
#include "examples.h"

static void show_generator_new(void)
{
    // [tern_generator_new]
    tern_generator *generator = tern_generator_new(7);
    tern_tensor *y = tern_rand(tern_dims(3), .generator = generator); // (3,)
    // [/tern_generator_new]
    expect_shape(y, 3);
    tern_generator_free(generator);
}

int generator_examples(void)
{
    show_generator_new();
    return failures;
}
