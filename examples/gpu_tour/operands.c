// SPDX-License-Identifier: Apache-2.0
// Where results are, and what may be mixed.
#include "tour.h"

void show_results(const tour *t)
{
    tern_tensor *a = tern_ones(tern_dims(2, 3), .device = t->other);
    tern_tensor *b = tern_ones(tern_dims(2, 3), .device = t->other);
    tern_with_device(t->device)
    {
        say("two tensors on %s, multiplied while %s is the default: %s", place(a),
            tern_device_string(t->device), place(tern_mul(a, b)));
    }
    if (!has_two(t))
        return;
    tern_tensor *c = tern_ones(tern_dims(2, 3), .device = t->device);
    say("one on %s and one on %s:", place(a), place(c));
    (void)!tern_mul(a, c);
    say_mistake();
    say("moved there first: %s", place(tern_mul(tern_to(a, t->device), c)));
}

void show_scalars(const tour *t)
{
    tern_tensor *x = tern_ones(tern_dims(3), .device = t->device);
    tern_tensor *two = tern_full(tern_dims(), 2, .device = t->host);
    tern_tensor *y = tern_mul(x, two);
    say("a (3,) on %s times a 0-dim on %s is on %s, sum %g", place(x), place(two), place(y),
        tern_item(tern_sum(y, TERN_ALL_AXES, false)));
    if (tern_device_equal(t->device, t->host))
        return;
    say("the same with a (1,) on %s:", tern_device_string(t->host));
    (void)!tern_mul(x, tern_full(tern_dims(1), 2, .device = t->host));
    say_mistake();
}

void show_likes(const tour *t)
{
    tern_tensor *x = tern_ones(tern_dims(2), .dtype = TERN_FLOAT64, .device = t->device);
    const struct {
        const char *call;
        tern_tensor *made;
    } list[] = {
        {"tern_zeros_like(x)", tern_zeros_like(x)},
        {"tern_full_like(x, 3)", tern_full_like(x, 3)},
        {"tern_new_zeros(x, (4,))", tern_new_zeros(x, tern_dims(4))},
        {"tern_new_tensor(x, (1,), {5})", tern_new_tensor(x, tern_dims(1), (double[]){5})},
        {"tern_rand_like(x)", tern_rand_like(x)},
    };
    say("x is %s on %s", tern_dtype_name(tern_dtype_of(x)), place(x));
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        say("%s is %s on %s", list[i].call, tern_dtype_name(tern_dtype_of(list[i].made)),
            place(list[i].made));
}
