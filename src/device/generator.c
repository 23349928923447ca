// SPDX-License-Identifier: Apache-2.0
#include "device/generator.h"
#include <stddef.h>
#include <string.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/backend.h"
#include "device/capture.h"
#include "device/draws.h"

// Guards the default generators and the seeds; taken before a generator's own.
static pthread_mutex_t defaults_lock = PTHREAD_MUTEX_INITIALIZER;

// The seeds of default generators that no call has used yet.
static uint64_t initial_seed[TERN_DEVICE_TYPES] = {
    [TERN_CPU] = TERN_DEFAULT_SEED,
    [TERN_CUDA] = TERN_DEFAULT_SEED,
};

// The default generators of the devices. Large, so they must stay in .bss: no initialiser.
static struct {
    bool started[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];
    tern_generator generators[TERN_DEVICE_TYPES][TERN_MAX_DEVICES];
} defaults;

void tern_generator_lock(tern_generator *generator)
{
    tern_lock(&generator->lock);
}

void tern_generator_unlock(tern_generator *generator)
{
    tern_unlock(&generator->lock);
}

static void start(tern_generator *generator, uint64_t seed)
{
    tern_mt19937_seed(&generator->mt, seed);
    generator->seed = seed;
    generator->position = 0;
}

static void reseed(tern_generator *generator, uint64_t seed)
{
    tern_generator_lock(generator);
    start(generator, seed);
    tern_generator_unlock(generator);
}

static void reseed_type(int type, uint64_t seed)
{
    initial_seed[type] = seed;
    for (int i = 0; i < TERN_MAX_DEVICES; i++)
        if (defaults.started[type][i])
            reseed(&defaults.generators[type][i], seed);
}

static tern_status check_seed(const char *function)
{
    TERN_TRY(tern_fork_check());
    return tern_capture_refuse(function, "replays would not seed");
}

void tern_manual_seed(uint64_t seed)
{
    if (check_seed("manual_seed"))
        return;
    tern_lock(&defaults_lock);
    reseed_type(TERN_CPU, seed);
    reseed_type(TERN_CUDA, seed);
    tern_draw_seed(seed);
    tern_unlock(&defaults_lock);
}

void tern_cuda_manual_seed_all(uint64_t seed)
{
    if (check_seed("cuda_manual_seed_all"))
        return;
    tern_lock(&defaults_lock);
    reseed_type(TERN_CUDA, seed);
    tern_draw_seed_type(TERN_CUDA, seed);
    tern_unlock(&defaults_lock);
}

void tern_cuda_manual_seed(uint64_t seed)
{
    if (check_seed("cuda_manual_seed"))
        return;
    tern_generator *generator =
        tern_cuda_is_available() ? tern_default_generator(tern_cuda(-1)) : NULL;
    if (!generator)
        return;
    if (!tern_draw_load(generator->device, (tern_draw_state){.seed = seed}))
        reseed(generator, seed);
}

void tern_generator_shutdown(void)
{
    tern_lock(&defaults_lock);
    for (int type = TERN_CPU; type < TERN_DEVICE_TYPES; type++) {
        for (int i = 0; i < TERN_MAX_DEVICES; i++)
            if (defaults.started[type][i])
                pthread_mutex_destroy(&defaults.generators[type][i].lock);
        initial_seed[type] = TERN_DEFAULT_SEED;
    }
    memset(defaults.started, 0, sizeof defaults.started);
    tern_draw_seed(0);
    tern_unlock(&defaults_lock);
}

tern_generator *tern_default_generator(tern_device device)
{
    if (tern_fork_check() || tern_device_resolve("default_generator", &device))
        return NULL;
    tern_generator *generator = &defaults.generators[device.type][device.index];
    bool *started = &defaults.started[device.type][device.index];
    tern_lock(&defaults_lock);
    if (!*started) {
        pthread_mutex_init(&generator->lock, NULL);
        generator->device = device;
        start(generator, initial_seed[device.type]);
        *started = true;
    }
    tern_unlock(&defaults_lock);
    return generator;
}

tern_status tern_check_generator(const char *op, const tern_generator *generator)
{
    TERN_CHECK(!generator || !generator->freed, TERN_ERR_STATE,
               "%s: this generator was freed already", op);
    return TERN_OK;
}

tern_generator *tern_generator_for(const char *op, tern_generator *generator, tern_device device)
{
    if (!generator)
        return tern_default_generator(device);
    return tern_check_generator(op, generator) ? NULL : generator;
}

tern_generator *tern_generator_new(uint64_t seed)
{
    tern_generator *generator = tern_mem_alloc(sizeof *generator);
    if (!generator)
        return NULL;
    pthread_mutex_init(&generator->lock, NULL);
    start(generator, seed);
    return generator;
}

void tern_generator_free(tern_generator *generator)
{
    // A default generator belongs to the library.
    if (!generator || generator->device.type != TERN_DEVICE_UNSPECIFIED)
        return;
    if (tern_check_generator("generator_free", generator))
        return;
    pthread_mutex_destroy(&generator->lock);
    generator->freed = true;
    tern_mem_free_deferred(generator, sizeof *generator, offsetof(tern_generator, lock));
}

tern_status tern_generator_seed(tern_generator *generator, uint64_t seed)
{
    if (!generator)
        return tern_null_error("generator_seed", "generator");
    TERN_TRY(tern_check_generator("generator_seed", generator));
    TERN_TRY(tern_fork_check());
    reseed(generator, seed);
    return TERN_OK;
}
