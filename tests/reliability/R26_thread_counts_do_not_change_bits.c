// SPDX-License-Identifier: Apache-2.0
// The number of threads changes no bit of any result. Sizes are such that operations are cut into
// several pieces, which the program counts: it is linked with --wrap=tern_pool_run.
#include <pthread.h>
#include <stdatomic.h>

#include "base/thread_pool.h"
#include "bits.h"
#include "bounds.h"
#include "case_bits.h"
#include "instruction_sets.h"
#include "support/instrumented.h"
#include "manifest.h"
#include "runs.h"

static const int counts[] = {1, 2, 3, 8};
#define COUNTS (sizeof counts / sizeof *counts)

static const char *include_dir;

static atomic_llong cut_regions;

void __real_tern_pool_run(int64_t pieces, tern_pool_fn *fn, void *context);
void __wrap_tern_pool_run(int64_t pieces, tern_pool_fn *fn, void *context);
void __wrap_tern_pool_run(int64_t pieces, tern_pool_fn *fn, void *context)
{
    if (pieces > 1)
        atomic_fetch_add(&cut_regions, 1);
    __real_tern_pool_run(pieces, fn, context);
}

typedef uint64_t run_fn(void);

// Under every instruction set, or where a sanitizer watches under the first; all but the last with
// the fewest threads and with the most.
static void assert_same_bits(run_fn *run)
{
    FOR_EACH_INSTRUCTION_SET(set)
    {
        if (INSTRUMENTED && set > 0 && !getenv("TERN_TEST_LONG"))
            break;
        uint64_t first = 0;
        for (size_t i = 0; i < COUNTS; i += set + 1 < INSTRUCTION_SETS ? COUNTS - 1 : 1) {
            tern_scope scope = tern_scope_open();
            assert_int_equal(tern_set_num_threads(counts[i]), TERN_OK);
            uint64_t hash = run();
            first = i ? first : hash;
            if (hash != first)
                fail_msg("%s: %d threads give other bits than 1", instruction_set_name(set),
                         counts[i]);
            tern_scope_close(scope);
        }
    }
}

static uint64_t hash_all(tern_tensor *const *results, int count)
{
    uint64_t hash = NO_BITS;
    for (int i = 0; i < count; i++)
        hash = bits_of(results[i], hash);
    return hash;
}
#define HASH(...)                                                                                  \
    hash_all((tern_tensor *const[]){__VA_ARGS__},                                                  \
             (int)(sizeof((tern_tensor *const[]){__VA_ARGS__}) / sizeof(tern_tensor *)))

static tern_tensor *numbers(int64_t rows, int64_t cols)
{
    tern_manual_seed(7);
    return tern_randn(tern_dims(rows, cols));
}

static uint64_t elementwise(void)
{
    tern_tensor *x = numbers(700, 513);
    tern_tensor *half = tern_to_dtype(x, TERN_FLOAT16);
    return HASH(tern_gelu(x), tern_add(tern_transpose(x, 0, 1), tern_transpose(x, 0, 1)),
                tern_exp(half), tern_pow_scalar(tern_abs(x), 1.5));
}

static uint64_t reductions(void)
{
    tern_tensor *x = numbers(1001, 517);
    return HASH(tern_sum(x, TERN_ALL_AXES, false), tern_sum(x, tern_axes(0), false),
                tern_mean(x, tern_axes(1), false), tern_var(x, TERN_ALL_AXES, 1, false),
                tern_norm(x, 3, tern_axes(0), false), tern_amax(x, tern_axes(1), false),
                tern_argmax(x, 0, false), tern_cumsum(x, 1));
}

static uint64_t orders(void)
{
    tern_tensor *x = numbers(2, 140000), *places = NULL, *best = NULL;
    tern_tensor *sorted = tern_sort(x, 1, false, &places),
                *first = tern_topk(x, 900, 1, true, &best);
    return HASH(sorted, places, first, best, tern_argsort(numbers(300, 700), 0, true));
}

static uint64_t products(void)
{
    tern_tensor *x = numbers(301, 1103);
    tern_tensor *w = tern_transpose(numbers(257, 1103), 0, 1);
    return HASH(tern_matmul(x, w), tern_matmul(tern_transpose(x, 0, 1), x),
                tern_matmul(tern_to_dtype(x, TERN_FLOAT64), tern_to_dtype(w, TERN_FLOAT64)));
}

