// SPDX-License-Identifier: Apache-2.0
// One pass over all tensors of an optimizer group. What changes from step to step is read from
// memory of the device: a table that kernels with the values among their arguments wrote before.
// The grid depends on the tensors' sizes alone, so that a captured pass stays right.
//
// An optimizer `Update` has
//     values         type: what all tensors share, at most STEP_RECORDS bytes
//     STATES         how many arrays of state a tensor has
//     of<C>          type: the same in the type that is computed in, made from values and a record,
//                    with  void operator()(C &param, C grad, C *state)
#ifndef TERN_SRC_CUDA_STEP_STEP_CUH
#define TERN_SRC_CUDA_STEP_STEP_CUH

#include "cuda/pack.cuh"

#define STEP_THREADS  256
#define STEP_RESIDENT 2     // blocks on a multiprocessor: ptxas would spill for a third
#define STEP_LEAST    2048  // elements of a block,
#define STEP_MOST     16384 // at most
#define STEP_BLOCKS   2048  // more than this take more elements each
#define STEP_RECORDS  256   // bytes before the first record of the table
#define STEP_CHUNK    36    // records that go into a kernel's arguments

// One tensor in the table.
typedef struct step_record {
    void *param, *grad;
    void *state[3];
    int64_t numel;
    int64_t first_block;
    double factor[4]; // what the optimizer derives from the tensor's step
    int32_t dtype;
    int32_t first; // step 1
} step_record;

// x, or 0 where it is nearer to 0 than `least`; a NaN stays.
template <class C> __device__ __forceinline__ C step_or_zero(C x, C least)
{
    return x < least && x > -least ? 0 : x;
}

// ---- the table ----------------------------------------------------------------------------------

template <class Values> struct step_chunk {
    Values values;
    step_record record[STEP_CHUNK];
};

template <class Values>
__global__ void step_write(Values *values, step_record *records, int count,
                           const step_chunk<Values> chunk)
{
    if (threadIdx.x == 0)
        *values = chunk.values;
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        records[i] = chunk.record[i];
}

// ---- the pass -----------------------------------------------------------------------------------

// The tensor that the block works on: the last that begins no later. All threads call.
__device__ __forceinline__ int step_tensor_of(const step_record *records, int count, int64_t block)
{
    int begun = 0;
    for (int base = 0; base < count; base += STEP_THREADS) {
        const int i = base + (int)threadIdx.x;
        begun += __syncthreads_count(i < count && records[i].first_block <= block);
    }
    return begun - 1;
}

// A block's elements of a tensor.
template <class T, int STATES> struct step_arrays {
    T *param;
    const T *grad;
    T *state[STATES + 1];

    __device__ step_arrays(const step_record &r, int64_t first)
        : param((T *)r.param + first), grad((const T *)r.grad + first)
    {
        TERN_ASSUME_GLOBAL(r.param);
        TERN_ASSUME_GLOBAL(r.grad);
#pragma unroll
        for (int s = 0; s < STATES; s++) {
            TERN_ASSUME_GLOBAL(r.state[s]);
            state[s] = (T *)r.state[s] + first;
        }
    }
    __device__ bool aligned() const
    {
        uintptr_t bits = (uintptr_t)param | (uintptr_t)grad;
#pragma unroll
        for (int s = 0; s < STATES; s++)
            bits |= (uintptr_t)state[s];
        return bits % PACK_BYTES == 0;
    }
};

template <int W, class T, int STATES, class Of>
__device__ __forceinline__ void step_pack(const Of &update, const step_arrays<T, STATES> &a, int i)
{
    pack<T, W> p = pack_load<W>(a.param + i), g = pack_load<W>(a.grad + i), state[STATES + 1];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        state[s] = pack_load<W>(a.state[s] + i);
#pragma unroll
    for (int k = 0; k < W; k++) {
        computed_t<T> x = widen(p.at[k]), own[STATES + 1];
#pragma unroll
        for (int s = 0; s < STATES; s++)
            own[s] = widen(state[s].at[k]);
        update(x, (computed_t<T>)widen(g.at[k]), own);
        p.at[k] = narrow<T>(x);
#pragma unroll
        for (int s = 0; s < STATES; s++)
            state[s].at[k] = narrow<T>(own[s]);
    }
    pack_store<W>(a.param + i, p);
#pragma unroll
    for (int s = 0; s < STATES; s++)
        pack_store<W>(a.state[s] + i, state[s]);
}

// `count` elements of the tensor from `first` on.
template <class T, class Update>
__device__ __forceinline__ void step_elements(const typename Update::values &values,
                                              const step_record &r, int64_t first, int count)
{
    enum { WIDTH = pack_width<T>::value };
    const typename Update::template of<computed_t<T>> update(values, r);
    const step_arrays<T, Update::STATES> arrays(r, first);
    const int packed = arrays.aligned() ? count / WIDTH * WIDTH : 0;
    for (int i = (int)threadIdx.x * WIDTH; i < packed; i += STEP_THREADS * WIDTH)
        step_pack<WIDTH>(update, arrays, i);
#pragma unroll 1
    for (int i = packed + (int)threadIdx.x; i < count; i += STEP_THREADS)
        step_pack<1>(update, arrays, i);
}

