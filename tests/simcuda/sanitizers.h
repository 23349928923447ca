// SPDX-License-Identifier: Apache-2.0
// What sanitizers are told: of stacks that change, and of the order that barriers and kernels make.
// Under TSan this runtime is itself built without it, so that only kernels and tests are watched;
// -DSIM_TSAN=1 says so.
#ifndef TERN_SIM_SANITIZERS_H
#define TERN_SIM_SANITIZERS_H

#include <cstddef>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SIM_ASAN 1
#else
#define SIM_ASAN 0
#endif
#ifndef SIM_TSAN
#define SIM_TSAN 0
#endif

#if SIM_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size);
}
#endif

#if SIM_TSAN
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *object);
void __tsan_release(void *object);
}
#endif

namespace sim
{

// What happened before a release of the object happened before what follows an acquire of it.
static inline void acquire([[maybe_unused]] void *object)
{
#if SIM_TSAN
    __tsan_acquire(object);
#endif
}

static inline void release([[maybe_unused]] void *object)
{
#if SIM_TSAN
    __tsan_release(object);
#endif
}

} // namespace sim

#endif