static uint64_t softmaxes_and_losses(void)
{
    tern_tensor *x = numbers(3001, 129);
    tern_tensor *labels = tern_randint(0, 129, tern_dims(3001));
    return HASH(tern_softmax(x, 1), tern_log_softmax(x, 0), tern_cross_entropy(x, labels),
                tern_mse_loss(x, tern_mul_scalar(x, 0.5), TERN_REDUCTION_MEAN),
                tern_dropout(x, 0.3, true));
}

// With gradients; bands of rows, several images at a time, groups, and parts of the batch.
static uint64_t convolutions(void)
{
    static const struct {
        int64_t batch, channels, size, filters, kernel, stride, groups;
    } layers[] = {{5, 20, 31, 40, 3, 1, 1},
                  {19, 1, 28, 9, 5, 1, 1},
                  {3, 48, 20, 48, 3, 2, 48},
                  {40, 24, 6, 33, 3, 1, 3},
                  {2, 100, 17, 70, 1, 1, 1}};
    uint64_t hash = NO_BITS;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const int64_t n = layers[i].batch, c = layers[i].channels, size = layers[i].size;
        const int64_t k = layers[i].filters, kernel = layers[i].kernel, groups = layers[i].groups;
        tern_tensor *x = tern_reshape(numbers(n * c, size * size), tern_dims(n, c, size, size));
        tern_tensor *w = tern_reshape(numbers(k, c / groups * kernel * kernel),
                                      tern_dims(k, c / groups, kernel, kernel));
        tern_set_requires_grad(x, true);
        tern_set_requires_grad(w, true);
        tern_tensor *y = tern_conv2d(x, w, NULL, .stride = layers[i].stride, .padding = kernel / 2,
                                     .groups = groups);
        assert_int_equal(tern_backward(tern_sum_all(tern_mul(y, y))), TERN_OK);
        tern_tensor *const results[] = {y, tern_grad(x), tern_grad(w)};
        hash = hash * 31 + hash_all(results, 3);
    }
    return hash;
}

static void convolutions_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(convolutions);
}

static uint64_t copies(void)
{
    tern_tensor *x = numbers(601, 317), *turned = tern_transpose(x, 0, 1);
    tern_tensor *shares = tern_softmax(numbers(601, 317), 1);
    tern_tensor *parts[] = {x, tern_transpose(tern_contiguous(turned), 0, 1)};
    return HASH(tern_contiguous(turned), tern_to_dtype(turned, TERN_BFLOAT16), tern_clone(turned),
                tern_to_dtype(x, TERN_FLOAT64), tern_to_dtype(x, TERN_INT64), tern_cat(parts, 2, 1),
                tern_stack(parts, 2, 0), tern_one_hot(tern_randint(0, 97, tern_dims(2003)), 97),
                tern_cross_entropy(x, shares, .label_smoothing = 0.1));
}

static void copies_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(copies);
}

static void elementwise_operations_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(elementwise);
}

static void reductions_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(reductions);
}

static void orders_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(orders);
}

static void products_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(products);
}

static void softmaxes_and_losses_give_the_same_bits(void **state)
{
    (void)state;
    assert_same_bits(softmaxes_and_losses);
}

// ---- every operation ---------------------------------------------------------------------------

enum { ENOUGH = 1 << 16 }; // elements that every kernel cuts

static const setup *largest_setup(const op_case *c)
{
    int best = 0;
    for (int k = 1; k < c->setup_count; k++)
        if (tern_shape_numel(c->setups[k].in[0]) >= tern_shape_numel(c->setups[best].in[0]))
            best = k;
    return &c->setups[best];
}

// Shape operations take their sizes from the setup too, which then stay as they are.
static setup large_setup(const op_case *c)
{
    const setup *s = largest_setup(c);
    setup large = *s;
    for (int factor = 2; factor <= 8 && c->move == NULL && s->shape.rank == 0 &&
                         tern_shape_numel(large.in[0]) < ENOUGH;
         factor++)
        large = enlarged_setup(c, s, factor);
    return large;
}

static int cases_run, cases_cut;

