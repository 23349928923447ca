// SPDX-License-Identifier: Apache-2.0
// What a generator is inside the library: two streams and a lock.
#ifndef TERN_SRC_DEVICE_GENERATOR_H
#define TERN_SRC_DEVICE_GENERATOR_H

#include <pthread.h>
#include <tern/generator.h>
#include "base/mt19937.h"
#include "device/exec.h"

// Before tern_manual_seed; that of a new generator in PyTorch.
#define TERN_DEFAULT_SEED 67280421310721u

// Who draws holds the lock from the first number of a fill to the last. The random kernel of a
// backend is called with the lock held and does not take it.
struct tern_generator {
    tern_device device; // a default generator's; unspecified for one of the user's own
    bool freed;         // what comes after it is gone then
    pthread_mutex_t lock;
    tern_mt19937 mt;   // for tensors on the CPU: PyTorch's
    uint64_t seed;     // for tensors on CUDA devices: cuRAND's Philox4x32-10, in the order of its
    uint64_t position; // host interface; in words, a multiple of 4
};

void tern_generator_lock(tern_generator *generator);
void tern_generator_unlock(tern_generator *generator);

// A freed one is found while its memory is kept. NULL is for the caller to look at.
tern_status tern_check_generator(const char *op, const tern_generator *generator);

// Why tern_generator_load would refuse a state of tern_generator_state_size() bytes, "is damaged";
// NULL when it would not. Static storage.
const char *tern_generator_state_fault(const void *state);

// tern_generator_load of a state with nothing wrong, in two parts: the draws that the generator's
// device gets, where it gets some, and the rest, which cannot fail.
bool tern_generator_state_draws(const tern_generator *generator, const void *state,
                                tern_draw_state *draws);
void tern_generator_take(tern_generator *generator, const void *state);

// `generator` itself, the device's default one for NULL. NULL with an error pending otherwise.
tern_generator *tern_generator_for(const char *op, tern_generator *generator, tern_device device);

// Default generators and the Philox state of dropout as at the start of the process.
void tern_generator_shutdown(void);

#endif
