// SPDX-License-Identifier: Apache-2.0
// The updates of optimizers: one pass over all tensors of a group. What changes from step to step
// is read from memory of the device: a table that was copied there, or that kernels with the
// numbers among their arguments wrote before. The grid depends on the tensors' sizes alone, so that
// a captured pass stays right.
#include "cuda/vec.cuh"
#include "cuda/realmath.cuh"
#include <stdlib.h>

#define STEP_THREADS  256
#define STEP_RESIDENT 2     // blocks on a multiprocessor: ptxas would spill for a third
#define STEP_MIN      2048  // elements of a block, at least
#define STEP_MAX      16384 // at most
#define STEP_BLOCKS   2048  // more than this take more elements each
#define STEP_CHUNK    23    // records that go into a kernel's arguments
#define STEP_UPLOAD   184   // records from which on one copy takes less of the host than kernels

// One tensor in the table.
typedef struct step_record {
    void *param, *grad;
    void *state[TERN_STEP_STATES];
    int64_t numel;
    int64_t first_block;
    double number[TERN_STEP_NUMBERS];
    int64_t dtype;
} step_record;

// ---- the formulas -------------------------------------------------------------------------------

// The numbers of a formula in the type that is computed in, and how many states it has.
template <int CODE, class real> struct step_formula;

__device__ __forceinline__ float step_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}
__device__ __forceinline__ double step_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

#define R_(name)  real_##name
#define FMA_      step_fma
#define MEMBER(x) real x;
#define TAKE(x)   x = (real)number[next++];
#define STATE(x)  real &x = state[at++];
#define COUNT(x)  +1
#define STEP(CODE, FAMILY, ...)                                                                    \
    template <class real> struct step_formula<TERN_STEP_##CODE, real> {                            \
        enum { STATES = 0 TERN_STEP_##CODE##_STATES(COUNT) };                                      \
        TERN_STEP_##FAMILY##_NUMBERS(MEMBER)                                                       \
                                                                                                   \
            __device__ explicit step_formula(const double *number)                                 \
        {                                                                                          \
            int next = 0;                                                                          \
            TERN_STEP_##FAMILY##_NUMBERS(TAKE);                                                    \
            (void)next;                                                                            \
        }                                                                                          \
        __device__ __forceinline__ void operator()(real &p, const real g, real *state) const       \
        {                                                                                          \
            int at = 0;                                                                            \
            TERN_STEP_##CODE##_STATES(STATE);                                                      \
            (void)at, (void)state;                                                                 \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    };
#include "device/step.def"
#undef R_
#undef FMA_
#undef MEMBER
#undef TAKE
#undef STATE
#undef COUNT

// ---- the table ----------------------------------------------------------------------------------

typedef struct step_chunk {
    step_record record[STEP_CHUNK];
} step_chunk;
static_assert(sizeof(step_chunk) <= 4000, "arguments of a kernel");
static_assert(sizeof(step_record) <= 192, "tern_step_plan_size");

__global__ void step_write(step_record *records, int count, const step_chunk chunk)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        records[i] = chunk.record[i];
}

// ---- the pass -----------------------------------------------------------------------------------

// The tensor that the block works on: the last that begins no later. All threads call. Of many it
// is searched for, since to look at them all would read the whole table in each block.
__device__ __forceinline__ int find_step_tensor(const step_record *records, int count,
                                                int64_t block)
{
    int first = 0, last = count - 1;
    while (last - first >= STEP_THREADS) {
        const int middle = first + (last - first) / 2;
        if (records[middle].first_block <= block)
            first = middle;
        else
            last = middle - 1;
    }
    const int i = first + (int)threadIdx.x;
    return first - 1 + __syncthreads_count(i <= last && records[i].first_block <= block);
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
        return bits % VEC_BYTES == 0;
    }
};