static void case_has_the_same_bits(const op_case *c, tern_dtype dtype)
{
    const setup s = large_setup(c);
    array in[MAX_IN] = {{0}};
    uint64_t first = 0;
    long long before = atomic_load(&cut_regions);
    random_seed(3);
    make_inputs(c, &s, dtype, false, in);
    for (size_t i = 0; i < COUNTS; i += dtype == TERN_FLOAT64 ? COUNTS - 1 : 1) {
        assert_int_equal(tern_set_num_threads(counts[i]), TERN_OK);
        uint64_t bits = case_bits(c, &s, dtype, in, false);
        first = i ? first : bits;
        if (bits != first)
            fail_msg("%s: %d threads give other bits than 1", name_of_run(c, 0, dtype, 0).text,
                     counts[i]);
    }
    cases_run++;
    cases_cut += atomic_load(&cut_regions) > before;
    if (getenv("TERN_TEST_SHOW") && atomic_load(&cut_regions) == before)
        print_message("not cut: %s\n", name_of_run(c, 0, dtype, 0).text);
    for (int i = 0; i < MAX_IN; i++)
        array_free(&in[i]);
}

// Sums of float64 too: rounding them to float32 may hide that they were cut in another way.
static void case_gives_the_same_bits(const op_case *c)
{
    case_has_the_same_bits(c, c->dtypes & F32 ? TERN_FLOAT32 : TERN_INT64);
    if (c->dtypes & F64 && (c->fold || c->along || c->inputs > 1) && !c->move)
        case_has_the_same_bits(c, TERN_FLOAT64);
}

static void every_operation_of_the_headers_gives_the_same_bits(void **state)
{
    (void)state;
    check_manifest(include_dir);
    cases_run = cases_cut = 0;
    each_case(case_gives_the_same_bits);
    print_message("%d cases, %d of them cut into pieces\n", cases_run, cases_cut);
    assert_true(cases_cut > 180);
}

// ---- training ----------------------------------------------------------------------------------

static const run_size large_run = {
    .batch = 260, .in = 300, .hidden = 350, .classes = 11, .steps = 2};

// Each optimizer with a loss, each loss with an optimizer.
static uint64_t trainings(void)
{
    uint64_t hash = NO_BITS;
    for (int i = 0; i < run_optimizers() || i < run_losses(); i++)
        hash = hash * 31 + run_bits(i % run_optimizers(), i % run_losses(), large_run);
    return hash;
}

static void training_gives_the_same_bits(void **state)
{
    (void)state;
    check_runs_are_complete(include_dir);
    assert_same_bits(trainings);
}

// ---- a busy pool -------------------------------------------------------------------------------

static atomic_bool stop;

static void linger(void *context, int64_t index)
{
    (void)context;
    for (volatile int i = 0; i < 20000 + (int)index; i++)
        ;
}

static void *keep_the_pool_busy(void *unused)
{
    while (!atomic_load(&stop))
        __real_tern_pool_run(4, linger, NULL);
    return unused;
}

static uint64_t something_of_everything(void)
{
    return elementwise() ^ reductions() ^ products() ^ softmaxes_and_losses() ^
           run_bits(2, 0, large_run);
}

static void a_busy_pool_changes_no_bit(void **state)
{
    (void)state;
    pthread_t other;
    assert_int_equal(tern_set_num_threads(3), TERN_OK);
    tern_scope scope = tern_scope_open();
    uint64_t alone = something_of_everything();
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&other, NULL, keep_the_pool_busy, NULL), 0);
    uint64_t beside = something_of_everything();
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    tern_scope_close(scope);
    assert_true(alone == beside);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise_operations_give_the_same_bits),
        cmocka_unit_test(reductions_give_the_same_bits),
        cmocka_unit_test(orders_give_the_same_bits),
        cmocka_unit_test(products_give_the_same_bits),
        cmocka_unit_test(softmaxes_and_losses_give_the_same_bits),
        cmocka_unit_test(convolutions_give_the_same_bits),
        cmocka_unit_test(copies_give_the_same_bits),
        cmocka_unit_test(every_operation_of_the_headers_gives_the_same_bits),
        cmocka_unit_test(training_gives_the_same_bits),
        cmocka_unit_test(a_busy_pool_changes_no_bit),
    };
    include_dir = argc > 1 ? argv[1] : "include";
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tern_shutdown();
    return failed;
}
