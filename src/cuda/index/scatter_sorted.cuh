// SPDX-License-Identifier: Apache-2.0
// scatter_add by sorting: the positions of the index are sorted by where they go, those that go to
// one element stay in the order of the index, and a thread adds them all.
//
// A long run of equal indices would keep one thread busy with the device idle. So the sorted
// positions are cut into chunks of 256, and those into chunks of 256 chunks. What of them goes to
// one element as a whole is summed before, by threads of its own, and the thread adds that sum as
// one term. The order is a function of the index and of the shapes alone: shorter runs, and what is
// left of a run before and behind its whole chunks, are added term by term. In a chunk of positions
// the terms follow each other where there are many columns; where there are few, lane l of a warp
// adds the positions l, l + 32, .. and the lanes are joined as warp_reduce does it. Chunks of
// chunks are added in a row.
#ifndef TERN_SRC_CUDA_INDEX_SCATTER_SORTED_CUH
#define TERN_SRC_CUDA_INDEX_SCATTER_SORTED_CUH

#include "cuda/block.cuh"
#include "cuda/index/index.cuh"
#include "cuda/index/sort.cuh"

#define NOWHERE         INT64_MAX // sorts behind all that is added
#define CHUNK_BITS      8
#define CHUNK           (1 << CHUNK_BITS)
#define SORTED_RESIDENT 4 // blocks on a multiprocessor: left to itself ptxas spills
#define SORTED_MAX      ((int64_t)1 << 38) // elements: as many threads are launched

// The index's own dimensions; the rest, along which it repeats, are columns.
struct sorted_index {
    loop<3> positions; // y without dim, x, index
    loop<2> columns;   // y, x
    int64_divisor width;
    index_list index;
    int64_t capacity; // keys
};

// Sums of whole chunks: of 256 positions, and of 256 such. Those that are not whole hold nothing.
template <class C> struct chunk_sums {
    C *chunks, *joined; /* (positions / 256, columns), (positions / 65536, columns) */
};

// ---- on the device ------------------------------------------------------------------------------

static __global__ void __launch_bounds__(LOOP_THREADS) make_keys(sorted_index p, sort_key *keys)
{
    const int64_t position = loop_thread();
    sort_key key = {NOWHERE, position};
    if (position >= p.capacity)
        return;
    if (position < p.positions.numel) {
        int64_t at[3], i;
        loop_offsets(p.positions, (uint32_t)position, at);
        if (p.index.read(at[2], &i))
            key.destination = at[0] + i * p.index.dim_stride;
    }
    keys[position] = key;
}

// Whether `count` sorted positions from `first` on are there and go to one element.
__device__ __forceinline__ bool same_destination(const sorted_index &p, const sort_key *keys,
                                                 int64_t first, int64_t count)
{
    return first + count <= p.positions.numel && keys[first].destination != NOWHERE &&
           keys[first].destination == keys[first + count - 1].destination;
}

// What the n-th of the sorted positions adds; `column` is where a column begins in x.
template <class T>
__device__ __forceinline__ typename element<T>::type load_term(const sorted_index &p,
                                                               const sort_key *keys, const T *x,
                                                               int64_t column, int64_t n)
{
    int64_t at[3];
    loop_offsets(p.positions, (uint32_t)keys[n].position, at);
    return element<T>::load(x[at[1] + column]);
}

struct add_terms {
    template <class C> __device__ __forceinline__ C operator()(C a, C b) const
    {
        return plus(a, b);
    }
};

// LANES threads for each chunk and column.
template <class T, int LANES>
__global__ void __launch_bounds__(LOOP_THREADS)
    sum_chunks(sorted_index p, const sort_key *keys, const T *x, typename element<T>::type *sums)
{
    const int64_t unit = loop_thread() / LANES;
    const int lane = (int)threadIdx.x % LANES;
    int64_t number = unit, column[2];
    const int64_t first = fast_divmod(&number, p.width) * CHUNK;
    const bool whole = same_destination(p, keys, first, CHUNK);
    typename element<T>::type sum = 0;
    if (whole) {
        loop_offsets(p.columns, (uint32_t)number, column);
        sum = load_term(p, keys, x, column[1], first + lane);
#pragma unroll 4
        for (int n = lane + LANES; n < CHUNK; n += LANES)
            sum = plus(sum, load_term(p, keys, x, column[1], first + n));
    }
    sum = warp_reduce<LANES>(sum, add_terms());
    if (whole && lane == 0)
        sums[unit] = sum;
}

// A thread for each chunk of chunks and column.
template <class C>
__global__ void __launch_bounds__(LOOP_THREADS)
    sum_chunk_groups(sorted_index p, const sort_key *keys, chunk_sums<C> sums)
{
    const int64_t unit = loop_thread();
    int64_t number = unit;
    const int64_t first = fast_divmod(&number, p.width) * CHUNK, width = (int64_t)p.width.size;
    if (!same_destination(p, keys, first * CHUNK, CHUNK * CHUNK))
        return;
    C sum = sums.chunks[first * width + number];
#pragma unroll 4
    for (int n = 1; n < CHUNK; n++)
        sum = plus(sum, sums.chunks[(first + n) * width + number]);
    sums.joined[unit] = sum;
}

// The largest chunk that begins with the n-th sorted position and goes to its element: how many.
__device__ __forceinline__ int chunk_size_at(const sorted_index &p, const sort_key *keys, int64_t n)
{
    if (n % CHUNK != 0 || !same_destination(p, keys, n, CHUNK))
        return 1;
    return n % (CHUNK * CHUNK) == 0 && same_destination(p, keys, n, CHUNK * CHUNK) ? CHUNK * CHUNK
                                                                                   : CHUNK;
}

