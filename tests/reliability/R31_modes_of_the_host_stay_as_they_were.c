// SPDX-License-Identifier: Apache-2.0
// What the host has set in its thread is the same after a call as before: every call of a whole
// training here, every public function in the suites errors and conformance. And what it has set
// counts for every thread that computes, so the number of threads changes no bit.
#include <unistd.h>

#include "support/check.h"
#include "support/host.h"
#include "training.h"

#define SEED 5

static int calls;

// Makes one call, with what the host has set looked at before and after.
#define KEPT(call)                                                                                 \
    do {                                                                                           \
        host_state host_ = host_before();                                                          \
        call;                                                                                      \
        const char *changed_ = host_difference(&host_);                                            \
        if (changed_)                                                                              \
            fail_msg("%s changed %s", #call, changed_);                                            \
        calls++;                                                                                   \
    } while (0)

// ---- a whole training ---------------------------------------------------------------------------

static void train_one_epoch(training *t)
{
    tern_batch b;
    for (;;) {
        bool more;
        tern_tensor *y, *loss, *norm;
        tern_status status;
        KEPT(more = tern_loader_next(t->loader, &b));
        if (!more)
            break;
        KEPT(y = tern_forward(t->net, b.x));
        KEPT(loss = tern_loss(t->criterion, y, b.y));
        KEPT(tern_optim_zero_grad(t->optim));
        KEPT(status = tern_backward(loss));
        assert_int_equal(status, TERN_OK);
        KEPT(norm = tern_clip_grad_norm(t->net, 1));
        KEPT(status = tern_optim_step(t->optim));
        assert_int_equal(status, TERN_OK);
        assert_non_null(norm);
    }
    assert_no_error();
}

static void evaluate(training *t)
{
    tern_tensor *x, *best = NULL;
    tern_scope scope;
    KEPT(scope = tern_scope_open());
    KEPT(tern_module_eval(t->net));
    KEPT(x = tern_randn(tern_dims(7, 100), .generator = t->generator));
    tern_no_grad {
        KEPT(best = tern_argmax(tern_forward(t->net, x), 1, false));
    }
    KEPT((void)tern_item_int(tern_sum(best, TERN_ALL_AXES, false)));
    KEPT(tern_module_train(t->net, true));
    KEPT(tern_scope_close(scope));
}

// The first write to a stream is the one that may set errno: each gets a new one.
static void print_everything(training *t)
{
    tern_status status;
    FILE *summary = fopen("/dev/null", "w"), *values = fopen("/dev/null", "w");
    FILE *error = fopen("/dev/null", "w");
    assert_true(summary && values && error);
    KEPT(status = tern_module_summary_print(t->net, tern_dims(2, 100), summary));
    assert_int_equal(status, TERN_OK);
    KEPT(status = tern_print(tern_module_parameter_at(t->net, 0, NULL, 0), values));
    assert_int_equal(status, TERN_OK);
    KEPT((void)tern_idx_read("/nowhere"));
    KEPT((void)tern_error_print(error));
    fclose(summary);
    fclose(values);
    fclose(error);
}

static void train(void)
{
    training t;
    bool made;
    KEPT(made = training_make(&t, SEED));
    assert_true(made);
    train_one_epoch(&t);
    evaluate(&t);
    print_everything(&t);
    KEPT(training_free(&t));
    KEPT(tern_shutdown());
}

static void a_whole_training_changes_nothing(void **state)
{
    (void)state;
    train();
}

// ---- in other modes -----------------------------------------------------------------------------

static const int roundings[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
#define ROUNDINGS (sizeof roundings / sizeof *roundings)

static void a_whole_training_changes_nothing_in_any_rounding_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROUNDINGS; i++) {
        fesetround(roundings[i]);
        train();
        assert_int_equal(fegetround(), roundings[i]);
        fesetround(FE_TONEAREST);
    }
}

static void a_whole_training_changes_nothing_where_subnormals_are_flushed(void **state)
{
    (void)state;
    host_flush(1);
    train();
    host_flush(0);
}

// The hash of a training on so many threads.
static uint64_t bits_on(int threads)
{
    assert_int_equal(tern_set_num_threads(threads), TERN_OK);
    uint64_t hash = training_run(SEED);
    assert_true(hash != 0);
    return hash;
}

// The workers were started in another mode than they are used in.
static void thread_counts_change_no_bit_in_any_rounding_mode(void **state)
{
    (void)state;
    uint64_t nearest = bits_on(1);
    for (size_t i = 0; i < ROUNDINGS; i++) {
        assert_true(bits_on(3) == nearest);
        fesetround(roundings[i]);
        uint64_t together = training_run(SEED);
        uint64_t alone = bits_on(1);
        fesetround(FE_TONEAREST);
        assert_true(together == alone);
        assert_true(alone != nearest); // the mode is the host's to set
    }
    assert_true(bits_on(8) == nearest);
}

#define MANY (1 << 21)

// How many of many subnormal numbers are not 0 after a multiplication by 1.
static double survivors(tern_tensor *subnormals)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_mul_scalar(subnormals, 1);
    assert_no_error();
    unsigned char bytes[4];
    double count = 0;
    for (int64_t i = 0; i < MANY; i += 64) { // bits: a comparison of numbers would flush, too
        memcpy(bytes, (const char *)tern_data(x) + i * 4, 4);
        count += bytes[0] || bytes[1] || bytes[2];
    }
    tern_scope_close(scope);
    return count;
}

static void subnormals_are_flushed_on_every_thread_or_on_none(void **state)
{
    (void)state;
    if (!HOST_FLUSH_IS_KNOWN) {
        print_message("how this processor flushes subnormals is not known here\n");
        skip();
    }
    assert_int_equal(tern_set_num_threads(4), TERN_OK);
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_full(tern_dims(MANY), 0x1p-130);
    for (int i = 0; i < 3; i++) {
        assert_float_equal(survivors(x), MANY / 64, 0);
        host_flush(1);
        double left = survivors(x);
        host_flush(0);
        assert_float_equal(left, 0, 0);
    }
    tern_scope_close(scope);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_training_changes_nothing),
        cmocka_unit_test(a_whole_training_changes_nothing_in_any_rounding_mode),
        cmocka_unit_test(a_whole_training_changes_nothing_where_subnormals_are_flushed),
        cmocka_unit_test(thread_counts_change_no_bit_in_any_rounding_mode),
        cmocka_unit_test(subnormals_are_flushed_on_every_thread_or_on_none),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    print_message("%d calls were looked at\n", calls);
    tern_shutdown();
    return failed;
}
