// SPDX-License-Identifier: Apache-2.0
// Directions that operations make of gradients. They are all there before a step changes anything,
// so that one that lacks memory changes nothing.
#include "optim/optim.h"
#include "tensor/header.h"

void tern_optim_release_made(tern_optim_made *made)
{
    for (int i = 0; i < TERN_STEP_STATES; i++) {
        tern_tensor_release(made->next[i]);
        tern_tensor_release(made->average[i]);
    }
    tern_tensor_release(made->direction);
    *made = (tern_optim_made){{NULL}, {NULL}, NULL};
}

static tern_status make(const tern_optim *optim, tern_optim_entry *entry,
                        const tern_optim_direction *how, tern_optim_pass pass,
                        tern_optim_device *on)
{
    const double *number = optim->groups[entry->group].number;
    if (pass != TERN_OPTIM_REPLAY)
        TERN_TRY(how->begin(number, entry));
    TERN_TRY(tern_optim_average(optim, entry, entry->made.average, pass, on));
    if (pass == TERN_OPTIM_REPLAY)
        return TERN_OK;
    entry->made.direction = tern_tensor_retain(how->end(number, entry));
    return entry->made.direction ? TERN_OK : tern_error_code();
}

// Temporaries live no longer than it takes to make one.
static tern_status make_in_scope(const tern_optim *optim, tern_optim_entry *entry,
                                 const tern_optim_direction *how, tern_optim_pass pass,
                                 tern_optim_device *on)
{
    tern_status status = TERN_ERR_NOMEM;
    tern_no_grad
        tern_with_scope
            status = make(optim, entry, how, pass, on);
    return status;
}

tern_status tern_optim_make_directions(tern_optim *optim, tern_optim_pass pass,
                                       tern_optim_device *devices, int64_t device_count)
{
    for (int64_t i = 0; i < optim->entry_count; i++) {
        tern_optim_entry *entry = &optim->entries[i];
        const tern_optim_direction *how = tern_optim_direction_of(optim, entry);
        if (!entry->active || !how)
            continue;
        TERN_TRY(
            make_in_scope(optim, entry, how, pass,
                          tern_optim_device_of(devices, device_count, tern_dev(entry->param))));
    }
    return TERN_OK;
}
