// SPDX-License-Identifier: Apache-2.0
// What lists of devices, and modules on the first of them, must be.
#include <tern/cuda.h>
#include "parallel/parallel.h"

static tern_status check_device(const char *function, const tern_device *devices, int index)
{
    tern_device device = devices[index];
    TERN_CHECK(device.type != TERN_DEVICE_UNSPECIFIED, TERN_ERR_ARG,
               "%s: device %d of the list is unspecified", function, index);
    TERN_TRY(tern_device_resolve(function, &device));
    TERN_CHECK(device.type == devices[0].type, TERN_ERR_ARG,
               "%s: %s and %s are in the list, but all have to be of one type", function,
               tern_device_string(devices[0]), tern_device_string(device));
    for (int i = 0; i < index; i++)
        TERN_CHECK(!tern_device_equal(devices[i], device), TERN_ERR_ARG, "%s: %s is listed twice",
                   function, tern_device_string(device));
    return TERN_OK;
}

tern_status tern_parallel_check_devices(const char *function, const tern_device *devices, int count)
{
    if (!devices)
        return tern_null_error(function, "devices");
    TERN_CHECK(count >= 1 && count <= TERN_MAX_DEVICES, TERN_ERR_ARG,
               "%s: %d devices, but 1 to %d are possible", function, count, TERN_MAX_DEVICES);
    for (int i = 0; i < count; i++)
        TERN_TRY(check_device(function, devices, i));
    return TERN_OK;
}

// ---- devices that are not alike -----------------------------------------------------------------

#define MIN_RATIO 0.75 // PyTorch's bound (nn/parallel/data_parallel.py, _check_balance)

static void warn_of(const char *what, const tern_device *devices, const double *has, int count)
{
    int min = 0, max = 0;
    for (int i = 1; i < count; i++) {
        min = has[i] < has[min] ? i : min;
        max = has[i] > has[max] ? i : max;
    }
    if (has[min] < MIN_RATIO * has[max])
        tern_log_send(
            TERN_LOG_WARN,
            "nn_data_parallel: %s has %.0f %% of the %s of %s: pieces are of one size, so "
            "that the others wait for it; .devices leaves it out",
            tern_device_string(devices[min]), 100 * has[min] / has[max], what,
            tern_device_string(devices[max]));
}

tern_status tern_parallel_warn_of_imbalance(const tern_device *devices, int count)
{
    double memory[TERN_MAX_DEVICES] = {0}, multiprocessors[TERN_MAX_DEVICES] = {0};
    if (devices[0].type != TERN_CUDA)
        return TERN_OK;
    for (int i = 0; i < count; i++) {
        tern_cuda_properties p;
        TERN_TRY(tern_cuda_get_properties(devices[i].index, &p));
        memory[i] = (double)p.total_memory;
        multiprocessors[i] = p.multiprocessors;
    }
    warn_of("memory", devices, memory, count);
    warn_of("multiprocessors", devices, multiprocessors, count);
    return TERN_OK;
}

// ---- where a module is --------------------------------------------------------------------------

typedef struct home_check {
    const char *function;
    tern_device home;
    bool found; // one elsewhere
} home_check;

static bool has_elsewhere(const tern_module_tensors *list, tern_device home)
{
    for (int64_t i = 0; i < list->count; i++)
        if (list->at[i].tensor && !tern_device_equal(tern_dev(list->at[i].tensor), home))
            return true;
    return false;
}

static void look(tern_module *module, void *user)
{
    home_check *check = user;
    const tern_module_private *private_ = module->private_;
    check->found = check->found || has_elsewhere(&private_->parameters, check->home) ||
                   has_elsewhere(&private_->buffers, check->home);
}

static tern_status refuse(const tern_module_entry *entry, void *user)
{
    const home_check *check = user;
    TERN_CHECK(tern_device_equal(tern_dev(entry->tensor), check->home), TERN_ERR_DEVICE,
               "%s: \"%s\" of the module is on %s, but must be on %s, the first of the devices; "
               "move it there with tern_module_to",
               check->function, entry->name, tern_device_string(tern_dev(entry->tensor)),
               tern_device_string(check->home));
    return TERN_OK;
}

tern_status tern_parallel_check_home(const char *function, const tern_module *module,
                                     tern_device home)
{
    home_check check = {function, home, false};
    tern_module_visit(module->private_->self, look, &check);
    if (!check.found)
        return TERN_OK;
    TERN_TRY(tern_module_each_parameter(module, refuse, &check));
    return tern_module_each_buffer(module, refuse, &check);
}