template <int W, class T, int STATES, class Formula>
__device__ __forceinline__ void step_vec(const Formula &update, const step_arrays<T, STATES> &a,
                                         int i)
{
    vec<T, W> p = vec_load<W>(a.param + i), g = vec_load<W>(a.grad + i), state[STATES + 1];
#pragma unroll
    for (int s = 0; s < STATES; s++)
        state[s] = vec_load<W>(a.state[s] + i);
#pragma unroll
    for (int k = 0; k < W; k++) {
        opmath_t<T> x = upcast(p.at[k]), own[STATES + 1];
#pragma unroll
        for (int s = 0; s < STATES; s++)
            own[s] = upcast(state[s].at[k]);
        update(x, (opmath_t<T>)upcast(g.at[k]), own);
        p.at[k] = downcast<T>(x);
#pragma unroll
        for (int s = 0; s < STATES; s++)
            state[s].at[k] = downcast<T>(own[s]);
    }
    vec_store<W>(a.param + i, p);
#pragma unroll
    for (int s = 0; s < STATES; s++)
        vec_store<W>(a.state[s] + i, state[s]);
}

// `count` elements of the tensor from `first` on.
template <class T, int CODE>
__device__ __forceinline__ void step_elements(const step_record &r, const double *number,
                                              int64_t first, int count)
{
    enum { WIDTH = vec_width<T>::value };
    typedef step_formula<CODE, opmath_t<T>> formula;
    const formula update(number);
    const step_arrays<T, formula::STATES> arrays(r, first);
    const int vectorized = arrays.aligned() ? count / WIDTH * WIDTH : 0;
    for (int i = (int)threadIdx.x * WIDTH; i < vectorized; i += STEP_THREADS * WIDTH)
        step_vec<WIDTH>(update, arrays, i);
#pragma unroll 1
    for (int i = vectorized + (int)threadIdx.x; i < count; i += STEP_THREADS)
        step_vec<1>(update, arrays, i);
}

// What the block has of the tensor, by numbers that may be the tensor's own.
template <int CODE>
__device__ __forceinline__ void step_block(const step_record &r, const double *number,
                                           int64_t elements)
{
    const int64_t first = (blockIdx.x - r.first_block) * elements, left = r.numel - first;
    const int own = (int)(left < elements ? left : elements);
    if (r.dtype == TERN_FLOAT32)
        step_elements<float, CODE>(r, number, first, own);
    else if (r.dtype == TERN_FLOAT64)
        step_elements<double, CODE>(r, number, first, own);
    else if (r.dtype == TERN_FLOAT16)
        step_elements<__half, CODE>(r, number, first, own);
    else
        step_elements<__nv_bfloat16, CODE>(r, number, first, own);
}

template <int CODE>
__global__ void __launch_bounds__(STEP_THREADS, STEP_RESIDENT)
    step_update(const step_record *records, int count, int64_t elements, const tern_fault *fault)
{
    const step_record &r = records[find_step_tensor(records, count, blockIdx.x)];
    if (!fault->set)
        step_block<CODE>(r, r.number, elements);
}

__global__ void __launch_bounds__(STEP_THREADS, STEP_RESIDENT)
    step_average(const step_record *records, int count, int64_t elements, double decay,
                 const int64_t *averaged)
{
    const step_record &r = records[find_step_tensor(records, count, blockIdx.x)];
    const double take = TERN_AVERAGE_TAKE(decay, *averaged);
    step_block<TERN_STEP_AVERAGE>(r, &take, elements);
}

// ---- on the host --------------------------------------------------------------------------------

// Elements of a block, for the tensors together.
static inline int64_t step_block_elements(const tern_step_tensor *tensors, int64_t count)
{
    int64_t numel = 0;
    for (int64_t i = 0; i < count; i++)
        numel += tensors[i].numel;
    const int64_t elements = numel / STEP_BLOCKS / STEP_MIN * STEP_MIN;
    return elements < STEP_MIN ? STEP_MIN : elements > STEP_MAX ? STEP_MAX : elements;
}

static inline int64_t step_block_count(const tern_step_tensor *tensor, int64_t elements)
{
    return ceil_div(tensor->numel, elements);
}

static inline step_record make_step_record(const tern_step_tensor *t, int64_t first_block)
{
    step_record r = {t->param, t->grad, {}, t->numel, first_block, {}, (int64_t)t->dtype};
    for (int i = 0; i < TERN_STEP_STATES; i++)
        r.state[i] = t->state[i];
    for (int i = 0; i < TERN_STEP_NUMBERS; i++)
        r.number[i] = t->number[i];
    return r;
}

