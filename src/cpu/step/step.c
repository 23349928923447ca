// SPDX-License-Identifier: Apache-2.0
// The updates of optimizers: one parallel pass over a list of tensors, whose elements are cut into
// chunks by their number alone.
#include "base/thread_pool.h"
#include "cpu/elementwise/copy.h"
#include "cpu/real.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_double.h"
#include "device/kernel_dtype.h"

#define ALONE       131072    // elements up to which one thread works,
#define ALONE_SMALL (1 << 20) // and of tensors that have on average from
#define SMALL_MIN   1024
#define SMALL_MAX   16384
#define CHUNK       16384                  // of more, elements that are worth a chunk
#define MAX_CHUNKS  256                    // each looks for its first tensor from the front
#define BLOCK       512                    // 16-bit elements that are upcast at once
#define ARRAYS      (2 + TERN_STEP_STATES) // parameter, gradient, states

// Updates n elements of the type it is for: array[0] parameter, [1] gradient, [2 ..] states.
typedef void step_block_fn(const double *number, void *const *array, int64_t n);

// The block of an optimizer.
typedef step_block_fn *step_blocks_fn(tern_step_code code);

#if REAL_IS_DOUBLE && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
#define FMA_ __builtin_fma
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define FMA_ __builtin_fmaf
#else
#define FMA_(a, b, c) ((a) * (b) + (c))
#endif

#define NUMBER(x)                                                                                  \
    const real x = (real)number[next++];                                                           \
    (void)x;
