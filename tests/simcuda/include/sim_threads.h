// SPDX-License-Identifier: Apache-2.0
// Who a thread is, and where threads of a block meet: barriers, warp primitives, shared memory.
// Each meeting passes its place in the text, so that threads that meet at different ones are found.
#ifndef TERN_SIM_THREADS_H
#define TERN_SIM_THREADS_H

extern "C" {
extern uint3 tern_sim_thread_index, tern_sim_block_index;
extern dim3 tern_sim_block_dim, tern_sim_grid_dim;
extern void *tern_sim_dynamic_shared;
void *tern_sim_shared(const void *key, size_t size, size_t alignment);
void tern_sim_syncthreads(const void *place);
int tern_sim_syncthreads_count(int predicate, const void *place);
void tern_sim_syncwarp(unsigned mask, const void *place);
uint64_t tern_sim_shuffle(unsigned mask, uint64_t value, int source_lane, const void *place);
unsigned tern_sim_ballot(unsigned mask, int predicate, const void *place);
int tern_sim_lane(void);
unsigned tern_sim_active_mask(void);
}

#define threadIdx tern_sim_thread_index
#define blockIdx  tern_sim_block_index
#define blockDim  tern_sim_block_dim
#define gridDim   tern_sim_grid_dim

// The address of a character of its own for each call in the text and each instance of a template.
#define TERN_SIM_PLACE()                                                                           \
    ([]() -> const void * {                                                                        \
        static char place;                                                                         \
        return &place;                                                                             \
    }())

#define __syncthreads()        tern_sim_syncthreads(TERN_SIM_PLACE())
#define __syncthreads_count(p) tern_sim_syncthreads_count(!!(p), TERN_SIM_PLACE())
#define __syncthreads_or(p)    (tern_sim_syncthreads_count(!!(p), TERN_SIM_PLACE()) != 0)
#define __syncthreads_and(p)   (tern_sim_syncthreads_count(!(p), TERN_SIM_PLACE()) == 0)
#define __syncwarp(...)        tern_sim_syncwarp_at(TERN_SIM_PLACE(), ##__VA_ARGS__)
#define __ballot_sync(mask, p) tern_sim_ballot(mask, !!(p), TERN_SIM_PLACE())
#define __any_sync(mask, p)    (tern_sim_ballot(mask, !!(p), TERN_SIM_PLACE()) != 0)
#define __all_sync(mask, p)    (tern_sim_ballot(mask, !(p), TERN_SIM_PLACE()) == 0)
#define __activemask()         tern_sim_active_mask()
#define __threadfence()        __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block()  __atomic_thread_fence(__ATOMIC_SEQ_CST)

static inline void tern_sim_syncwarp_at(const void *place, unsigned mask = 0xffffffffu)
{
    tern_sim_syncwarp(mask, place);
}

enum tern_sim_direction { TERN_SIM_INDEXED, TERN_SIM_UP, TERN_SIM_DOWN, TERN_SIM_XOR };

static inline int tern_sim_source_lane(tern_sim_direction direction, int by, int width)
{
    int lane = tern_sim_lane(), first = lane & ~(width - 1), within = lane & (width - 1);
    switch (direction) {
    case TERN_SIM_INDEXED:
        return first + (by & (width - 1));
    case TERN_SIM_UP:
        return within - by < 0 ? lane : lane - by;
    case TERN_SIM_DOWN:
        return within + by >= width ? lane : lane + by;
    case TERN_SIM_XOR:
        return (within ^ by) >= width ? lane : first + (within ^ by);
    }
    return lane;
}

template <class T>
static inline T tern_sim_shuffled(const void *place, tern_sim_direction direction, unsigned mask,
                                  T value, int by, int width = 32)
{
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffles: 8 bytes");
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    bits = tern_sim_shuffle(mask, bits, tern_sim_source_lane(direction, by, width), place);
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

#define __shfl_sync(mask, ...)                                                                     \
    tern_sim_shuffled(TERN_SIM_PLACE(), TERN_SIM_INDEXED, mask, __VA_ARGS__)
#define __shfl_up_sync(mask, ...)                                                                  \
    tern_sim_shuffled(TERN_SIM_PLACE(), TERN_SIM_UP, mask, __VA_ARGS__)
#define __shfl_down_sync(mask, ...)                                                                \
    tern_sim_shuffled(TERN_SIM_PLACE(), TERN_SIM_DOWN, mask, __VA_ARGS__)
#define __shfl_xor_sync(mask, ...)                                                                 \
    tern_sim_shuffled(TERN_SIM_PLACE(), TERN_SIM_XOR, mask, __VA_ARGS__)

// Static shared memory: one array for each declaration and block, filled with NaN when a block
// begins. TERN_SHARED(float, tile, [32][33]);
#define TERN_SHARED(T, name, ...)                                                                  \
    static const char name##_key = 0;                                                              \
    typedef T name##_type __VA_ARGS__;                                                             \
    name##_type &name = *static_cast<name##_type *>(                                               \
        tern_sim_shared(&name##_key, sizeof(name##_type), alignof(name##_type)))
#define TERN_DYN_SHARED(T, name) T *name = static_cast<T *>(tern_sim_dynamic_shared)

// One address space is all there is.
#define TERN_ASSUME_GLOBAL(pointer) ((void)(pointer))

#endif
