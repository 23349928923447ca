// SPDX-License-Identifier: Apache-2.0
// The elements of lines in order, or the first of them. A short line is sorted by a block. Of a
// long one, blocks sort tiles, of which as many items stay as are wanted. Then pairs of runs are
// merged, or, where few items are wanted, what stayed is cut into tiles again.
#include "cuda/element.cuh"
#include "cuda/fast_divide.cuh"
#include "cuda/sort/merge.cuh"
#include "device/sort_key.h"

#define TILE_THREADS  256
#define TILE_EACH     8
#define TILE          (TILE_THREADS * TILE_EACH)
#define TILE_RESIDENT 3 // blocks on a multiprocessor: left to itself ptxas spills
#define SELECT_SHARE  8 // items of a tile for one that stays, at least, or runs are merged

enum { X, INDICES, VALUES, VIEWS };

struct sort_plan {
    int rank; // of the other dimensions
    int64_divisor size[TERN_MAX_RANK];
    int64_t stride[TERN_MAX_RANK][VIEWS], step[VIEWS];
    int64_t lines, n, k;
    // Of elements: sort_key.h
    uint64_t sign, infinity, flip;
    bool truth;
    void *data[VIEWS]; // VALUES may be NULL
};

// ---- where items come from and go to ------------------------------------------------------------

struct sort_line {
    int64_t at[VIEWS];
};

__device__ __forceinline__ sort_line find_line(const sort_plan &plan, int64_t line)
{
    sort_line found = {};
    for (int d = plan.rank - 1; d >= 0; d--) {
        const int64_t outer = fast_divmod(&line, plan.size[d]);
#pragma unroll
        for (int v = 0; v < VIEWS; v++)
            found.at[v] += line * plan.stride[d][v];
        line = outer;
    }
    return found;
}

// Elements of x.
template <class Bits, class Item> struct element_source {
    typedef Item item;
    sort_plan plan;
    struct cursor {
        const Bits *x;
    };
    __device__ __forceinline__ cursor begin(int64_t line) const
    {
        return {(const Bits *)plan.data[X] + find_line(plan, line).at[X]};
    }
    __device__ __forceinline__ Item load(const cursor &at, int64_t i) const
    {
        const uint64_t bits = at.x[i * plan.step[X]];
        const uint64_t key =
            sort_key_64(plan.truth ? bits != 0 : bits, plan.sign, plan.infinity) ^ plan.flip;
        return item_parts<Item>::make(key, i);
    }
};

// Items in memory, `count` of each line.
template <class Item> struct item_source {
    typedef Item item;
    const Item *items;
    int64_t count;
    struct cursor {
        const Item *items;
    };
    __device__ __forceinline__ cursor begin(int64_t line) const
    {
        return {items + line * count};
    }
    __device__ __forceinline__ Item load(const cursor &at, int64_t i) const
    {
        return at.items[i];
    }
};

template <class Item> struct item_sink {
    Item *items;
    int64_t count;
    struct cursor {
        Item *items;
    };
    __device__ __forceinline__ cursor begin(int64_t line) const
    {
        return {items + line * count};
    }
    __device__ __forceinline__ void store(const cursor &at, int64_t i, const Item &item) const
    {
        at.items[i] = item;
    }
};

// What the kernel gives. -0 and 0 have one key, and so have all NaN: those elements are copied.
template <class Bits, class Item> struct result_sink {
    sort_plan plan;
    struct cursor {
        const Bits *x;
        Bits *values;
        int64_t *indices;
    };
    __device__ __forceinline__ cursor begin(int64_t line) const
    {
        const sort_line found = find_line(plan, line);
        return {(const Bits *)plan.data[X] + found.at[X],
                (Bits *)plan.data[VALUES] + found.at[VALUES],
                (int64_t *)plan.data[INDICES] + found.at[INDICES]};
    }
    __device__ __forceinline__ void store(const cursor &at, int64_t i, const Item &item) const
    {
        const int64_t index = item_parts<Item>::index(item);
        at.indices[i * plan.step[INDICES]] = index;
        if (!plan.data[VALUES])
            return;
        const uint64_t key = item_parts<Item>::key(item) ^ plan.flip;
        const bool copy =
            plan.infinity != 0 && (key == plan.sign || key == sort_key_nan_64(plan.sign));
        at.values[i * plan.step[VALUES]] =
            copy ? at.x[index * plan.step[X]]
                 : (Bits)sort_key_bits_64(key, plan.sign, plan.infinity);
    }
};

