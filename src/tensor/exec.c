// SPDX-License-Identifier: Apache-2.0
// What a device carries for its kernels: the fault record and the state of draws inside steps.
#include <stdio.h>
#include <string.h>
#include "base/fork.h"
#include "tensor/backend.h"
#include "tensor/capture.h"
#include "tensor/op.h"

#define SITES     256
#define PATH_SIZE 128

// Where a kernel that may find a bad value was launched from.
typedef struct fault_site {
    uint32_t number;
    const char *op;
    const char *what;
    int64_t limit;
    char path[PATH_SIZE];
} fault_site;

// What the host knows of a device.
typedef struct device_state {
    _Atomic bool open;
    bool raised;    // the fault's error was handed to the caller
    uint64_t drawn; // draws inside steps since the base last moved
} device_state;

// All under the lock, but asking whether a device is open.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static device_state states[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];
static uint64_t draw_seeds[TERN_DEVICE_TYPES]; // of devices that are not open yet
static fault_site sites[SITES];
static uint32_t taken; // places in it, again and again

static device_state *state_of(tern_device device)
{
    return &states[device.type][device.index];
}

static const tern_device_table *table_of(tern_device device)
{
    return tern_backend_of(device.type)->device;
}

static void load_draws(tern_device device, tern_draw_state state)
{
    table_of(device)->draws_write(device.index, state);
    state_of(device)->drawn = 0;
}

static tern_status open_first(tern_device device)
{
    device_state *state = state_of(device);
    tern_status status = TERN_OK;
    tern_lock(&lock);
    if (!state->open) {
        status = table_of(device)->open ? table_of(device)->open(device.index) : TERN_OK;
        if (!status)
            load_draws(device, (tern_draw_state){.seed = draw_seeds[device.type]});
        state->open = !status;
    }
    tern_unlock(&lock);
    return status;
}

bool tern_device_is_open(tern_device device)
{
    return atomic_load_explicit(&state_of(device)->open, memory_order_acquire);
}

tern_status tern_device_open(tern_device device)
{
    return tern_device_is_open(device) ? TERN_OK : open_first(device);
}

void tern_device_close(tern_device device)
{
    if (!tern_device_is_open(device))
        return;
    device_state *state = state_of(device);
    tern_lock(&lock);
    if (table_of(device)->close && table_of(device)->close(device.index)) {
        state->open = false;
        state->raised = false;
    }
    tern_unlock(&lock);
}

tern_exec tern_exec_of(tern_device device)
{
    tern_exec exec = {.device = device};
    table_of(device)->exec(device.index, &exec);
    return exec;
}

// FNV-1a.
static uint32_t hash_bytes(uint32_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619u;
    return hash;
}

static uint32_t place_of(const fault_site *site)
{
    uint32_t hash = hash_bytes(2166136261u, &site->op, sizeof site->op);
    hash = hash_bytes(hash, &site->what, sizeof site->what);
    hash = hash_bytes(hash, &site->limit, sizeof site->limit);
    return hash_bytes(hash, site->path, strlen(site->path)) % SITES;
}

static bool is_same(const fault_site *a, const fault_site *b)
{
    return a->op == b->op && a->what == b->what && a->limit == b->limit &&
           strcmp(a->path, b->path) == 0;
}

// A site keeps its number from step to step, so that a captured kernel names it rightly, until
// another one takes its place.
uint32_t tern_fault_site(const char *op, const char *what, int64_t limit)
{
    fault_site wanted = {.op = op, .what = what, .limit = limit};
    tern_path_format(wanted.path, sizeof wanted.path);
    fault_site *site = &sites[place_of(&wanted)];
    tern_lock(&lock);
    if (!site->number || !is_same(site, &wanted)) {
        wanted.number = (uint32_t)(++taken * SITES + (uint32_t)(site - sites));
        *site = wanted;
    }
    uint32_t number = site->number;
    tern_unlock(&lock);
    return number;
}

// Copies between devices carry a fault along: it is the same one there, and handed out with this.
static void note_raised(tern_device device, const tern_fault *fault)
{
    const tern_device_table *table = table_of(device);
    for (int i = 0; i < TERN_MAX_DEVICES; i++) {
        device_state *state = &states[device.type][i];
        tern_fault other = {0};
        if (!state->open || (i != device.index && table->fault_read(i, &other)))
            continue;
        bool same = other.set && other.site == fault->site && other.element == fault->element;
        state->raised = state->raised || same || i == device.index;
    }
}