// A thread for each position and column. The first of those with one destination adds them all.
template <class T>
__global__ void __launch_bounds__(LOOP_THREADS, SORTED_RESIDENT)
    add_sorted(sorted_index p, const sort_key *keys, chunk_sums<typename element<T>::type> sums,
               T *y, const T *x)
{
    int64_t number = loop_thread(), column[2];
    const int64_t first = fast_divmod(&number, p.width), width = (int64_t)p.width.size;
    if (first >= p.positions.numel)
        return;
    const int64_t to = keys[first].destination;
    if (to == NOWHERE || (first > 0 && keys[first - 1].destination == to))
        return;
    loop_offsets(p.columns, (uint32_t)number, column);
    typename element<T>::type sum = element<T>::load(y[to + column[0]]);
    for (int64_t n = first; n < p.positions.numel && keys[n].destination == to;) {
        const int count = chunk_size_at(p, keys, n);
        if (count == 1)
            sum = plus(sum, load_term(p, keys, x, column[1], n));
        else if (count == CHUNK)
            sum = plus(sum, sums.chunks[n / CHUNK * width + number]);
        else
            sum = plus(sum, sums.joined[n / (CHUNK * CHUNK) * width + number]);
        n += count;
    }
    y[to + column[0]] = element<T>::store(sum);
}

// ---- on the host --------------------------------------------------------------------------------

// A bit for each dimension along which the index does not repeat.
static inline unsigned index_dims(const scatter &s)
{
    unsigned dims = 1u << s.dim;
    for (int d = 0; d < s.index->rank; d++)
        if (s.index->stride[d] != 0)
            dims |= 1u << d;
    return dims;
}

static inline joined<3> join_positions(const scatter &s, unsigned dims)
{
    const tern_strided still = with_zero_stride(s.y, s.dim);
    const tern_strided views[] = {select_dims(s, &still, dims), select_dims(s, s.x, dims),
                                  select_dims(s, s.index, dims)};
    return join_views(views);
}

static inline joined<2> join_columns(const scatter &s, unsigned dims)
{
    const tern_strided views[] = {select_dims(s, s.y, dims), select_dims(s, s.x, dims)};
    return join_views(views);
}

template <class T>
static tern_status launch_chunk_sums(const scatter &s, const sorted_index &p, const sort_key *keys,
                                     const chunk_sums<typename element<T>::type> &sums)
{
    const int64_t columns = (int64_t)p.width.size, chunks = p.positions.numel / CHUNK;
    const T *x = (const T *)s.x->data;
    if (chunks == 0)
        return TERN_OK;
    if (columns < WARP_SIZE)
        TERN_TRY(LAUNCH("scatter_add", (sum_chunks<T, WARP_SIZE>),
                        loop_blocks(chunks * columns * WARP_SIZE), LOOP_THREADS, s.exec->stream, p,
                        keys, x, sums.chunks));
    else
        TERN_TRY(LAUNCH("scatter_add", (sum_chunks<T, 1>), loop_blocks(chunks * columns),
                        LOOP_THREADS, s.exec->stream, p, keys, x, sums.chunks));
    if (chunks < CHUNK)
        return TERN_OK;
    return LAUNCH("scatter_add", (sum_chunk_groups<typename element<T>::type>),
                  loop_blocks(chunks / CHUNK * columns), LOOP_THREADS, s.exec->stream, p, keys,
                  sums);
}

template <class T>
static tern_status run_sorted(const scatter &s, const sorted_index &p, sort_key *keys,
                              const chunk_sums<typename element<T>::type> &sums)
{
    TERN_TRY(LAUNCH("scatter_add", make_keys, loop_blocks(p.capacity), LOOP_THREADS, s.exec->stream,
                    p, keys));
    TERN_TRY(sort_keys(s.exec, "scatter_add", keys, p.capacity));
    TERN_TRY(launch_chunk_sums<T>(s, p, keys, sums));
    return LAUNCH("scatter_add", add_sorted<T>,
                  loop_blocks(p.positions.numel * (int64_t)p.width.size), LOOP_THREADS,
                  s.exec->stream, p, keys, sums, (T *)s.y->data, (const T *)s.x->data);
}

// Whether the positions can be counted in 32 bits when they are sorted, and the threads launched.
static inline bool can_sort(const joined<3> &positions, const joined<2> &columns)
{
    return positions.numel <= LOOP_MAX / 2 && columns.numel <= LOOP_MAX &&
           positions.numel * columns.numel <= SORTED_MAX;
}

template <class T>
static tern_status add_by_sorting(const scatter &s, const joined<3> &positions,
                                  const joined<2> &columns)
{
    typedef typename element<T>::type C;
    sorted_index p = {};
    scratch_memory scratch(s.exec);
    char *data;
    p.positions = loop_make(positions, 1, 0);
    p.columns = loop_make(columns, 1, 0);
    p.width = make_int64_divisor(columns.numel);
    p.index = make_index_list(s.exec, s.index, s.y, s.dim);
    p.capacity = sort_capacity(positions.numel);
    const int64_t chunks = positions.numel / CHUNK * columns.numel, joined = chunks / CHUNK;
    TERN_TRY(scratch.take(
        p.capacity * (int64_t)sizeof(sort_key) + (chunks + joined) * (int64_t)sizeof(C), &data));
    sort_key *keys = (sort_key *)data;
    C *sums = (C *)(keys + p.capacity);
    return run_sorted<T>(s, p, keys, chunk_sums<C>{sums, sums + chunks});
}

#endif
