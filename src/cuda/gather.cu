// SPDX-License-Identifier: Apache-2.0
// Reading and adding along one dimension by int64 indices.
//
// Gathering is a walk over the index. Adding keeps the order of the index, in one of two ways. With
// many lines along `dim` a thread does a line from its start to its end. With few, the places of
// the index are sorted by where they go, and a thread sums what meets in one element.
#include "cuda/element.cuh"
#include "cuda/fault.cuh"
#include "cuda/sort.cuh"
#include "cuda/walk.cuh"

// Indices along one dimension; what is out of range goes to the fault record.
struct index_list {
    const int64_t *data;
    int64_t limit, hop; // size and stride of the indexed view along dim
    tern_fault *fault;
    uint32_t site;

    // Whether *i is one, read from a place in the index's memory.
    __device__ __forceinline__ bool read(int64_t place, int64_t *i) const
    {
        *i = data[place];
        if (*i >= 0 && *i < limit)
            return true;
        fault_report(fault, site, place, *i);
        return false;
    }
};

static index_list list_of(const tern_exec *exec, const tern_strided *index,
                          const tern_strided *indexed, int dim)
{
    return {(const int64_t *)index->data, indexed->size[dim], indexed->stride[dim], exec->fault,
            exec->site};
}

// The indexed view as one that stands still along dim.
static tern_strided standing(const tern_strided *indexed, int dim)
{
    tern_strided view = *indexed;
    view.stride[dim] = 0;
    return view;
}

// ---- gather -------------------------------------------------------------------------------------

// Views: y, x without dim, index.
template <class Bits> struct gather_body {
    static const int VIEWS = 3, WIDTH = pack_width<Bits>::value;
    Bits *y;
    const Bits *x;
    index_list index;
    bool packs; // x has whole packs at every index

    __device__ __forceinline__ void one(const int64_t *at) const
    {
        int64_t i;
        y[at[0]] = index.read(at[2], &i) ? x[at[1] + i * index.hop] : 0;
    }
    // One index for all: a piece of a row of x. Else element by element.
    __device__ __forceinline__ void some(const int64_t *at, unsigned splat) const
    {
        int64_t i;
        if (packs && splat == 4) {
            pack<Bits, WIDTH> values = {};
            if (index.read(at[2], &i))
                values = pack_load<WIDTH>(x + at[1] + i * index.hop);
            pack_store(y + at[0], values);
            return;
        }
        for (int k = 0; k < WIDTH; k++) {
            const int64_t next[VIEWS] = {at[0] + k, splat & 2 ? at[1] : at[1] + k,
                                         splat & 4 ? at[2] : at[2] + k};
            one(next);
        }
    }
};

template <class Bits>
static tern_status gather(const tern_exec *exec, const tern_strided *y, const tern_strided *x,
                          const tern_strided *index, int dim)
{
    const tern_strided still = standing(x, dim);
    const tern_strided *const views[] = {y, &still, index};
    const bool packs = x->stride[dim] % pack_width<Bits>::value == 0;
    const gather_body<Bits> body = {(Bits *)y->data, (const Bits *)x->data,
                                    list_of(exec, index, x, dim), packs};
    return walk_run(exec, "gather", views, body);
}

extern "C" tern_status tern_cuda_gather(const tern_exec *exec, const tern_strided *y,
                                        const tern_strided *x, const tern_strided *index, int dim)
{
    switch (tern_dtype_size(y->dtype)) {
        TERN_SIZE_CASES(Bits, gather<Bits>(exec, y, x, index, dim))
    }
    return TERN_OK;
}

// ---- scatter_add: lines -------------------------------------------------------------------------

template <class C> __device__ __forceinline__ C plus(C a, C b)
{
    return a + b;
}
__device__ __forceinline__ int64_t plus(int64_t a, int64_t b)
{
    return wrap_add(a, b);
}