// Hands the fault out; true when it was handed out before.
static bool take_fault(tern_device device, const tern_fault *fault, fault_site *site)
{
    tern_lock(&lock);
    *site = sites[fault->site % SITES];
    bool again = state_of(device)->raised;
    if (!again)
        note_raised(device, fault);
    tern_unlock(&lock);
    return again;
}

static tern_status raise_fault(const tern_fault *fault, const fault_site *site)
{
    if (site->number != fault->site)
        return tern_error_raise(TERN_ERR_INDEX, "a kernel found %lld at element %lld out of range",
                                (long long)fault->value, (long long)fault->element);
    char path[PATH_SIZE];
    tern_path_format(path, sizeof path); // the sentence carries the path of the caller already
    bool elsewhere = site->path[0] && !path[0];
    const char *in = elsewhere ? " [in " : "", *where = elsewhere ? site->path : "";
    if (site->limit == TERN_FAULT_NOT_FINITE)
        return tern_error_raise(TERN_ERR_NUMERIC, "%s: %s is not finite%s%s%s", site->op,
                                site->what, in, where, elsewhere ? "]" : "");
    return tern_error_raise(TERN_ERR_INDEX, "%s: %s %lld is %lld, but must be 0 to %lld%s%s%s",
                            site->op, site->what, (long long)fault->element,
                            (long long)fault->value, (long long)site->limit - 1, in, where,
                            elsewhere ? "]" : "");
}

tern_status tern_fault_poll(tern_device device)
{
    if (!table_of(device)->fault_seen(device.index))
        return TERN_OK;
    tern_fault fault = {0};
    TERN_TRY(table_of(device)->fault_read(device.index, &fault));
    fault_site site;
    if (take_fault(device, &fault, &site))
        return tern_error_raise(TERN_ERR_STATE,
                                "a value error found by %s was not dealt with: call "
                                "zero_grad before going on",
                                site.number == fault.site ? site.op : "a kernel");
    return raise_fault(&fault, &site);
}

tern_status tern_fault_wait(tern_device device)
{
    table_of(device)->fault_publish(device.index);
    TERN_TRY(table_of(device)->synchronize(device.index));
    return tern_fault_poll(device);
}

void tern_fault_clear_raised(tern_device device)
{
    tern_lock(&lock);
    for (int i = 0; i < TERN_MAX_DEVICES && state_of(device)->raised; i++) {
        device_state *other = &states[device.type][i];
        if (!other->raised || i == device.index)
            continue;
        table_of(device)->fault_clear(i);
        other->raised = false;
    }
    if (state_of(device)->raised)
        table_of(device)->fault_clear(device.index);
    state_of(device)->raised = false;
    tern_unlock(&lock);
}

uint64_t tern_draw_next(tern_device device)
{
    uint64_t *captured = tern_capture_draws(device);
    if (captured)
        return (*captured)++;
    tern_lock(&lock);
    uint64_t number = state_of(device)->drawn++;
    tern_unlock(&lock);
    return number;
}

void tern_draw_advance(tern_device device)
{
    uint64_t *captured = tern_capture_draws(device);
    tern_lock(&lock);
    uint64_t *drawn = captured ? captured : &state_of(device)->drawn;
    if (*drawn)
        table_of(device)->draws_advance(device.index, *drawn);
    *drawn = 0;
    tern_unlock(&lock);
}

void tern_draw_seed_type(tern_device_type type, uint64_t seed)
{
    tern_lock(&lock);
    draw_seeds[type] = seed;
    for (int i = 0; i < TERN_MAX_DEVICES; i++)
        if (states[type][i].open)
            load_draws((tern_device){type, i}, (tern_draw_state){.seed = seed});
    tern_unlock(&lock);
}

void tern_draw_seed(uint64_t seed)
{
    tern_draw_seed_type(TERN_CPU, seed);
    tern_draw_seed_type(TERN_CUDA, seed);
}

void tern_draw_load(tern_device device, tern_draw_state saved)
{
    tern_lock(&lock);
    load_draws(device, saved);
    tern_unlock(&lock);
}

tern_status tern_draw_save(tern_device device, tern_draw_state *saved)
{
    tern_lock(&lock);
    tern_status status = table_of(device)->draws_read(device.index, saved);
    saved->base += state_of(device)->drawn;
    tern_unlock(&lock);
    return status;
}
