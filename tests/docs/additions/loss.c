// SPDX-License-Identifier: Apache-2.0
// log(cosh(0)) and log(cosh(1)), and the slope of their sum at 1, tanh(1).
#include "check.h"

int main(void)
{
    const double from[] = {2, 1}, to[] = {2, 0};
    tern_tensor *x = tern_from_data(tern_dims(2), from, .requires_grad = true);
    tern_tensor *y = tern_log_cosh_loss(x, tern_from_data(tern_dims(2), to), TERN_REDUCTION_SUM);
    if (tern_backward(y))
        return tern_error_print(stderr);
    return differs("value", tern_item(y), 0.4337808304830271) +
           differs("slope", tern_item(tern_select(tern_grad(x), 0, 1)), 0.7615941559557649);
}
