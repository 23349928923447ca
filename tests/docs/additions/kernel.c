// SPDX-License-Identifier: Apache-2.0
// (1, 2, 4) from its end.
#include "check.h"

int main(void)
{
    const float at[] = {1, 2, 4};
    tern_tensor *y = tern_flip(tern_from_data(tern_dims(3), at));
    if (!y)
        return tern_error_print(stderr);
    return differs("first", tern_item(tern_select(y, 0, 0)), 4) +
           differs("last", tern_item(tern_select(y, 0, 2)), 1);
}