template <class Update>
__global__ void __launch_bounds__(STEP_THREADS, STEP_RESIDENT)
    step_update(const typename Update::values *values, const step_record *records, int count,
                int64_t elements, const tern_fault *fault)
{
    const step_record &r = records[step_tensor_of(records, count, blockIdx.x)];
    const int64_t first = (blockIdx.x - r.first_block) * elements, left = r.numel - first;
    const int own = (int)(left < elements ? left : elements);
    if (fault->set)
        return;
    if (r.dtype == TERN_FLOAT32)
        step_elements<float, Update>(*values, r, first, own);
    else if (r.dtype == TERN_FLOAT64)
        step_elements<double, Update>(*values, r, first, own);
    else if (r.dtype == TERN_FLOAT16)
        step_elements<__half, Update>(*values, r, first, own);
    else
        step_elements<__nv_bfloat16, Update>(*values, r, first, own);
}

// ---- on the host --------------------------------------------------------------------------------

// Elements of a block, for the tensors together.
static inline int64_t step_block_elements(const tern_step_tensor *tensors, int64_t count)
{
    int64_t numel = 0;
    for (int64_t i = 0; i < count; i++)
        numel += tensors[i].numel;
    const int64_t share = numel / STEP_BLOCKS / STEP_LEAST * STEP_LEAST;
    return share < STEP_LEAST ? STEP_LEAST : share > STEP_MOST ? STEP_MOST : share;
}

static inline int64_t step_blocks_of(const tern_step_tensor *tensor, int64_t elements)
{
    return (tensor->numel + elements - 1) / elements;
}

static inline step_record step_record_of(const tern_step_tensor *t, int64_t first_block)
{
    step_record r = {t->param,          t->grad,     {t->state[0], t->state[1], t->state[2]},
                     t->numel,          first_block, {0, 0, 0, 0},
                     (int32_t)t->dtype, t->step == 1};
    return r;
}

// factors(record, tensor) fills in what the optimizer derives.
template <class Values, class Factors>
static tern_status write_steps(const tern_exec *exec, const char *op, void *table,
                               const Values &values, const Factors &factors,
                               const tern_step_tensor *tensors, int64_t count)
{
    static_assert(sizeof(step_chunk<Values>) <= 4000, "arguments of a kernel");
    step_record *records = (step_record *)((char *)table + STEP_RECORDS);
    const int64_t elements = step_block_elements(tensors, count);
    step_chunk<Values> chunk = {values, {}};
    int64_t block = 0;
    for (int64_t i = 0; i < count; i++) {
        const int at = (int)(i % STEP_CHUNK);
        chunk.record[at] = step_record_of(&tensors[i], block);
        factors(&chunk.record[at], &tensors[i]);
        block += step_blocks_of(&tensors[i], elements);
        if (at + 1 == STEP_CHUNK || i + 1 == count)
            TERN_LAUNCH((step_write<Values>), 1, 64, 0, exec->stream, (Values *)table,
                        records + (i - at), at + 1, chunk);
    }
    return tern_cuda_launched(op);
}

template <class Update>
static tern_status run_steps(const tern_exec *exec, const char *op, const void *table,
                             const tern_step_tensor *tensors, int64_t count)
{
    typedef typename Update::values values;
    const step_record *records = (const step_record *)((const char *)table + STEP_RECORDS);
    const int64_t elements = step_block_elements(tensors, count);
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; i++)
        blocks += step_blocks_of(&tensors[i], elements);
    if (blocks == 0)
        return TERN_OK;
    TERN_LAUNCH((step_update<Update>), (unsigned)blocks, STEP_THREADS, 0, exec->stream,
                (const values *)table, records, (int)count, elements, exec->fault);
    return tern_cuda_launched(op);
}

// As exec's plan says; without one the table is scratch.
template <class Update, class Factors>
static tern_status step_all(const tern_exec *exec, const char *op,
                            const typename Update::values &values, const Factors &factors,
                            const tern_step_tensor *tensors, int64_t count)
{
    static_assert(sizeof values <= STEP_RECORDS && sizeof(step_record) <= 128,
                  "tern_step_plan_size");
    tern_step_plan plan = {NULL, true, true};
    tern_cuda_scratch scratch = {};
    TERN_TRY(tern_kernel_floating_step(op, tensors, count));
    if (count == 0)
        return TERN_OK;
    if (exec->plan) {
        plan = *exec->plan;
    } else {
        TERN_TRY(tern_cuda_scratch_take(exec, tern_step_plan_size(count), &scratch));
        plan.memory = scratch.data;
    }
    tern_status status = TERN_OK;
    if (plan.write)
        status = write_steps(exec, op, plan.memory, values, factors, tensors, count);
    if (status == TERN_OK && plan.run)
        status = run_steps<Update>(exec, op, plan.memory, tensors, count);
    if (!exec->plan)
        tern_cuda_scratch_free(exec, &scratch);
    return status;
}

#endif
