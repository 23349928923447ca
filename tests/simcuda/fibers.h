// SPDX-License-Identifier: Apache-2.0
// Stacks that a host thread can leave and come back to: one for each CUDA thread that waits. The
// switches are inline: after one, every return on the way back is predicted wrongly.
#ifndef TERN_SIM_FIBERS_H
#define TERN_SIM_FIBERS_H

#include <cstddef>

#include "sanitizers.h"

namespace sim
{

constexpr size_t stack_size = 64 << 10; // a page of it is a guard

struct Stack {
    void *pointer; // while nobody runs on it
    char *memory;
    void *tsan_fiber, *asan_stack;
};

struct Scheduler { // the stack that fibers are switched to from
    void *pointer;
    void *tsan_fiber, *asan_stack;
    const void *bottom;
    size_t size;
};

extern Scheduler scheduler;

Stack *new_stack(void (*main)()); // `main` never returns
void begin_scheduling();          // the calling thread is the scheduler from here on
void enter_first_time();          // the first thing that `main` does

extern "C" void tern_sim_switch_stack(void **save, void *load);

// From the scheduler; comes back when the fiber leaves.
static inline void switch_to(Stack *stack)
{
#if SIM_TSAN
    __tsan_switch_to_fiber(stack->tsan_fiber, 1); // 1: a switch orders nothing
#endif
#if SIM_ASAN
    __sanitizer_start_switch_fiber(&scheduler.asan_stack, stack->memory, stack_size);
#endif
    tern_sim_switch_stack(&scheduler.pointer, stack->pointer);
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(scheduler.asan_stack, nullptr, nullptr);
#endif
}

// From the fiber on the stack, to the scheduler.
static inline void leave(Stack *stack)
{
#if SIM_TSAN
    __tsan_switch_to_fiber(scheduler.tsan_fiber, 1);
#endif
#if SIM_ASAN
    __sanitizer_start_switch_fiber(&stack->asan_stack, scheduler.bottom, scheduler.size);
#endif
    tern_sim_switch_stack(&stack->pointer, scheduler.pointer);
#if SIM_ASAN
    __sanitizer_finish_switch_fiber(stack->asan_stack, &scheduler.bottom, &scheduler.size);
#endif
}

} // namespace sim

#endif
