// SPDX-License-Identifier: Apache-2.0
// What a device carries for its kernels: the fault record and the state of draws inside steps.
#include <stdio.h>
#include "base/fork.h"
#include "tensor/backend.h"
#include "tensor/op.h"

#define CPU_DEVICES 64
#define SITES       256
#define PATH_SIZE   128

// Where a kernel that may find a bad value was launched from.
typedef struct fault_site {
    uint32_t number;
    const char *op;
    const char *what;
    int64_t limit;
    char path[PATH_SIZE];
} fault_site;

typedef struct device_state {
    tern_fault fault;
    bool raised; // the error was handed to the caller
    tern_draw_state draws;
    uint64_t drawn; // since the base last moved
} device_state;

// Everything is under the lock, but what kernels of a device write into its state.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static device_state cpu_states[CPU_DEVICES];
static fault_site sites[SITES];
static uint32_t last_site;

static device_state *state_of(tern_device device)
{
    return &cpu_states[device.index];
}

tern_exec tern_exec_of(tern_device device)
{
    device_state *state = state_of(device);
    return (tern_exec){
        .device = device,
        .stream = tern_backend_of(device.type)->device->stream(device.index),
        .fault = &state->fault,
        .draws = &state->draws,
    };
}

uint32_t tern_fault_site(const char *op, const char *what, int64_t limit)
{
    tern_lock(&lock);
    uint32_t number = ++last_site;
    fault_site *site = &sites[number % SITES];
    site->number = number;
    site->op = op;
    site->what = what;
    site->limit = limit;
    tern_path_format(site->path, sizeof site->path);
    tern_unlock(&lock);
    return number;
}

tern_status tern_fault_poll(tern_device device)
{
    device_state *state = state_of(device);
    if (!__atomic_load_n(&state->fault.set, __ATOMIC_ACQUIRE))
        return TERN_OK;
    tern_lock(&lock);
    tern_fault fault = state->fault;
    fault_site site = sites[fault.site % SITES];
    bool again = state->raised;
    state->raised = true;
    tern_unlock(&lock);
    if (again)
        return tern_error_raise(TERN_ERR_STATE,
                                "a value error found by %s was not dealt with: call "
                                "zero_grad before going on",
                                site.number == fault.site ? site.op : "a kernel");
    if (site.number != fault.site)
        return tern_error_raise(TERN_ERR_INDEX, "a kernel found %lld at element %lld out of range",
                                (long long)fault.value, (long long)fault.element);
    char path[PATH_SIZE];
    tern_path_format(path, sizeof path); // the sentence carries the path of the caller already
    bool elsewhere = site.path[0] && !path[0];
    return tern_error_raise(TERN_ERR_INDEX, "%s: %s %lld is %lld, but must be 0 to %lld%s%s%s",
                            site.op, site.what, (long long)fault.element, (long long)fault.value,
                            (long long)site.limit - 1, elsewhere ? " [in " : "",
                            elsewhere ? site.path : "", elsewhere ? "]" : "");
}

void tern_fault_clear_raised(tern_device device)
{
    device_state *state = state_of(device);
    tern_lock(&lock);
    if (state->raised) {
        state->fault.element = state->fault.value = 0;
        __atomic_store_n(&state->fault.set, 0, __ATOMIC_RELEASE);
        state->raised = false;
    }
    tern_unlock(&lock);
}

uint64_t tern_draw_next(tern_device device)
{
    tern_lock(&lock);
    uint64_t number = state_of(device)->drawn++;
    tern_unlock(&lock);
    return number;
}

void tern_draw_advance(tern_device device)
{
    device_state *state = state_of(device);
    tern_lock(&lock);
    __atomic_store_n(&state->draws.base, state->draws.base + state->drawn, __ATOMIC_RELAXED);
    state->drawn = 0;
    tern_unlock(&lock);
}

// A kernel of another thread may be reading.
static void set_draws(device_state *state, tern_draw_state draws)
{
    __atomic_store_n(&state->draws.seed, draws.seed, __ATOMIC_RELAXED);
    __atomic_store_n(&state->draws.base, draws.base, __ATOMIC_RELAXED);
    state->drawn = 0;
}

void tern_draw_seed(uint64_t seed)
{
    tern_lock(&lock);
    for (int i = 0; i < CPU_DEVICES; i++) {
        set_draws(&cpu_states[i], (tern_draw_state){.seed = seed});
    }
    tern_unlock(&lock);
}

tern_draw_state tern_draw_save(tern_device device)
{
    device_state *state = state_of(device);
    tern_lock(&lock);
    tern_draw_state saved = state->draws;
    saved.base += state->drawn;
    tern_unlock(&lock);
    return saved;
}

void tern_draw_load(tern_device device, tern_draw_state saved)
{
    device_state *state = state_of(device);
    tern_lock(&lock);
    set_draws(state, saved);
    tern_unlock(&lock);
}
