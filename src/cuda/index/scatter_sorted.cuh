// SPDX-License-Identifier: Apache-2.0
// scatter_add by sorting: the places of the index are sorted by where they go, those that go to one
// element stay in the order of the index, and a thread adds them all.
//
// A long run of equal indices would keep one thread busy with the device idle. So the sorted places
// are cut into pieces of 256, and those into pieces of 256 pieces. What of them goes to one element
// as a whole is summed before, by threads of its own, and the thread adds that sum as one term. The
// order is a function of the index and of the shapes alone: shorter runs, and what is left of a run
// before and behind its whole pieces, are added term by term. In a piece of places the terms follow
// each other where there are many columns; where there are few, lane l of a warp adds the places l,
// l + 32, .. and the lanes are joined as warp_reduce does it. Pieces of pieces are added in a row.
#ifndef TERN_SRC_CUDA_INDEX_SCATTER_SORTED_CUH
#define TERN_SRC_CUDA_INDEX_SCATTER_SORTED_CUH

#include "cuda/block.cuh"
#include "cuda/index/index.cuh"
#include "cuda/index/sort.cuh"

#define NOWHERE         INT64_MAX // sorts behind all that is added
#define PIECE_BITS      8
#define PIECE           (1 << PIECE_BITS)
#define SORTED_RESIDENT 4 // blocks on a multiprocessor: left to itself ptxas spills
#define SORTED_MOST     ((int64_t)1 << 38) // elements: as many threads are launched

// The index's own dimensions; the rest, along which it repeats, are columns.
struct index_places {
    loop<3> places;  // y without dim, x, index
    loop<2> columns; // y, x
    place_divisor width;
    index_list index;
    int64_t room; // keys
};

// Sums of whole pieces: of 256 places, and of 256 such. Those that are not whole hold nothing.
template <class C> struct piece_sums {
    C *pieces, *joined; /* (places / 256, columns), (places / 65536, columns) */
};

// ---- on the device ------------------------------------------------------------------------------

static __global__ void __launch_bounds__(LOOP_THREADS) make_keys(index_places p, sort_key *keys)
{
    const int64_t place = loop_thread();
    sort_key key = {NOWHERE, place};
    if (place >= p.room)
        return;
    if (place < p.places.numel) {
        int64_t at[3], i;
        loop_offsets(p.places, (uint32_t)place, at);
        if (p.index.read(at[2], &i))
            key.to = at[0] + i * p.index.hop;
    }
    keys[place] = key;
}

// Whether `count` sorted places from `first` on are there and go to one element.
__device__ __forceinline__ bool go_together(const index_places &p, const sort_key *keys,
                                            int64_t first, int64_t count)
{
    return first + count <= p.places.numel && keys[first].to != NOWHERE &&
           keys[first].to == keys[first + count - 1].to;
}

// What the n-th of the sorted places adds; `column` is where a column begins in x.
template <class T>
__device__ __forceinline__ typename element<T>::type term_of(const index_places &p,
                                                             const sort_key *keys, const T *x,
                                                             int64_t column, int64_t n)
{
    int64_t at[3];
    loop_offsets(p.places, (uint32_t)keys[n].place, at);
    return element<T>::load(x[at[1] + column]);
}

struct add_terms {
    template <class C> __device__ __forceinline__ C operator()(C a, C b) const
    {
        return plus(a, b);
    }
};

// LANES threads for each piece and column.
template <class T, int LANES>
__global__ void __launch_bounds__(LOOP_THREADS)
    sum_pieces(index_places p, const sort_key *keys, const T *x, typename element<T>::type *sums)
{
    const int64_t unit = loop_thread() / LANES;
    const int lane = (int)threadIdx.x % LANES;
    int64_t number = unit, column[2];
    const int64_t first = divide_by(&number, p.width) * PIECE;
    const bool whole = go_together(p, keys, first, PIECE);
    typename element<T>::type sum = 0;
    if (whole) {
        loop_offsets(p.columns, (uint32_t)number, column);
        sum = term_of(p, keys, x, column[1], first + lane);
#pragma unroll 4
        for (int n = lane + LANES; n < PIECE; n += LANES)
            sum = plus(sum, term_of(p, keys, x, column[1], first + n));
    }
    sum = warp_reduce<LANES>(sum, add_terms());
    if (whole && lane == 0)
        sums[unit] = sum;
}

// A thread for each piece of pieces and column.
template <class C>
__global__ void __launch_bounds__(LOOP_THREADS)
    join_pieces(index_places p, const sort_key *keys, piece_sums<C> sums)
{
    const int64_t unit = loop_thread();
    int64_t number = unit;
    const int64_t first = divide_by(&number, p.width) * PIECE, width = (int64_t)p.width.size;
    if (!go_together(p, keys, first * PIECE, PIECE * PIECE))
        return;
    C sum = sums.pieces[first * width + number];
#pragma unroll 4
    for (int n = 1; n < PIECE; n++)
        sum = plus(sum, sums.pieces[(first + n) * width + number]);
    sums.joined[unit] = sum;
}

// The largest piece that begins with the n-th sorted place and goes to its element: how many.
__device__ __forceinline__ int piece_from(const index_places &p, const sort_key *keys, int64_t n)
{
    if (n % PIECE != 0 || !go_together(p, keys, n, PIECE))
        return 1;
    return n % (PIECE * PIECE) == 0 && go_together(p, keys, n, PIECE * PIECE) ? PIECE * PIECE
                                                                              : PIECE;
}

