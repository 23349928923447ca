// SPDX-License-Identifier: Apache-2.0
#include "train/summary/optimizer.h"
#include "optim/optim.h"

tern_status tern_summary_optimizer(const tern_optim *optim, const char **name, int64_t *nbytes)
{
    TERN_TRY(tern_check_optim("module_summary_print", optim));
    *name = optim->klass->name;
    *nbytes = tern_optim_state_bytes(optim);
    return TERN_OK;
}