// Views, without dim: y, x, index. Y is what 16-bit elements of y are summed in.
template <class Y, class X> struct line_body {
    static const int VIEWS = 3, WIDTH = 1;
    Y *y;
    const X *x;
    index_list index;
    int64_t length, x_step, index_step;

    __device__ __forceinline__ void one(const int64_t *at) const
    {
        for (int64_t n = 0; n < length; n++) {
            int64_t i;
            if (!index.read(at[2] + n * index_step, &i))
                continue;
            Y *to = y + at[0] + i * index.hop;
            *to = element<Y>::store(
                plus(element<Y>::load(*to), element<X>::load(x[at[1] + n * x_step])));
        }
    }
};

struct scatter {
    const tern_exec *exec;
    const tern_strided *y, *x, *index;
    int dim;
};

// A view of the dimensions for which `keep` has a bit, with the index's sizes.
static tern_strided part_of(const scatter &s, const tern_strided *view, unsigned keep)
{
    tern_strided part = *view;
    part.rank = 0;
    for (int d = 0; d < s.index->rank; d++) {
        if (!(keep >> d & 1))
            continue;
        part.size[part.rank] = s.index->size[d];
        part.stride[part.rank] = view->stride[d];
        part.rank++;
    }
    return part;
}

template <class Y, class X> static tern_status add_lines(const scatter &s)
{
    const unsigned others = ~(1u << s.dim);
    const tern_strided y = part_of(s, s.y, others), x = part_of(s, s.x, others),
                       index = part_of(s, s.index, others);
    const tern_strided *const views[] = {&y, &x, &index};
    const line_body<Y, X> body = {
        (Y *)y.data,          (const X *)x.data,  list_of(s.exec, s.index, s.y, s.dim),
        s.index->size[s.dim], s.x->stride[s.dim], s.index->stride[s.dim]};
    return walk_run(s.exec, "scatter_add", views, body);
}

// Contiguous, of y's sizes, in float.
static tern_strided wide_view(const tern_strided *y, void *data)
{
    tern_strided wide = *y;
    int64_t stride = 1;
    wide.data = data;
    wide.dtype = TERN_FLOAT32;
    for (int d = y->rank - 1; d >= 0; d--) {
        wide.stride[d] = stride;
        stride *= y->size[d];
    }
    return wide;
}

// Sums of 16-bit elements are kept in float and rounded once.
template <class T> static tern_status add_lines_wide(const scatter &s)
{
    tern_cuda_scratch scratch;
    TERN_TRY(
        tern_cuda_scratch_take(s.exec, tern_strided_numel(s.y) * (int64_t)sizeof(float), &scratch));
    const tern_strided wide = wide_view(s.y, scratch.data);
    scatter into = s;
    into.y = &wide;
    tern_status status = tern_cuda_copy(s.exec, &wide, s.y);
    if (!status)
        status = add_lines<float, T>(into);
    if (!status)
        status = tern_cuda_copy(s.exec, s.y, &wide);
    tern_cuda_scratch_free(s.exec, &scratch);
    return status;
}

// ---- scatter_add: sorted ------------------------------------------------------------------------

#define NOWHERE INT64_MAX // sorts behind all that is added

// The index's own dimensions; the rest, along which it repeats, are columns.
struct index_places {
    walk<3> places;  // y without dim, x, index
    walk<2> columns; // y, x
    index_list index;
    int64_t room; // keys
};

static __global__ void __launch_bounds__(WALK_THREADS) make_keys(index_places p, sort_key *keys)
{
    const int64_t place = walk_thread();
    sort_key key = {NOWHERE, place};
    if (place >= p.room)
        return;
    if (place < p.places.numel) {
        int64_t at[3], i;
        walk_find(p.places, (uint32_t)place, at);
        if (p.index.read(at[2], &i))
            key.to = at[0] + i * p.index.hop;
    }
    keys[place] = key;
}

// A thread for each place and column. The first of those that meet adds them all.
template <class T>
__global__ void __launch_bounds__(WALK_THREADS)
    add_sorted(index_places p, const sort_key *keys, T *y, const T *x)
{
    const int64_t thread = walk_thread(), first = thread / p.columns.numel;
    int64_t column[2], at[3];
    if (first >= p.places.numel)
        return;
    const int64_t to = keys[first].to;
    if (to == NOWHERE || (first > 0 && keys[first - 1].to == to))
        return;
    walk_find(p.columns, (uint32_t)(thread - first * p.columns.numel), column);
    typename element<T>::type sum = element<T>::load(y[to + column[0]]);
    for (int64_t n = first; n < p.places.numel && keys[n].to == to; n++) {
        walk_find(p.places, (uint32_t)keys[n].place, at);
        sum = plus(sum, element<T>::load(x[at[1] + column[1]]));
    }
    y[to + column[0]] = element<T>::store(sum);
}