// ---- kernels ------------------------------------------------------------------------------------

// Lines of `count` items, cut into tiles of which the first `keep` stay.
struct tile_plan {
    int64_t count, keep, units; // tiles of all lines
    int64_divisor tiles;        // of a line
};

template <int THREADS, int EACH, class Source, class Sink>
__global__ void __launch_bounds__(THREADS)
    sort_tiles(const tile_plan plan, const Source source, const Sink sink)
{
    typedef typename Source::item Item;
    TERN_SHARED(Item, shared, [THREADS * EACH]);
    for (int64_t unit = blockIdx.x; unit < plan.units; unit += gridDim.x) {
        int64_t tile = unit;
        const int64_t line = fast_divmod(&tile, plan.tiles), first = tile * (THREADS * EACH);
        const int count = (int)min((int64_t)(THREADS * EACH), plan.count - first);
        const typename Source::cursor from = source.begin(line);
        Item own[EACH];
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            const int i = k * THREADS + (int)threadIdx.x;
            own[k] = i < count ? source.load(from, first + i) : item_parts<Item>::last();
        }
        sort_in_block<THREADS, EACH>(own, shared);
        const typename Sink::cursor to = sink.begin(line);
        const int kept = (int)min((int64_t)count, plan.keep);
        for (int i = (int)threadIdx.x; i < kept; i += THREADS)
            sink.store(to, tile * plan.keep + i, shared[i]);
        __syncthreads();
    }
}

// Lines of `count` items in runs of `run`, of which pairs are merged to runs of `merged`; the last
// may be shorter.
struct merge_plan {
    int64_t count, run, merged, units; // blocks' parts of all lines' pairs
    int64_divisor pairs, parts;        // pairs of a line, parts of a pair
};

template <class Item>
__device__ __forceinline__ run_pair<Item, int64_t> find_pair(const merge_plan &plan,
                                                             const Item *items, int64_t pair)
{
    const int64_t a = 2 * pair * plan.run, b = min(a + plan.run, plan.count);
    return {items + a, items + b, b - a, min(plan.run, plan.count - b)};
}

template <class Item, class Sink>
__global__ void __launch_bounds__(TILE_THREADS, TILE_RESIDENT)
    merge_runs(const merge_plan plan, const item_source<Item> source, const Sink sink)
{
    TERN_SHARED(Item, shared, [TILE]);
    TERN_SHARED(int64_t, from_a, [2]);
    const int thread = (int)threadIdx.x;
    for (int64_t unit = blockIdx.x; unit < plan.units; unit += gridDim.x) {
        int64_t part = unit, pair = fast_divmod(&part, plan.parts);
        const int64_t line = fast_divmod(&pair, plan.pairs);
        const run_pair<Item, int64_t> runs = find_pair(plan, source.begin(line).items, pair);
        const int64_t all = min(runs.a_count + runs.b_count, plan.merged);
        const int64_t begin = min(part * TILE, all), end = min(begin + TILE, all);
        if (thread < 2 * WARP_SIZE) {
            const int64_t found = warp_merge_path(runs, thread < WARP_SIZE ? begin : end);
            if (thread % WARP_SIZE == 0)
                from_a[thread / WARP_SIZE] = found;
        }
        __syncthreads();
        const int64_t a = from_a[0], b = begin - a;
        const int a_count = (int)(from_a[1] - a), count = (int)(end - begin);
        for (int i = thread; i < count; i += TILE_THREADS)
            shared[i] = i < a_count ? runs.a[a + i] : runs.b[b + i - a_count];
        __syncthreads();
        const run_pair<Item, int> own_runs = {shared, shared + a_count, a_count, count - a_count};
        Item own[TILE_EACH];
        merge_part<TILE_EACH>(own_runs, thread * TILE_EACH, own);
        __syncthreads();
        store_own(own, shared);
        __syncthreads();
        const typename Sink::cursor to = sink.begin(line);
        for (int i = thread; i < count; i += TILE_THREADS)
            sink.store(to, pair * plan.merged + begin + i, shared[i]);
        __syncthreads();
    }
}

