// SPDX-License-Identifier: Apache-2.0
// Half precision, and what a device's memory holds.
#include "tour.h"

#define MIB (1024.0 * 1024)

// ---- half precision -----------------------------------------------------------------------------

static int64_t parameter_bytes(const tern_module *net)
{
    int64_t nbytes = 0;
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++) {
        const tern_tensor *p = tern_module_parameter_at(net, i, NULL, 0);
        nbytes += tern_numel(p) * (int64_t)tern_dtype_size(tern_dtype_of(p));
    }
    return nbytes;
}

void show_half_memory(const tour *t)
{
    tern_module *net = tern_nn_linear(255, 64);
    tern_module_to(net, t->device);
    say("the parameters of Linear(255, 64) take %lld bytes", (long long)parameter_bytes(net));
    bool same = tern_module_to_dtype(net, TERN_FLOAT16) == net;
    say("after tern_module_to_dtype(net, float16), in place (%s), they take %lld", yes_or_no(same),
        (long long)parameter_bytes(net));
    tern_tensor *x = tern_ones(tern_dims(2, 255), .dtype = TERN_FLOAT16, .device = t->device);
    tern_tensor *y = tern_forward(net, x);
    say("what it makes is %s on %s", tern_dtype_name(tern_dtype_of(y)), place(y));
    tern_module_free(net);
}

static void say_doubled(const tour *t, tern_dtype dtype)
{
    tern_tensor *x = tern_full(tern_dims(), 40000, .dtype = dtype, .device = t->device);
    tern_tensor *y = tern_mul_scalar(x, 2);
    say("%s: 2 * %g = %g, finite: %s", tern_dtype_name(dtype), tern_item(x), tern_item(y),
        yes_or_no(tern_item(tern_isfinite(y)) != 0));
}

void show_half_overflow(const tour *t)
{
    say_doubled(t, TERN_FLOAT32);
    say_doubled(t, TERN_FLOAT16);
    say_doubled(t, TERN_BFLOAT16);
}

// ---- memory -------------------------------------------------------------------------------------

static void say_memory(const tour *t, const char *when)
{
    tern_cuda_memory m;
    if (t->device.type != TERN_CUDA)
        say("%s: %.1f MiB live, %.1f MiB cached", when, (double)tern_memory_live_bytes() / MIB,
            (double)tern_memory_cached_bytes() / MIB);
    else if (!tern_cuda_get_memory(t->device.index, &m))
        say("%s: %.1f MiB allocated, at most %.1f so far, %.1f reserved", when,
            (double)m.allocated / MIB, (double)m.allocated_peak / MIB, (double)m.reserved / MIB);
}

static tern_status give_back(const tour *t)
{
    if (t->device.type == TERN_CUDA)
        return tern_cuda_empty_cache(t->device.index);
    tern_memory_trim();
    return TERN_OK;
}

void show_memory(const tour *t)
{
    if (give_back(t) ||
        (t->device.type == TERN_CUDA && tern_cuda_reset_peak_memory(t->device.index)))
        return;
    say_memory(t, "at first");
    tern_scope scope = tern_scope_open();
    tern_zeros(tern_dims(8, 1024, 1024), .device = t->device);
    say_memory(t, "with a tensor of 32 MiB");
    tern_scope_close(scope);
    say_memory(t, "when it is dead");
    if (!give_back(t))
        say_memory(t, "when the cache is given back");
}
