// SPDX-License-Identifier: Apache-2.0
// The default generators of the devices as a state.
#include <stdio.h>
#include "base/mem.h"
#include "device/state.h"
#include "state/visitor.h"

// The first CPU device has the same name however many there are.
static void name_of(tern_device device, char *name, size_t size)
{
    const char *type = device.type == TERN_CPU ? "cpu" : "cuda";
    if (device.type == TERN_CPU && device.index == 0)
        snprintf(name, size, "%s", type);
    else
        snprintf(name, size, "%s:%d", type, device.index);
}

// Saving asks no CUDA device that is not in use: that alone would take its memory.
static bool is_meant(const tern_state_visitor *visitor, tern_device device, const char *name)
{
    if (tern_device_equal(device, tern_cpu(0)) || tern_device_is_open(device))
        return true;
    return tern_visit_peek(visitor, name) != TERN_STATE_UNSPECIFIED &&
           device.index < tern_device_count(device.type);
}

typedef tern_status visit_device(tern_state_visitor *visitor, tern_device device, const char *name);

static tern_status visit_devices(tern_state_visitor *visitor, visit_device *visit)
{
    for (int type = TERN_CPU; type < TERN_DEVICE_TYPES; type++)
        for (int i = 0; i < TERN_MAX_DEVICES; i++) {
            const tern_device device = {(tern_device_type)type, i};
            char name[32];
            name_of(device, name, sizeof name);
            TERN_TRY(visit(visitor, device, name));
        }
    return TERN_OK;
}

static tern_status visit_meant(tern_state_visitor *visitor, tern_device device, const char *name)
{
    if (!is_meant(visitor, device, name))
        return TERN_OK;
    tern_generator *generator = tern_default_generator(device);
    return generator ? tern_visit_generator(visitor, name, generator) : tern_error_code();
}

tern_status tern_visit_default_generators(void *object, tern_state_visitor *visitor)
{
    (void)object;
    return visit_devices(visitor, visit_meant);
}

// The numbers that a device which is not here would have drawn.
static tern_status pass_over(tern_state_visitor *visitor, const char *name)
{
    const size_t size = tern_generator_state_size();
    void *bytes = tern_mem_alloc(size);
    if (!bytes)
        return TERN_ERR_NOMEM;
    tern_status status = tern_visit_bytes(visitor, name, bytes, size);
    tern_mem_free(bytes, size);
    return status;
}

static tern_status visit_common(tern_state_visitor *visitor, tern_device device, const char *name)
{
    if (!tern_visit_is_loading(visitor))
        return visit_meant(visitor, device, name);
    if (tern_visit_peek(visitor, name) == TERN_STATE_UNSPECIFIED)
        return TERN_OK;
    return device.index < tern_device_count(device.type) ? visit_meant(visitor, device, name)
                                                         : pass_over(visitor, name);
}

tern_status tern_visit_common_generators(void *object, tern_state_visitor *visitor)
{
    (void)object;
    return visit_devices(visitor, visit_common);
}

static tern_status visit(void *object, tern_state_visitor *visitor)
{
    return tern_visit_part(visitor, "generators", tern_visit_default_generators, object);
}

tern_state *tern_random_state_dict(void)
{
    return tern_state_of_as("random_state_dict", visit, NULL);
}

tern_status tern_random_load_state_dict_with(const tern_random_load_state_dict_options *options)
{
    if (!options)
        return tern_null_error("random_load_state_dict", "options");
    return tern_state_load_as(
        &(tern_load_caller){.function = "random_load_state_dict", .options = TERN_LOAD_PREFIX},
        &(tern_state_load_options){.strict = options->strict,
                                   .prefix = options->prefix,
                                   .report = options->report,
                                   .state = options->state,
                                   .visit = visit});
}
