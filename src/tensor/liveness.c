// SPDX-License-Identifier: Apache-2.0
#include "tensor/liveness.h"
#include "base/fork.h"

static const struct way_to_die {
    uint32_t stamp;
    const char *when;
} ways_to_die[] = {
    {TERN_STAMP_SCOPE, "its scope closed; tern_retain it to keep it"},
    {TERN_STAMP_RELEASED, "it was released for the last time"},
    {TERN_STAMP_BATCH, "its loader went on; tern_retain it to keep it"},
    {TERN_STAMP_HOLDER,
     "the module, optimizer, dataset or state with it was freed; tern_retain it to keep it"},
    {TERN_STAMP_LEAF, "the tensor it is the gradient of died or moved; tern_retain it to keep it"},
    {TERN_STAMP_COMPUTED, "it was parametrized; its module has it while it runs, and "
                          "tern_module_parametrized computes it"},
};

// NULL for what is no stamp of a dead tensor.
static const char *when_it_died(uint32_t stamp)
{
    for (size_t i = 0; i < sizeof ways_to_die / sizeof *ways_to_die; i++)
        if (ways_to_die[i].stamp == stamp)
            return ways_to_die[i].when;
    return NULL;
}

static tern_status dead_error(const char *op, const char *name, const tern_tensor *t)
{
    const char *when = when_it_died(t->stamp);
    TERN_CHECK(when, TERN_ERR_STATE, "%s: %s is not a tensor (or one that died long ago)", op,
               name);
    return tern_error_raise(TERN_ERR_STATE, "%s: %s (%s) died when %s", op, name,
                            tern_identity_string(t), when);
}

tern_status tern_tensor_error(const char *op, const char *name, const tern_tensor *t)
{
    if (!t)
        return tern_null_error(op, name);
    TERN_TRY(tern_fork_check());
    if (t->stamp != TERN_STAMP_ALIVE)
        return dead_error(op, name, t);
    return TERN_OK;
}
