// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/errors.md, and the sentences that it quotes.
#include <stdlib.h>
#include "check.h"

static tern_module *mlp(void)
{
    return tern_nn_sequential(tern_nn_flatten(), tern_nn_linear(784, 512), tern_nn_relu(),
                              tern_nn_linear(512, 10));
}

// [step]
static tern_status train_step(tern_module *net, tern_module *criterion, tern_optim *opt,
                              tern_tensor *x, tern_tensor *y)
{
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
    tern_optim_zero_grad(opt);
    if (tern_backward(loss) || tern_optim_step(opt))
        return tern_error_code(); // one check for all of it
    return TERN_OK;
}
// [/step]

static void a_wrong_width(void)
{
    tern_module *net = mlp(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *y = tern_zeros(tern_dims(64), .dtype = TERN_INT64);
    expect(train_step(net, criterion, opt, tern_zeros(tern_dims(64, 784)), y) == TERN_OK);
    expect(train_step(net, criterion, opt, tern_zeros(tern_dims(64, 100)), y) == TERN_ERR_SHAPE);
    expect_error(TERN_ERR_SHAPE);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
}

static void quietly(void)
{
    // [quiet]
    tern_tensor *a = tern_zeros(tern_dims(2, 3)), *b = tern_zeros(tern_dims(4, 5));
    tern_tensor *product = tern_matmul(a, b);     // fails: NULL, and an error is pending
    tern_tensor *y = tern_exp(tern_neg(product)); // NULL in, NULL out; the error stays the first
    // [/quiet]
    expect(!product && !y);
    expect_error(TERN_ERR_SHAPE);
    // [null]
    y = tern_neg(NULL); // nothing is pending: this is the mistake
    // [/null]
    expect(!y);
    expect_error(TERN_ERR_NULL);
}

static void a_label_out_of_range(void)
{
    tern_module *net = mlp(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_tensor *x = tern_zeros(tern_dims(64, 784));
    // [label]
    tern_tensor *y = tern_full(tern_dims(64), 10, .dtype = TERN_INT64); // classes are 0 to 9
    tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);  // NULL
    // [/label]
    expect(!loss);
    expect_error(TERN_ERR_INDEX);
    y = tern_zeros_like(y);
    expect(!tern_loss(criterion, tern_forward(net, x), y));
    expect_error(TERN_ERR_STATE);
    // [mended]
    tern_optim_zero_grad(opt);
    loss = tern_loss(criterion, tern_forward(net, x), y); // with good labels: works
    // [/mended]
    expect(loss != NULL);
    tern_optim_free(opt);
    tern_module_free(criterion);
    tern_module_free(net);
}

// [log]
static void to_file(tern_log_level level, const char *line, void *user)
{
    const char *kind = level == TERN_LOG_ERROR         ? "error"
                       : level == TERN_LOG_LATER_ERROR ? "later"
                                                       : "note";
    fprintf(user, "%s: %s\n", kind, line);
}
// [/log]

static void the_log(void)
{
    // [set_log]
    tern_set_log(to_file, stdout);
    // [/set_log]
    tern_tensor *x = tern_zeros(tern_dims(2, 3));
    expect(!tern_reshape(x, tern_dims(4)));
    expect(!tern_select(x, 0, 2));
    tern_set_log(NULL, NULL);
    expect_error(TERN_ERR_SHAPE);
}

// [own]
// The mean of a table's columns (N, D) -> (D), for tables that have rows.
static tern_tensor *column_means(tern_tensor *table)
{
    if (tern_rank(table) != 2 || tern_size(table, 0) == 0) {
        tern_error_raise(TERN_ERR_SHAPE, "column_means: the table has no rows");
        return NULL;
    }
    return tern_mean(table, tern_axes(0), false);
}
// [/own]

static void errors_of_ones_own(void)
{
    expect(!column_means(tern_zeros(tern_dims(0, 3))));
    expect_error(TERN_ERR_SHAPE);
    expect(!column_means(NULL)); // tern_rank has left its error, which stays
    expect_error(TERN_ERR_NULL);
}

// [finite]
// A forward hook: fails at the first module whose output is not finite.
static tern_status check_finite(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                void *user)
{
    (void)module, (void)in, (void)user;
    for (int i = 0; i < out->count; i++) {
        tern_tensor *all = tern_all(tern_isfinite(out->at[i]), TERN_ALL_AXES, false);
        if (!tern_item_int(all))
            return tern_error_raise(TERN_ERR_NUMERIC, "output %d is not finite", i);
    }
    return TERN_OK;
}

static tern_status watch(const char *name, tern_module *module, void *user)
{
    (void)name, (void)user;
    return tern_module_add_forward_hook(module, check_finite, NULL) ? TERN_OK : tern_error_code();
}
// [/finite]

static void not_finite(void)
{
    tern_module *net = mlp();
    // [watch]
    if (tern_module_apply(net, watch, NULL))
        tern_error_print(stderr);
    // [/watch]
    expect(tern_forward(net, tern_zeros(tern_dims(2, 784))) != NULL);
    tern_no_grad {
        tern_fill_(tern_module_parameter(net, "3.bias"), INFINITY);
    }
    expect(!tern_forward(net, tern_zeros(tern_dims(2, 784))));
    expect_error(TERN_ERR_NUMERIC);
    tern_module_free(net);
}

static void in_a_test(void)
{
    // [test]
    tern_tensor *bad =
        tern_mse_loss(tern_zeros(tern_dims(4)), tern_zeros(tern_dims(4, 1)), TERN_REDUCTION_MEAN);
    char sentence[600];
    tern_status code = tern_error_take(sentence, sizeof sentence);
    assert(bad == NULL && code == TERN_ERR_SHAPE);
    assert(strstr(sentence, "(4, 1)") != NULL); // what a reader needs, not the whole sentence
    // [/test]
    expect(!tern_error_pending());
}

// One sentence for each code.
static void each_code(void)
{
    tern_module *net = tern_nn_linear(2, 2, .device = tern_cpu(1));
    expect(!tern_nn_dropout(1.5));
    expect_error(TERN_ERR_ARG);
    expect(!tern_mean(tern_arange(0, 3, 1), TERN_ALL_AXES, false));
    expect_error(TERN_ERR_DTYPE);
    expect(!tern_forward(net, tern_zeros(tern_dims(1, 2))));
    expect_error(TERN_ERR_DEVICE);
    expect(!tern_select(tern_zeros(tern_dims(3)), 0, 3));
    expect_error(TERN_ERR_INDEX);
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    expect(!tern_zero_(w));
    expect_error(TERN_ERR_STATE);
    expect(!tern_empty(tern_dims(1 << 20, 1 << 20)));
    expect_error(TERN_ERR_NOMEM);
    expect(!tern_idx_read("missing-idx3-ubyte"));
    expect_error(TERN_ERR_IO);
    char bytes[4096] = "nothing";
    expect(tern_generator_load(tern_default_generator(tern_cpu(0)), bytes,
                               tern_generator_state_size()));
    expect_error(TERN_ERR_FORMAT);
    expect(!tern_backward(tern_sum(tern_mul_scalar(w, INFINITY), TERN_ALL_AXES, false)));
    expect(!tern_clip_grad_norm(NULL, 1, .params = &w, .param_count = 1));
    expect_error(TERN_ERR_NUMERIC);
    tern_module_free(net);
}

// Refuses what no machine here has, under every setting of the system.
static void *take(size_t nbytes, size_t align, void *user)
{
    (void)user;
    return nbytes >> 40 ? NULL : aligned_alloc(align, (nbytes + align - 1) / align * align);
}

static void give(void *memory, size_t nbytes, void *user)
{
    (void)nbytes;
    (void)user;
    free(memory);
}

int main(void)
{
    expect(tern_set_allocator(&(tern_allocator){take, give, NULL}) == TERN_OK);
    void (*const pieces[])(void) = {
        a_wrong_width, quietly,   a_label_out_of_range, the_log, errors_of_ones_own, not_finite,
        in_a_test,     each_code,
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tern_scope scope = tern_scope_open();
        pieces[i]();
        tern_scope_close(scope);
    }
    return finished();
}
