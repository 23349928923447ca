// SPDX-License-Identifier: Apache-2.0
// An epoch of 5 samples in batches of 2: 0 + 1 + 2 + 3 + 4.
#include "check.h"

int main(void)
{
    tern_loader *loader = tern_loader_new(tern_data_counting(5), .batch_size = 2, .shuffle = true);
    double sum = 0;
    tern_each_batch (b, loader) {
        sum += tern_item(tern_sum(b.x, TERN_ALL_AXES, false));
    }
    tern_loader_free(loader);
    return tern_error_pending() ? tern_error_print(stderr) : differs("sum", sum, 10);
}
