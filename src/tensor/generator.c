// SPDX-License-Identifier: Apache-2.0
#include "tensor/generator.h"
#include <string.h>
#include "base/error.h"
#include "base/fork.h"
#include "base/mem.h"
#include "tensor/backend.h"

#define CPU_DEVICES 64

// The default generators of the CPU devices. The lock guards `started` and `first_seed`, and is
// taken before a generator's own.
static struct {
    pthread_mutex_t lock;
    uint64_t first_seed; // for those that nobody asked for yet
    bool started[CPU_DEVICES];
    tern_generator cpu[CPU_DEVICES];
} defaults = {.lock = PTHREAD_MUTEX_INITIALIZER, .first_seed = TERN_DEFAULT_SEED};

void tern_generator_lock(tern_generator *generator)
{
    tern_lock(&generator->lock);
}

void tern_generator_unlock(tern_generator *generator)
{
    tern_unlock(&generator->lock);
}

static void reseed(tern_generator *generator, uint64_t seed)
{
    tern_generator_lock(generator);
    tern_mt19937_seed(&generator->mt, seed);
    tern_generator_unlock(generator);
}

void tern_manual_seed(uint64_t seed)
{
    if (tern_fork_check())
        return;
    tern_lock(&defaults.lock);
    defaults.first_seed = seed;
    for (int i = 0; i < CPU_DEVICES; i++)
        if (defaults.started[i])
            reseed(&defaults.cpu[i], seed);
    tern_draw_seed(seed);
    tern_unlock(&defaults.lock);
}

void tern_generator_shutdown(void)
{
    tern_lock(&defaults.lock);
    for (int i = 0; i < CPU_DEVICES; i++)
        if (defaults.started[i])
            pthread_mutex_destroy(&defaults.cpu[i].lock);
    memset(defaults.started, 0, sizeof defaults.started);
    defaults.first_seed = TERN_DEFAULT_SEED;
    tern_draw_seed(0);
    tern_unlock(&defaults.lock);
}

static tern_generator *default_cpu(int index)
{
    tern_generator *generator = &defaults.cpu[index];
    tern_lock(&defaults.lock);
    if (!defaults.started[index]) {
        pthread_mutex_init(&generator->lock, NULL);
        generator->device = tern_cpu(index);
        tern_mt19937_seed(&generator->mt, defaults.first_seed);
        defaults.started[index] = true;
    }
    tern_unlock(&defaults.lock);
    return generator;
}

tern_generator *tern_default_generator(tern_device device)
{
    if (tern_fork_check() || tern_device_resolve("default_generator", &device))
        return NULL;
    TERN_CHECK_PTR(device.type == TERN_CPU && device.index < CPU_DEVICES, TERN_ERR_DEVICE,
                   "default_generator: %s has none", tern_device_string(device));
    return default_cpu(device.index);
}

tern_generator *tern_generator_for(const char *op, tern_generator *generator, tern_device device)
{
    if (!generator)
        return tern_default_generator(device);
    TERN_CHECK_PTR(device.type == TERN_CPU, TERN_ERR_DEVICE,
                   "%s: generator fills tensors on the CPU, not on %s", op,
                   tern_device_string(device));
    return generator;
}

tern_generator *tern_generator_new(uint64_t seed)
{
    tern_generator *generator = tern_mem_alloc(sizeof *generator);
    if (!generator)
        return NULL;
    pthread_mutex_init(&generator->lock, NULL);
    tern_mt19937_seed(&generator->mt, seed);
    return generator;
}

void tern_generator_free(tern_generator *generator)
{
    // A default generator belongs to the library.
    if (!generator || generator->device.type != TERN_DEVICE_UNSPECIFIED)
        return;
    pthread_mutex_destroy(&generator->lock);
    tern_mem_free(generator, sizeof *generator);
}

tern_status tern_generator_seed(tern_generator *generator, uint64_t seed)
{
    if (!generator)
        return tern_null_error("generator_seed", "generator");
    TERN_TRY(tern_fork_check());
    reseed(generator, seed);
    return TERN_OK;
}