static unsigned place_dims(const scatter &s)
{
    unsigned dims = 1u << s.dim;
    for (int d = 0; d < s.index->rank; d++)
        if (s.index->stride[d] != 0)
            dims |= 1u << d;
    return dims;
}

static joined<3> places_of(const scatter &s, unsigned dims)
{
    const tern_strided still = standing(s.y, s.dim);
    const tern_strided y = part_of(s, &still, dims), x = part_of(s, s.x, dims),
                       index = part_of(s, s.index, dims);
    const tern_strided *const views[] = {&y, &x, &index};
    return join(views);
}

static joined<2> columns_of(const scatter &s, unsigned dims)
{
    const tern_strided y = part_of(s, s.y, dims), x = part_of(s, s.x, dims);
    const tern_strided *const views[] = {&y, &x};
    return join(views);
}

template <class T>
static tern_status run_sorted(const scatter &s, const index_places &p, sort_key *keys)
{
    TERN_LAUNCH(make_keys, walk_blocks(p.room), WALK_THREADS, 0, s.exec->stream, p, keys);
    TERN_TRY(tern_cuda_launched("scatter_add"));
    TERN_TRY(sort_keys(s.exec, "scatter_add", keys, p.room));
    TERN_LAUNCH(add_sorted<T>, walk_blocks((int64_t)p.places.numel * p.columns.numel), WALK_THREADS,
                0, s.exec->stream, p, keys, (T *)s.y->data, (const T *)s.x->data);
    return tern_cuda_launched("scatter_add");
}

template <class T> static tern_status add_by_sorting(const scatter &s)
{
    const unsigned dims = place_dims(s);
    const joined<3> places = places_of(s, dims);
    index_places p = {};
    tern_cuda_scratch scratch;
    p.places = walk_make(places, 1, 0);
    p.columns = walk_make(columns_of(s, ~dims), 1, 0);
    p.index = list_of(s.exec, s.index, s.y, s.dim);
    p.room = sort_room(places.numel);
    TERN_TRY(tern_cuda_scratch_take(s.exec, p.room * (int64_t)sizeof(sort_key), &scratch));
    const tern_status status = run_sorted<T>(s, p, (sort_key *)scratch.data);
    tern_cuda_scratch_free(s.exec, &scratch);
    return status;
}

// ---- scatter_add: the choice --------------------------------------------------------------------

#define SHORT_LINE 32    // places that a thread may add one after the other
#define MANY_LINES 16384 // as many threads keep a device busy

static bool by_lines(const scatter &s, int64_t numel)
{
    const int64_t length = s.index->size[s.dim];
    return length <= SHORT_LINE || numel / length >= MANY_LINES || numel > WALK_MOST / 2;
}

template <class T> static tern_status add(const scatter &s)
{
    const int64_t numel = tern_strided_numel(s.index);
    if (numel == 0)
        return TERN_OK;
    if (!by_lines(s, numel))
        return add_by_sorting<T>(s);
    if constexpr (sizeof(T) == 2)
        return s.index->size[s.dim] > 1 ? add_lines_wide<T>(s) : add_lines<T, T>(s);
    else
        return add_lines<T, T>(s);
}

extern "C" tern_status tern_cuda_scatter_add(const tern_exec *exec, const tern_strided *y,
                                             const tern_strided *x, const tern_strided *index,
                                             int dim)
{
    const scatter s = {exec, y, x, index, dim};
    switch (y->dtype) {
        TERN_FLOATING_CASES(T, add<T>(s))
        TERN_WHOLE_CASES(T, add<T>(s))
    case TERN_DTYPE_UNSPECIFIED:
        break;
    }
    return TERN_OK;
}