#define ARRAY(x) real *restrict x##_at = array[at++];
#define LOAD(x)  real x = x##_at[i];
#define STORE(x) x##_at[i] = x;
#define COUNT(x) +1
#define STEP(CODE, FAMILY, ...)                                                                    \
    _Static_assert(0 TERN_STEP_##FAMILY##_NUMBERS(COUNT) <= TERN_STEP_NUMBERS, "numbers");         \
    _Static_assert(0 TERN_STEP_##CODE##_STATES(COUNT) <= TERN_STEP_STATES, "states");              \
    static void step_##CODE(const double *number, void *const *array, int64_t n)                   \
    {                                                                                              \
        int next = 0, at = 0;                                                                      \
        TERN_STEP_##FAMILY##_NUMBERS(NUMBER);                                                      \
        ARRAY(p)                                                                                   \
        const real *restrict g_at = array[at++];                                                   \
        TERN_STEP_##CODE##_STATES(ARRAY);                                                          \
        (void)next, (void)at;                                                                      \
        ELEMENTWISE_LOOP                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            LOAD(p)                                                                                \
            const real g = g_at[i];                                                                \
            TERN_STEP_##CODE##_STATES(LOAD);                                                       \
            __VA_ARGS__                                                                            \
            STORE(p)                                                                               \
            TERN_STEP_##CODE##_STATES(STORE);                                                      \
        }                                                                                          \
    }
#include "device/step.def"

REAL_DECLARE(step_blocks_fn, step_block);

step_block_fn *REAL_NAME(step_block)(tern_step_code code)
{
    static step_block_fn *const blocks[] = {
#define STEP(CODE, FAMILY, ...) [TERN_STEP_##CODE] = step_##CODE,
#include "device/step.def"
    };
    return blocks[code];
}

#undef NUMBER
#undef ARRAY
#undef LOAD
#undef STORE
#undef COUNT

#if REAL_IS_FLOAT
// What all chunks of a pass work on: each is a part of all elements, tensor after tensor.
typedef struct pass {
    tern_step_code code;
    const tern_step_tensor *tensors;
    const double *number; // of all tensors, instead of their own; or NULL
    int64_t numel, chunks;
} pass;

// Elements of one tensor.
typedef struct range {
    const tern_step_tensor *tensor;
    const double *number;
    int64_t begin, count;
} range;

static void gather_arrays(void **array, const tern_step_tensor *t, int64_t begin)
{
    const int64_t offset = begin * tern_element_size(t->dtype);
    array[0] = (char *)t->param + offset;
    array[1] = (char *)t->grad + offset;
    for (int i = 0; i < TERN_STEP_STATES; i++)
        array[2 + i] = t->state[i] ? (char *)t->state[i] + offset : NULL;
}

static void convert(void *to, tern_dtype to_dtype, void *from, tern_dtype from_dtype, int64_t n)
{
    const tern_strided y = {to, to_dtype, 1, {n}, {1}}, x = {from, from_dtype, 1, {n}, {1}};
    TERN_ISA_NAME(copy_cast)(&y, &x);
}

// 16-bit elements: computed in float32, rounded once.
static void run_upcast(tern_step_code code, const range *r)
{
    const tern_step_tensor *t = r->tensor;
    float wide[ARRAYS][BLOCK];
    void *narrow[ARRAYS], *array[ARRAYS];
    for (int64_t done = 0; done < r->count; done += BLOCK) {
        const int64_t n = r->count - done < BLOCK ? r->count - done : BLOCK;
        gather_arrays(narrow, t, r->begin + done);
        for (int i = 0; i < ARRAYS; i++) {
            array[i] = narrow[i] ? wide[i] : NULL;
            if (narrow[i])
                convert(wide[i], TERN_FLOAT32, narrow[i], t->dtype, n);
        }
        TERN_ISA_NAME(step_block_float)(code)(r->number, array, n);
        for (int i = 0; i < ARRAYS; i++)
            if (narrow[i] && i != 1)
                convert(narrow[i], t->dtype, wide[i], TERN_FLOAT32, n);
    }
}

static void run_range(tern_step_code code, const range *r)
{
    const tern_dtype dtype = r->tensor->dtype;
    void *array[ARRAYS];
    if (dtype != TERN_FLOAT32 && dtype != TERN_FLOAT64) {
        run_upcast(code, r);
        return;
    }
    gather_arrays(array, r->tensor, r->begin);
    REAL_SELECT(dtype, step_block)(code)(r->number, array, r->count);
}

// Where a chunk begins among all elements, at a whole block.
static int64_t chunk_begin(const pass *p, int64_t index)
{
    const int64_t blocks = (p->numel + BLOCK - 1) / BLOCK;
    const int64_t begin = blocks * index / p->chunks * BLOCK;
    return begin < p->numel ? begin : p->numel;
}

static void run_chunk(void *context, int64_t index)
{
    const pass *p = context;
    const int64_t end = chunk_begin(p, index + 1);
    int64_t at = chunk_begin(p, index), first = 0; // among all elements
    for (const tern_step_tensor *t = p->tensors; at < end; first += t->numel, t++) {
        if (at >= first + t->numel)
            continue;
        const int64_t stop = first + t->numel < end ? first + t->numel : end;
        const double *number = p->number ? p->number : t->number;
        run_range(p->code, &(range){t, number, at - first, stop - at});
        at = stop;
    }
}

// Gradients that one thread computes, as those of small layers, are in its core's caches: to fetch
// half of them takes longer than to update all. Of tiny tensors it is finding them that takes time.
static int64_t alone(int64_t numel, int64_t count)
{
    return numel >= SMALL_MIN * count && numel <= SMALL_MAX * count ? ALONE_SMALL : ALONE;
}

static void run_chunks(pass *p, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        p->numel += p->tensors[i].numel;
    p->chunks = p->numel / CHUNK < MAX_CHUNKS ? p->numel / CHUNK : MAX_CHUNKS;
    if (p->numel > alone(p->numel, count)) {
        tern_pool_run(p->chunks, run_chunk, p);
        return;
    }
    p->chunks = 1;
    run_chunk(p, 0);
}

tern_status TERN_ISA_NAME(step)(const tern_exec *exec, tern_step_code code,
                                const tern_step_tensor *tensors, int64_t count)
{
    pass p = {.code = code, .tensors = tensors};
    TERN_TRY(tern_kernel_floating_step("step", tensors, count));
    if (!__atomic_load_n(&exec->fault->set, __ATOMIC_ACQUIRE))
        run_chunks(&p, count);
    return TERN_OK;
}

tern_status TERN_ISA_NAME(average)(const tern_exec *exec, double decay, const int64_t *averaged,
                                   const tern_step_tensor *tensors, int64_t count)
{
    (void)exec;
    TERN_TRY(tern_kernel_floating_step("average", tensors, count));
    const double take = TERN_AVERAGE_TAKE(decay, *averaged);
    run_chunks(&(pass){.code = TERN_STEP_AVERAGE, .tensors = tensors, .number = &take}, count);
    return TERN_OK;
}
#endif
