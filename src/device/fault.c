// SPDX-License-Identifier: Apache-2.0
#include "device/fault.h"

#include <stdio.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/hash.h"
#include "base/path.h"
#include "device/state.h"

#define LOCATIONS 256 // a power of two

// Where a kernel that may find a bad value was launched from.
typedef struct fault_location {
    uint32_t number;
    const char *op;
    const char *what;
    int64_t limit;
    uint32_t path; // of the module
} fault_location;

// Under the lock of the devices' states.
static fault_location locations[LOCATIONS];
static uint32_t taken; // places in it, again and again

static uint32_t location_index(const fault_location *location)
{
    uint64_t hash = tern_hash(&location->op, sizeof location->op);
    hash = tern_hash_append(hash, &location->what, sizeof location->what);
    hash = tern_hash_append(hash, &location->limit, sizeof location->limit);
    hash = tern_hash_append(hash, &location->path, sizeof location->path);
    return (uint32_t)tern_hash_slot(hash, LOCATIONS);
}

static bool is_same(const fault_location *a, const fault_location *b)
{
    return a->op == b->op && a->what == b->what && a->limit == b->limit && a->path == b->path;
}

// A location keeps its number from step to step, so that a captured kernel names it rightly, until
// another one takes its place.
uint32_t tern_fault_location(const char *op, const char *what, int64_t limit)
{
    fault_location wanted = {.op = op, .what = what, .limit = limit, .path = tern_path_current()};
    fault_location *location = &locations[location_index(&wanted)];
    tern_lock(&tern_device_lock);
    if (!location->number || !is_same(location, &wanted)) {
        wanted.number = (uint32_t)(++taken * LOCATIONS + (uint32_t)(location - locations));
        *location = wanted;
    }
    uint32_t number = location->number;
    tern_unlock(&tern_device_lock);
    return number;
}

// Copies between devices carry a fault along: it is the same one there, and handed out with this.
static void mark_raised(tern_device device, const tern_fault *fault)
{
    const tern_device_table *table = tern_device_table_of(device);
    for (int i = 0; i < TERN_MAX_DEVICES; i++) {
        tern_device_state *state = tern_device_state_of((tern_device){device.type, i});
        tern_fault other = {0};
        if (!state->open || (i != device.index && table->fault_read(i, &other)))
            continue;
        bool same =
            other.set && other.location == fault->location && other.element == fault->element;
        state->fault_raised = state->fault_raised || same || i == device.index;
    }
}

// Hands the fault out; true when it was handed out before.
static bool report_fault(tern_device device, const tern_fault *fault, fault_location *location)
{
    tern_lock(&tern_device_lock);
    *location = locations[fault->location % LOCATIONS];
    bool again = tern_device_state_of(device)->fault_raised;
    if (!again)
        mark_raised(device, fault);
    tern_unlock(&tern_device_lock);
    return again;
}

static tern_status raise_at(const tern_fault *fault, const char *op, const char *what,
                            int64_t limit)
{
    if (limit == TERN_FAULT_NOT_FINITE)
        return tern_error_raise(TERN_ERR_NUMERIC, "%s: %s is not finite", op, what);
    if (limit == TERN_FAULT_INVALID)
        return tern_error_raise(TERN_ERR_ARG, "%s: %s, but is not at element %lld", op, what,
                                (long long)fault->element);
    return tern_error_raise(TERN_ERR_INDEX, "%s: %s %lld is %lld, but must be 0 to %lld", op, what,
                            (long long)fault->element, (long long)fault->value,
                            (long long)limit - 1);
}

// In the module where the kernel was launched, wherever its fault is found.
static tern_status raise_fault(const tern_fault *fault, const fault_location *location)
{
    if (location->number != fault->location)
        return tern_error_raise(TERN_ERR_INDEX, "a kernel found %lld at element %lld out of range",
                                (long long)fault->value, (long long)fault->element);
    const uint32_t caller = tern_path_set(location->path);
    tern_status status = raise_at(fault, location->op, location->what, location->limit);
    tern_path_set(caller);
    return status;
}

tern_status tern_fault_poll(tern_device device)
{
    if (!tern_device_table_of(device)->fault_seen(device.index))
        return TERN_OK;
    tern_fault fault = {0};
    TERN_TRY(tern_device_table_of(device)->fault_read(device.index, &fault));
    fault_location location;
    if (report_fault(device, &fault, &location))
        return tern_error_raise(TERN_ERR_STATE,
                                "a value error found by %s was not dealt with: call "
                                "zero_grad before going on",
                                location.number == fault.location ? location.op : "a kernel");
    return raise_fault(&fault, &location);
}

tern_status tern_fault_wait(tern_device device)
{
    tern_device_table_of(device)->fault_publish(device.index);
    TERN_TRY(tern_device_table_of(device)->synchronize(device.index));
    return tern_fault_poll(device);
}

bool tern_fault_is_raised(tern_device device)
{
    return atomic_load_explicit(&tern_device_state_of(device)->fault_raised, memory_order_relaxed);
}

void tern_fault_clear_raised(tern_device device)
{
    if (!tern_fault_is_raised(device))
        return;
    tern_lock(&tern_device_lock);
    for (int i = 0; i < TERN_MAX_DEVICES && tern_device_state_of(device)->fault_raised; i++) {
        tern_device_state *other = tern_device_state_of((tern_device){device.type, i});
        if (!other->fault_raised || i == device.index)
            continue;
        tern_device_table_of(device)->fault_clear(i);
        other->fault_raised = false;
    }
    if (tern_device_state_of(device)->fault_raised)
        tern_device_table_of(device)->fault_clear(device.index);
    tern_device_state_of(device)->fault_raised = false;
    tern_unlock(&tern_device_lock);
}
