// SPDX-License-Identifier: Apache-2.0
// Stacks that a host thread can leave and come back to: one for each CUDA thread that waits.
#ifndef TERN_SIM_FIBERS_H
#define TERN_SIM_FIBERS_H

namespace sim
{

struct Stack;

Stack *new_stack(void (*main)()); // `main` never returns
void switch_to(Stack *stack);     // from the scheduler; comes back when the fiber leaves
void leave(Stack *stack);         // from the fiber on it, to the scheduler
void enter_first_time();          // the first thing that `main` does
void begin_scheduling();          // the calling thread is the scheduler from here on

} // namespace sim

#endif
