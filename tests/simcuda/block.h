// SPDX-License-Identifier: Apache-2.0
// One block of threads while it runs. Each thread has a fiber and runs to its next meeting; blocks
// run one after another.
#ifndef TERN_SIM_BLOCK_H
#define TERN_SIM_BLOCK_H

#include <cstdint>
#include <vector>

#include "cuda_runtime.h"
#include "fibers.h"

namespace sim
{

enum class State { fresh, ready, at_barrier, in_warp, returned };

struct Thread {
    Stack *stack;
    State state;
    int number; // within the block
    uint3 index;
    unsigned warp_mask; // what it waits for in its warp, and where
    const void *warp_place;
};

// Lanes of a warp that meet leave their values in one of two sets of slots, in turn: a lane may
// come to the next meeting before another has read from this one.
struct Warp {
    unsigned arrived, alive, meetings;
    unsigned mask; // of the last lane that came
    const void *place;
    uint64_t values[2][32];
    unsigned predicates[2];
    char order; // for TSan
};

struct RunningBlock {
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    int size, alive; // threads
    int at_barrier;
    const void *barrier_place;
    int counted, count; // __syncthreads_count: as they come, and of the last barrier
    Thread *running;    // NULL between threads
};

extern RunningBlock &running_block;

static inline RunningBlock &block()
{
    return running_block;
}

Thread &running_thread(const char *what); // breaks off outside of kernels

// Until somebody sets the thread ready.
static inline void wait_for_others(State state)
{
    Thread &thread = *block().running;
    thread.state = state;
    leave(thread.stack);
}

void shape_block(dim3 size);
void run_block(void (*body)(const void *), const void *state); // all threads to their end

// What starts a kernel, and what ends it, for TSan; not the same, or threads that are done would
// come before those that start later.
extern char kernel_begin, kernel_end;

} // namespace sim

#endif