// ---- launchers ----------------------------------------------------------------------------------

template <int THREADS, int EACH, class Source, class Sink>
static tern_status launch_tiles(const tern_exec *exec, const sort_plan &sort, int64_t count,
                                const Source &source, const Sink &sink)
{
    const int64_t tiles = ceil_div(count, THREADS * EACH);
    const tile_plan plan = {count, min_int64(sort.k, THREADS * EACH), sort.lines * tiles,
                            make_int64_divisor(tiles)};
    return LAUNCH("sort", (sort_tiles<THREADS, EACH, Source, Sink>), grid_stride_blocks(plan.units),
                  THREADS, exec->stream, plan, source, sink);
}

template <class Item, class Sink>
static tern_status launch_merge(const tern_exec *exec, const sort_plan &sort, int64_t count,
                                int64_t run, const item_source<Item> &source, const Sink &sink)
{
    const int64_t merged = min_int64(2 * run, sort.k), pairs = ceil_div(count, 2 * run);
    const int64_t parts = ceil_div(merged, TILE);
    const merge_plan plan = {count,
                             run,
                             merged,
                             sort.lines * pairs * parts,
                             make_int64_divisor(pairs),
                             make_int64_divisor(parts)};
    return LAUNCH("sort", (merge_runs<Item, Sink>), grid_stride_blocks(plan.units), TILE_THREADS,
                  exec->stream, plan, source, sink);
}

// Items that stay of `count` in parts of `part`, of each at most k.
static int64_t count_kept(int64_t count, int64_t part, int64_t k)
{
    const int64_t whole = count / part;
    return whole * min_int64(part, k) + min_int64(count % part, k);
}

// Merges runs, or with run 0 sorts tiles.
template <class Item, class Sink>
static tern_status join_parts(const tern_exec *exec, const sort_plan &plan, int64_t count,
                              int64_t run, const item_source<Item> &source, const Sink &sink)
{
    if (run > 0)
        return launch_merge(exec, plan, count, run, source, sink);
    return launch_tiles<TILE_THREADS, TILE_EACH>(exec, plan, count, source, sink);
}

// What is in items[0] already, to the end.
template <class Bits, class Item>
static tern_status join_tiles(const tern_exec *exec, const sort_plan &plan, Item *const (&items)[2],
                              int64_t count)
{
    const bool again = plan.k <= TILE / SELECT_SHARE;
    const result_sink<Bits, Item> result = {plan};
    int64_t run = min_int64(TILE, plan.k);
    for (int from = 0;; from = 1 - from) {
        const item_source<Item> source = {items[from], count};
        const int64_t part = again ? TILE : 2 * run, left = count_kept(count, part, plan.k);
        const item_sink<Item> sink = {items[1 - from], left};
        if (count <= part)
            return join_parts(exec, plan, count, again ? 0 : run, source, result);
        TERN_TRY(join_parts(exec, plan, count, again ? 0 : run, source, sink));
        count = left;
        run = min_int64(2 * run, plan.k);
    }
}