// A thread for each place and column. The first of those that meet adds them all.
template <class T>
__global__ void __launch_bounds__(LOOP_THREADS, SORTED_RESIDENT)
    add_sorted(index_places p, const sort_key *keys, piece_sums<typename element<T>::type> sums,
               T *y, const T *x)
{
    int64_t number = loop_thread(), column[2];
    const int64_t first = divide_by(&number, p.width), width = (int64_t)p.width.size;
    if (first >= p.places.numel)
        return;
    const int64_t to = keys[first].to;
    if (to == NOWHERE || (first > 0 && keys[first - 1].to == to))
        return;
    loop_offsets(p.columns, (uint32_t)number, column);
    typename element<T>::type sum = element<T>::load(y[to + column[0]]);
    for (int64_t n = first; n < p.places.numel && keys[n].to == to;) {
        const int count = piece_from(p, keys, n);
        if (count == 1)
            sum = plus(sum, term_of(p, keys, x, column[1], n));
        else if (count == PIECE)
            sum = plus(sum, sums.pieces[n / PIECE * width + number]);
        else
            sum = plus(sum, sums.joined[n / (PIECE * PIECE) * width + number]);
        n += count;
    }
    y[to + column[0]] = element<T>::store(sum);
}

// ---- on the host --------------------------------------------------------------------------------

// A bit for each dimension along which the index does not repeat.
static inline unsigned place_dims(const scatter &s)
{
    unsigned dims = 1u << s.dim;
    for (int d = 0; d < s.index->rank; d++)
        if (s.index->stride[d] != 0)
            dims |= 1u << d;
    return dims;
}

static inline joined<3> places_of(const scatter &s, unsigned dims)
{
    const tern_strided still = standing(s.y, s.dim);
    const tern_strided views[] = {part_of(s, &still, dims), part_of(s, s.x, dims),
                                  part_of(s, s.index, dims)};
    return join_own(views);
}

static inline joined<2> columns_of(const scatter &s, unsigned dims)
{
    const tern_strided views[] = {part_of(s, s.y, dims), part_of(s, s.x, dims)};
    return join_own(views);
}

template <class T>
static tern_status sum_whole_pieces(const scatter &s, const index_places &p, const sort_key *keys,
                                    const piece_sums<typename element<T>::type> &sums)
{
    const int64_t columns = (int64_t)p.width.size, pieces = p.places.numel / PIECE;
    const T *x = (const T *)s.x->data;
    if (pieces == 0)
        return TERN_OK;
    if (columns < WARP_LANES)
        TERN_TRY(LAUNCH("scatter_add", (sum_pieces<T, WARP_LANES>),
                        loop_blocks(pieces * columns * WARP_LANES), LOOP_THREADS, s.exec->stream, p,
                        keys, x, sums.pieces));
    else
        TERN_TRY(LAUNCH("scatter_add", (sum_pieces<T, 1>), loop_blocks(pieces * columns),
                        LOOP_THREADS, s.exec->stream, p, keys, x, sums.pieces));
    if (pieces < PIECE)
        return TERN_OK;
    return LAUNCH("scatter_add", (join_pieces<typename element<T>::type>),
                  loop_blocks(pieces / PIECE * columns), LOOP_THREADS, s.exec->stream, p, keys,
                  sums);
}

template <class T>
static tern_status run_sorted(const scatter &s, const index_places &p, sort_key *keys,
                              const piece_sums<typename element<T>::type> &sums)
{
    TERN_TRY(LAUNCH("scatter_add", make_keys, loop_blocks(p.room), LOOP_THREADS, s.exec->stream, p,
                    keys));
    TERN_TRY(sort_keys(s.exec, "scatter_add", keys, p.room));
    TERN_TRY(sum_whole_pieces<T>(s, p, keys, sums));
    return LAUNCH("scatter_add", add_sorted<T>, loop_blocks(p.places.numel * (int64_t)p.width.size),
                  LOOP_THREADS, s.exec->stream, p, keys, sums, (T *)s.y->data,
                  (const T *)s.x->data);
}

// Whether the places can be counted in 32 bits when they are sorted, and the threads launched.
static inline bool can_sort(const joined<3> &places, const joined<2> &columns)
{
    return places.numel <= LOOP_MAX / 2 && columns.numel <= LOOP_MAX &&
           places.numel * columns.numel <= SORTED_MOST;
}

template <class T>
static tern_status add_by_sorting(const scatter &s, const joined<3> &places,
                                  const joined<2> &columns)
{
    typedef typename element<T>::type C;
    index_places p = {};
    scratch_memory scratch(s.exec);
    char *data;
    p.places = loop_make(places, 1, 0);
    p.columns = loop_make(columns, 1, 0);
    p.width = place_divisor_of(columns.numel);
    p.index = list_of(s.exec, s.index, s.y, s.dim);
    p.room = sort_room(places.numel);
    const int64_t pieces = places.numel / PIECE * columns.numel, joined = pieces / PIECE;
    TERN_TRY(scratch.take(
        p.room * (int64_t)sizeof(sort_key) + (pieces + joined) * (int64_t)sizeof(C), &data));
    sort_key *keys = (sort_key *)data;
    C *sums = (C *)(keys + p.room);
    return run_sorted<T>(s, p, keys, piece_sums<C>{sums, sums + pieces});
}

#endif
