// SPDX-License-Identifier: Apache-2.0
// What lists of devices, and modules on the first of them, must be.
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