template <class Bits, class Item>
static tern_status sort_long_lines(const tern_exec *exec, const sort_plan &plan)
{
    const int64_t count = count_kept(plan.n, TILE, plan.k);
    scratch_memory scratch(exec);
    Item *memory;
    TERN_TRY(scratch.take(2 * plan.lines * count, &memory));
    Item *const items[2] = {memory, memory + plan.lines * count};
    const element_source<Bits, Item> source = {plan};
    const item_sink<Item> sink = {items[0], count};
    TERN_TRY((launch_tiles<TILE_THREADS, TILE_EACH>(exec, plan, plan.n, source, sink)));
    return join_tiles<Bits>(exec, plan, items, count);
}

template <class Bits, class Item>
static tern_status sort_lines(const tern_exec *exec, const sort_plan &plan)
{
    const element_source<Bits, Item> source = {plan};
    const result_sink<Bits, Item> sink = {plan};
    if (plan.n <= 128)
        return launch_tiles<32, 4>(exec, plan, plan.n, source, sink);
    if (plan.n <= 512)
        return launch_tiles<128, 4>(exec, plan, plan.n, source, sink);
    if (plan.n <= TILE)
        return launch_tiles<TILE_THREADS, TILE_EACH>(exec, plan, plan.n, source, sink);
    return sort_long_lines<Bits, Item>(exec, plan);
}

template <class Bits> static tern_status sort_bits(const tern_exec *exec, const sort_plan &plan)
{
    if constexpr (sizeof(Bits) == 8)
        return sort_lines<Bits, wide_item>(exec, plan);
    else if (plan.n <= (int64_t)UINT32_MAX)
        return sort_lines<Bits, packed_item>(exec, plan);
    else
        return sort_long_lines<Bits, wide_item>(exec, plan);
}

static uint64_t infinity_bits(tern_dtype dtype)
{
    switch (dtype) {
    case TERN_FLOAT32:
        return 0x7f800000;
    case TERN_FLOAT64:
        return (uint64_t)0x7ff << 52;
    case TERN_FLOAT16:
        return 0x7c00;
    case TERN_BFLOAT16:
        return 0x7f80;
    case TERN_INT64:
    case TERN_INT32:
    case TERN_UINT8:
    case TERN_BOOL:
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return 0;
}

static sort_plan make_sort_plan(const tern_strided *const (&views)[VIEWS], int dim)
{
    sort_plan plan = {};
    const tern_strided *x = views[X];
    plan.n = x->size[dim];
    plan.k = views[INDICES]->size[dim];
    plan.lines = 1;
    for (int d = 0; d < x->rank; d++) {
        for (int v = 0; v < VIEWS; v++)
            (d == dim ? plan.step : plan.stride[plan.rank])[v] = views[v] ? views[v]->stride[d] : 0;
        if (d == dim)
            continue;
        plan.size[plan.rank++] = make_int64_divisor(x->size[d]);
        plan.lines *= x->size[d];
    }
    for (int v = 0; v < VIEWS; v++)
        plan.data[v] = views[v] ? views[v]->data : NULL;
    return plan;
}

static void set_keys(sort_plan *plan, tern_dtype dtype, bool descending)
{
    const int bits = 8 * (int)tern_dtype_size(dtype);
    const bool is_unsigned = dtype == TERN_UINT8 || dtype == TERN_BOOL;
    plan->sign = is_unsigned ? 0 : (uint64_t)1 << (bits - 1);
    plan->infinity = infinity_bits(dtype);
    plan->flip = descending ? UINT64_MAX >> (64 - bits) : 0;
    plan->truth = dtype == TERN_BOOL;
}

extern "C" tern_status tern_cuda_sort(const tern_exec *exec, bool descending,
                                      const tern_strided *values, const tern_strided *indices,
                                      const tern_strided *x, int dim)
{
    const tern_strided *const views[VIEWS] = {x, indices, values};
    if (tern_strided_numel(indices) == 0)
        return TERN_OK;
    sort_plan plan = make_sort_plan(views, dim);
    set_keys(&plan, x->dtype, descending);
    switch (tern_dtype_size(x->dtype)) {
        TERN_SIZE_CASES(Bits, sort_bits<Bits>(exec, plan))
    }
    return tern_kernel_lacks("sort", x->dtype);
}
