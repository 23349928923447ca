// SPDX-License-Identifier: Apache-2.0
// Where threads of a block or lanes of a warp meet, and what they hand each other there. All must
// come to the same place in the text.
#include "block.h"

#include "core.h"
#include "mma.h"
#include "sanitizers.h"

using namespace sim;

static char barrier_order; // for TSan

static void check_barrier(const RunningBlock &met, const void *place)
{
    if (met.alive != met.size)
        broken_rule("__syncthreads after %d of %d threads of the block have returned",
                    met.size - met.alive, met.size);
    if (met.at_barrier && met.barrier_place != place)
        broken_rule("threads of one block wait at different __syncthreads");
}

static void open_barrier(RunningBlock &met)
{
    met.at_barrier = 0;
    met.count = met.counted;
    met.counted = 0;
    for (int i = 0; i < met.size; i++)
        if (met.threads[(size_t)i].state == State::at_barrier)
            met.threads[(size_t)i].state = State::ready;
}

__attribute__((always_inline)) static inline int meet_at_barrier(int predicate, const void *place)
{
    running_thread("__syncthreads");
    RunningBlock &met = block();
    check_barrier(met, place);
    met.barrier_place = place;
    met.counted += predicate;
    release(&barrier_order);
    if (++met.at_barrier == met.alive)
        open_barrier(met);
    else
        wait_for_others(State::at_barrier);
    acquire(&barrier_order);
    return met.count;
}

void tern_sim_syncthreads(const void *place)
{
    meet_at_barrier(0, place);
}

int tern_sim_syncthreads_count(int predicate, const void *place)
{
    return meet_at_barrier(predicate, place);
}

int tern_sim_lane(void)
{
    return running_thread("a warp primitive").number % 32;
}

static Warp &warp_of(const Thread &thread)
{
    return block().warps[(size_t)thread.number / 32];
}

static Thread &lane_of(const Thread &thread, int lane)
{
    return block().threads[(size_t)(thread.number / 32 * 32 + lane)];
}

unsigned tern_sim_active_mask(void)
{
    return warp_of(running_thread("__activemask")).alive;
}

static void check_mask(const Thread &thread, const Warp &warp, unsigned mask)
{
    int lane = thread.number % 32;
    if (!(mask >> lane & 1))
        broken_rule("warp primitive: lane %d calls with mask %08x, which it is not in", lane, mask);
    if (mask & ~warp.alive)
        broken_rule("warp primitive: mask %08x names lanes that have returned or do not exist: "
                    "there are %08x",
                    mask, warp.alive);
}

static void check_partners(const Thread &thread, const Warp &warp, unsigned mask, const void *place)
{
    if (!warp.arrived || (warp.mask == mask && warp.place == place))
        return;
    int lane = thread.number % 32;
    for (int i = 0; i < 32; i++) {
        const Thread &other = lane_of(thread, i);
        if (!(warp.arrived >> i & 1) || !(other.warp_mask >> lane & 1))
            continue;
        if (other.warp_mask != mask)
            broken_rule("warp primitive: lanes %d and %d meet with different masks, %08x and %08x",
                        lane, i, mask, other.warp_mask);
        if (other.warp_place != place)
            broken_rule("warp primitive: lanes %d and %d meet at different calls", lane, i);
    }
}

static void open_warp(const Thread &thread, Warp &warp, unsigned mask)
{
    warp.arrived &= ~mask;
    warp.meetings++;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1 && lane_of(thread, i).state == State::in_warp)
            lane_of(thread, i).state = State::ready;
}

// All lanes of the mask meet; returns which set of slots holds what they brought.
__attribute__((always_inline)) static inline unsigned meet_in_warp(unsigned mask, uint64_t value,
                                                                   int predicate, const void *place)
{
    Thread &thread = running_thread("a warp primitive");
    Warp &warp = warp_of(thread);
    check_mask(thread, warp, mask);
    check_partners(thread, warp, mask, place);
    unsigned lane = (unsigned)thread.number % 32, slots = warp.meetings & 1;
    if (!warp.arrived)
        warp.predicates[slots] = 0;
    warp.values[slots][lane] = value;
    warp.predicates[slots] |= (predicate ? 1u : 0u) << lane;
    warp.arrived |= 1u << lane;
    warp.mask = thread.warp_mask = mask;
    warp.place = thread.warp_place = place;
    release(&warp.order);
    if ((warp.arrived & mask) == mask)
        open_warp(thread, warp, mask);
    else
        wait_for_others(State::in_warp);
    acquire(&warp.order);
    return slots;
}

void tern_sim_syncwarp(unsigned mask, const void *place)
{
    meet_in_warp(mask, 0, 0, place);
}

uint64_t tern_sim_shuffle(unsigned mask, uint64_t value, int source_lane, const void *place)
{
    Warp &warp = warp_of(running_thread("a shuffle"));
    unsigned slots = meet_in_warp(mask, value, 0, place);
    if (!(mask >> source_lane & 1))
        broken_rule("shuffle: lane %d is read, which is not in mask %08x", source_lane, mask);
    return warp.values[slots][source_lane];
}

unsigned tern_sim_ballot(unsigned mask, int predicate, const void *place)
{
    Warp &warp = warp_of(running_thread("a ballot"));
    unsigned slots = meet_in_warp(mask, 0, predicate, place);
    return warp.predicates[slots] & mask;
}

const uint64_t *tern_sim_warp_values(uint64_t value, const void *place)
{
    Warp &warp = warp_of(running_thread("a matrix function"));
    return warp.values[meet_in_warp(0xffffffffu, value, 0, place)];
}

void tern_sim_matrix_rule(bool kept, const char *rule)
{
    if (!kept)
        broken_rule("tensor cores: %s", rule);
}
