// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel table for this machine.
#include "cpu/backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#ifdef TERN_CPU_X86
#include <cpuid.h>
#endif

extern const tern_kernels tern_cpu_portable_table;

#ifdef TERN_CPU_X86
extern const tern_kernels tern_cpu_avx2_table;

static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

#ifdef TERN_CPU_AVX512
extern const tern_kernels tern_cpu_avx512_table;

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif
#endif

static bool has_portable(void)
{
    return true;
}

// Best first; the last one runs everywhere.
static const struct instruction_set {
    bool (*supported)(void);
    tern_backend backend;
} sets[] = {
#ifdef TERN_CPU_AVX512
    {has_avx512, {&tern_cpu_device_table, &tern_cpu_avx512_table, NULL}},
#endif
#ifdef TERN_CPU_X86
    {has_avx2, {&tern_cpu_device_table, &tern_cpu_avx2_table, NULL}},
#endif
    {has_portable, {&tern_cpu_device_table, &tern_cpu_portable_table, NULL}},
};
enum { SET_COUNT = sizeof sets / sizeof sets[0] };

static const tern_backend *backend_named(const char *isa)
{
    for (int i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i].backend.kernels->name, isa) == 0)
            return sets[i].supported() ? &sets[i].backend : NULL;
    }
    return NULL;
}

const tern_kernels *tern_cpu_kernel_table_for(const char *isa)
{
    const tern_backend *backend = backend_named(isa);
    return backend ? backend->kernels : NULL;
}

static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;
static const tern_backend *_Atomic chosen;

static void choose(void)
{
    const char *wish = secure_getenv("TERN_CPU_ISA");
    const bool wanted = wish && *wish;
    const tern_backend *backend = wanted ? backend_named(wish) : NULL;
    const bool found = backend;
    for (int best = 0; !backend; best++)
        backend = sets[best].supported() ? &sets[best].backend : NULL;
    atomic_store_explicit(&chosen, backend, memory_order_release);
    if (wanted && !found)
        tern_log_send(TERN_LOG_WARN, "TERN_CPU_ISA=%s is not available here; using %s", wish,
                      backend->kernels->name);
}

const tern_backend *tern_cpu_backend(void)
{
    const tern_backend *backend = atomic_load_explicit(&chosen, memory_order_acquire);
    if (backend)
        return backend;
    pthread_once(&chosen_once, choose);
    return atomic_load_explicit(&chosen, memory_order_relaxed);
}
