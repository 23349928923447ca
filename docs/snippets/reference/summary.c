// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/summary.h, for the site.
#include "examples.h"

static void show_module_summary_print(void)
{
    tern_module *net = tern_nn_linear(4, 2);
    // [tern_module_summary_print]
    if (tern_module_summary_print(net, tern_dims(1, 4), stdout))
        tern_error_print(stderr);
    // [/tern_module_summary_print]
    expect(!tern_error_pending());
    tern_module_free(net);
}

int summary_examples(void)
{
    show_module_summary_print();
    return failures;
}