static tern_status write_steps(const tern_exec *exec, step_record *records,
                               const tern_step_tensor *tensors, int64_t count)
{
    const int64_t elements = step_block_elements(tensors, count);
    step_chunk chunk = {};
    int64_t block = 0;
    for (int64_t i = 0; i < count; i++) {
        const int at = (int)(i % STEP_CHUNK);
        chunk.record[at] = make_step_record(&tensors[i], block);
        block += step_block_count(&tensors[i], elements);
        if (at + 1 == STEP_CHUNK || i + 1 == count)
            TERN_TRY(
                LAUNCH("step", step_write, 1, 64, exec->stream, records + (i - at), at + 1, chunk));
    }
    return TERN_OK;
}

static void fill_records(step_record *records, const tern_step_tensor *tensors, int64_t count)
{
    const int64_t elements = step_block_elements(tensors, count);
    int64_t block = 0;
    for (int64_t i = 0; i < count; i++) {
        records[i] = make_step_record(&tensors[i], block);
        block += step_block_count(&tensors[i], elements);
    }
}

// What write_steps does, by a copy, which a capture would not repeat with the numbers of a replay.
static tern_status upload_steps(const tern_exec *exec, step_record *records,
                                const tern_step_tensor *tensors, int64_t count)
{
    step_record *host = (step_record *)malloc((size_t)count * sizeof *host);
    if (!host)
        return tern_error_raise(TERN_ERR_NOMEM, "step: no memory for a table of %lld tensors",
                                (long long)count);
    fill_records(host, tensors, count);
    const tern_status status = tern_cuda_upload(exec, records, host, count * (int64_t)sizeof *host);
    free(host);
    return status;
}

static int64_t count_step_blocks(const tern_step_tensor *tensors, int64_t count, int64_t elements)
{
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; i++)
        blocks += step_block_count(&tensors[i], elements);
    return blocks;
}

static tern_status run_steps(const tern_exec *exec, tern_step_code code, const step_record *records,
                             const tern_step_tensor *tensors, int64_t count)
{
    const int64_t elements = step_block_elements(tensors, count);
    const int64_t blocks = count_step_blocks(tensors, count, elements);
    if (blocks == 0)
        return TERN_OK;
    switch (code) {
#define STEP(CODE, FAMILY, ...)                                                                    \
    case TERN_STEP_##CODE:                                                                         \
        return LAUNCH("step", (step_update<TERN_STEP_##CODE>), (unsigned)blocks, STEP_THREADS,     \
                      exec->stream, records, (int)count, elements, exec->fault);
#include "device/step.def"
    }
    return tern_error_raise(TERN_ERR_UNSUPPORTED, "step: no kernel for update %d", (int)code);
}

// As exec's plan says; without one the table is scratch.
extern "C" tern_status tern_cuda_step(const tern_exec *exec, tern_step_code code,
                                      const tern_step_tensor *tensors, int64_t count)
{
    tern_step_plan plan = {NULL, true, true};
    scratch_memory scratch(exec);
    TERN_TRY(tern_kernel_floating_step("step", tensors, count));
    if (count == 0)
        return TERN_OK;
    char *table = NULL;
    if (exec->plan)
        plan = *exec->plan;
    else
        TERN_TRY(scratch.take(tern_step_plan_size(count), &table));
    step_record *records = (step_record *)(exec->plan ? plan.memory : table);
    const bool by_copy = exec->plan && count >= STEP_UPLOAD; // a capture does not write a plan
    if (plan.write)
        TERN_TRY(by_copy ? upload_steps(exec, records, tensors, count)
                         : write_steps(exec, records, tensors, count));
    return plan.run ? run_steps(exec, code, records, tensors, count) : TERN_OK;
}

extern "C" tern_status tern_cuda_average(const tern_exec *exec, double decay,
                                         const int64_t *averaged, const tern_step_tensor *tensors,
                                         int64_t count)
{
    scratch_memory scratch(exec);
    char *table;
    TERN_TRY(tern_kernel_floating_step("average", tensors, count));
    const int64_t elements = step_block_elements(tensors, count);
    const int64_t blocks = count_step_blocks(tensors, count, elements);
    if (blocks == 0)
        return TERN_OK;
    TERN_TRY(scratch.take(tern_step_plan_size(count), &table));
    step_record *records = (step_record *)table;
    TERN_TRY(write_steps(exec, records, tensors, count));
    return LAUNCH("average", step_average, (unsigned)blocks, STEP_THREADS, exec->stream, records,
                  (int)count, elements, decay, averaged);
}
