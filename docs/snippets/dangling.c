// SPDX-License-Identifier: Apache-2.0
// A mistake that only a tool sees: a pointer to elements that outlives them.
#include <stdio.h>
#include <tern/tern.h>

// [dangling]
static float read_late(void)
{
    tern_scope scope = tern_scope_open();
    const float *element = tern_data(tern_rand(tern_dims(1000)));
    tern_scope_close(scope); // the tensor dies here
    return element[0];
}
// [/dangling]

int main(void)
{
    printf("%g\n", read_late());
    tern_shutdown();
    return tern_error_print(stderr);
}
