// SPDX-License-Identifier: Apache-2.0
// Scheduling the threads of a block.
#include "block.h"

#include "core.h"
#include "sanitizers.h"

uint3 tern_sim_thread_index, tern_sim_block_index;
dim3 tern_sim_block_dim, tern_sim_grid_dim;

namespace sim
{

char kernel_begin, kernel_end;

static std::vector<Stack *> &free_stacks = *new std::vector<Stack *>;
static void (*thread_body)(const void *);
static const void *thread_state;
static uint64_t walk_at, walked; // the place of the thread that runs in the order of this round
static Walk walk;
static unsigned blocks_run;

RunningBlock &running_block = *new RunningBlock();

Thread &running_thread(const char *what)
{
    if (!block().running)
        broken_rule("%s outside of a kernel", what);
    return *block().running;
}

static void make_running(Thread &thread)
{
    block().running = &thread;
    tern_sim_thread_index = thread.index;
}

static void end_thread(Thread &thread)
{
    thread.state = State::returned;
    block().alive--;
    block().warps[(size_t)thread.number / 32].alive &= ~(1u << (thread.number % 32));
}

// A thread that ends is followed by the next fresh one on the same stack, without a switch: most
// kernels have no barriers. Under TSan each thread has an identity of its own, so not there.
static bool next_takes_over(Thread &ended)
{
    if (SIM_TSAN || walked + 1 >= (uint64_t)block().size)
        return false;
    uint64_t next = (walk_at + walk.step) % (uint64_t)block().size;
    Thread &thread = block().threads[next];
    if (thread.state != State::fresh)
        return false;
    walk_at = next;
    walked++;
    thread.stack = ended.stack;
    thread.state = State::ready;
    make_running(thread);
    return true;
}

static void fiber_main()
{
    enter_first_time();
    for (;;) {
        acquire(&kernel_begin);
        thread_body(thread_state);
        release(&kernel_end);
        Thread &ended = *block().running;
        end_thread(ended);
        if (next_takes_over(ended))
            continue;
        if (!SIM_TSAN)
            free_stacks.push_back(ended.stack);
        leave(ended.stack);
    }
}

static Stack *take_stack()
{
    if (free_stacks.empty())
        return new_stack(fiber_main);
    Stack *stack = free_stacks.back();
    free_stacks.pop_back();
    return stack;
}

// TSan's identities: one for each thread of a block, and others for the next block if races between
// blocks are looked for.
static Stack *stack_of_identity(int thread)
{
    static std::vector<Stack *> &identities = *new std::vector<Stack *>(2048);
    bool other = settings().interblock && blocks_run & 1;
    Stack *&stack = identities[(size_t)thread + (other ? 1024 : 0)];
    if (!stack)
        stack = new_stack(fiber_main);
    return stack;
}

static void resume(Thread &thread)
{
    if (thread.state == State::fresh)
        thread.stack = SIM_TSAN ? stack_of_identity(thread.number) : take_stack();
    thread.state = State::ready;
    make_running(thread);
    switch_to(thread.stack);
}

void shape_block(dim3 size)
{
    RunningBlock &shaped = block();
    shaped.size = (int)(size.x * size.y * size.z);
    if ((int)shaped.threads.size() < shaped.size)
        shaped.threads.resize((size_t)shaped.size);
    shaped.warps.resize((size_t)(shaped.size + 31) / 32);
    for (int i = 0; i < shaped.size; i++) {
        unsigned at = (unsigned)i;
        shaped.threads[at].number = i;
        shaped.threads[at].index = {at % size.x, at / size.x % size.y, at / (size.x * size.y)};
    }
    if (free_stacks.capacity() < 1024)
        free_stacks.reserve(1024); // fibers allocate nothing
}

static void begin_block()
{
    RunningBlock &begun = block();
    begun.alive = begun.size;
    begun.at_barrier = begun.counted = 0;
    for (size_t i = 0; i < begun.warps.size(); i++) {
        Warp &warp = begun.warps[i];
        int lanes = begun.size - (int)i * 32;
        warp.arrived = warp.meetings = 0;
        warp.alive = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    }
    for (int i = 0; i < begun.size; i++)
        begun.threads[(size_t)i].state = State::fresh;
    blocks_run++;
}

// Lets each thread that can run do so until it waits or returns. False: none could.
static bool run_round()
{
    bool some = false;
    uint64_t size = (uint64_t)block().size;
    walk = walk_over(size);
    for (walked = 0, walk_at = walk.first; walked < size;
         walked++, walk_at = (walk_at + walk.step) % size) {
        Thread &thread = block().threads[walk_at];
        if (thread.state != State::fresh && thread.state != State::ready)
            continue;
        some = true;
        resume(thread);
    }
    return some;
}

[[noreturn]] static void report_deadlock()
{
    const RunningBlock &stuck = block();
    block().running = nullptr;
    broken_rule("%d threads of the block wait for ever, for a barrier or lanes that do not come; "
                "%d have returned",
                stuck.alive, stuck.size - stuck.alive);
}

void run_block(void (*body)(const void *), const void *state)
{
    thread_body = body;
    thread_state = state;
    begin_block();
    if (!settings().interblock)
        release(&kernel_begin);
    while (block().alive)
        if (!run_round())
            report_deadlock();
    block().running = nullptr;
    if (!settings().interblock)
        acquire(&kernel_end);
}

} // namespace sim
