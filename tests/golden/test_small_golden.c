// SPDX-License-Identifier: Apache-2.0
// What needs no data set: the start of the MLP run, and a small net with every optimizer, against
// what make_mlp.py stored.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "golden/golden_optim.h"
#include "golden/golden_small.h"
#include "golden/golden_test.h"

// ---- the start of the MLP run -------------------------------------------------------------------

static void initial_weights_have_pytorchs_bits(void **state)
{
    (void)state;
    tern_manual_seed(0);
    tern_module *net = make_mlp();
    assert_int_equal(tern_module_num_parameters(net), 6);
    for (int i = 0; i < 6; i++) {
        const golden_case *c = &golden_read("mlp")->cases[i];
        char name[TERN_NAME_SIZE];
        double sizes[2];
        tern_tensor *p = tern_module_parameter_at(net, i, name, sizeof name);
        assert_string_equal(name, golden_text(c, "name"));
        assert_int_equal(tern_rank(p), golden_numbers(c, "shape", sizes, 2));
        for (int d = 0; d < tern_rank(p); d++)
            assert_int_equal(tern_size(p, d), (int64_t)sizes[d]);
        const float *values = tern_data(p);
        assert_memory_equal(values, golden_values(c, "first", TERN_FLOAT32, 4), 16);
        assert_memory_equal(values + tern_numel(p) - 4, golden_values(c, "last", TERN_FLOAT32, 4),
                            16);
        assert_hash(c, "hash", values, 4 * (size_t)tern_numel(p));
    }
    tern_module_free(net);
}

static void sixty_thousand_samples_come_in_pytorchs_order(void **state)
{
    (void)state;
    enum { SAMPLES = 60000 };
    static int64_t order[SAMPLES];
    const golden_case *c = golden_find("mlp", "order");
    tern_manual_seed(0);
    tern_module *net = make_mlp();
    tern_scope scope = tern_scope_open();
    tern_dataset *numbers = tern_data_tensors(tern_arange(0, SAMPLES, 1));
    tern_loader *loader = tern_loader_new(numbers, .batch_size = 64, .shuffle = true);
    for (int epoch = 0; epoch < 2; epoch++) {
        tern_batch b;
        int64_t count = 0;
        for (; tern_loader_next(loader, &b); count += b.size)
            memcpy(order + count, tern_data(b.x), (size_t)b.size * sizeof *order);
        assert_int_equal(count, SAMPLES);
        assert_hash(c, epoch == 0 ? "hash0" : "hash1", order, sizeof order);
        if (epoch == 0)
            assert_memory_equal(order, golden_values(c, "first", TERN_INT64, 256), 256 * 8);
    }
    tern_loader_free(loader);
    tern_dataset_free(numbers);
    tern_scope_close(scope);
    tern_module_free(net);
}

// ---- the small net ------------------------------------------------------------------------------

static const char *const parameter_names[] = {"0.weight", "0.bias", "2.weight", "2.bias"};

static tern_module *make_small(const golden_small_case *c)
{
    tern_manual_seed(0);
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
    float first[SMALL_ELEMENTS];
    size_t at = 0;
    for (int i = 0; i < COUNT(parameter_names); i++) {
        tern_tensor *p = tern_module_parameter(net, parameter_names[i]);
        memcpy(first + at, tern_data(p), 4 * (size_t)tern_numel(p));
        at += (size_t)tern_numel(p);
    }
    assert_int_equal(at, SMALL_ELEMENTS);
    assert_memory_equal(first, c->start, sizeof first);
    return tern_module_to_dtype(net, TERN_FLOAT64);
}

// randn is PyTorch's within 2e-6; the stored bits leave no such difference in the losses.
static tern_tensor *make_input(const golden_small_case *c)
{
    tern_tensor *drawn = tern_randn(tern_dims(6, 4));
    for (int i = 0; i < 24; i++)
        assert_near("randn", i, ((float *)tern_data(drawn))[i], (double)c->x[i], 2e-6, 0);
    return tern_to_dtype(tern_from_data(tern_dims(6, 4), c->x), TERN_FLOAT64);
}

static tern_module *make_loss(const golden_small_case *c)
{
    tern_tensor *weight = tern_from_data(tern_dims(3), c->weight, .dtype = TERN_FLOAT64);
    return tern_nn_cross_entropy_loss(.weight = c->weighted ? weight : NULL,
                                      .label_smoothing = 0.1);
}

// Over the net or, with two groups, over its two layers.
static tern_optim *make_optimizer(const golden_small_case *c, tern_module *net)
{
    tern_tensor *params[COUNT(parameter_names)];
    for (int i = 0; i < COUNT(parameter_names); i++)
        params[i] = tern_module_parameter(net, parameter_names[i]);
    tern_optim *optim = golden_optim(c->stored, params, c->group_count == 2 ? 2 : 4);
    if (c->group_count == 2) {
        assert_int_equal(tern_optim_add_group(optim, tern_module_child(net, "2")), TERN_OK);
        golden_set_options(c->stored, optim, 1);
    }
    return optim;
}

static void clip(const golden_small_case *c, int step, tern_module *net)
{
    if (strcmp(c->clip, "norm") == 0) {
        tern_tensor *norm = tern_clip_grad_norm(net, c->clip_at, .norm_type = c->norm_type);
        assert_near("norm", step, tern_item(norm), c->norms[step], 1e-12, 1e-9);
    } else if (strcmp(c->clip, "value") == 0) {
        assert_int_equal(tern_clip_grad_value(net, c->clip_at), TERN_OK);
    }
}

static void train(const golden_small_case *c, tern_module *net, tern_optim *optim,
                  tern_module *criterion, tern_tensor *x, tern_tensor *y)
{
    for (int step = 0; step < SMALL_STEPS; step++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
        tern_optim_zero_grad(optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        clip(c, step, net);
        assert_int_equal(tern_optim_step(optim), TERN_OK);
        assert_near("loss", step, tern_item(loss), c->losses[step], 1e-12, 1e-9);
        tern_scope_close(scope);
    }
}

static void check_final(const golden_small_case *c, tern_module *net)
{
    int at = 0;
    for (int i = 0; i < COUNT(parameter_names); i++) {
        tern_tensor *p = tern_module_parameter(net, parameter_names[i]);
        for (int64_t k = 0; k < tern_numel(p); k++, at++)
            assert_near(parameter_names[i], k, ((double *)tern_data(p))[k], c->final[at], 1e-12,
                        1e-9);
    }
    assert_int_equal(at, SMALL_ELEMENTS);
}

static void thirty_steps_of_a_small_net_are_pytorchs(void **state)
{
    const golden_small_case *c = *state;
    if (!golden_has_optim(c->stored)) {
        print_message("there is no %s yet\n", golden_text(c->stored, "optimizer"));
        skip();
    }
    tern_scope scope = tern_scope_open();
    tern_module *net = make_small(c);
    tern_tensor *x = make_input(c);
    tern_tensor *y = tern_from_data(tern_dims(6), c->target, .dtype = TERN_INT64);
    tern_module *criterion = make_loss(c);
    tern_optim *optim = make_optimizer(c, net);
    assert_fine();
    train(c, net, optim, criterion, x, y);
    check_final(c, net);
    assert_fine();
    tern_optim_free(optim);
    tern_module_free(criterion);
    tern_module_free(net);
    tern_scope_close(scope);
}

static int end_group(void **state)
{
    (void)state;
    tern_shutdown();
    return tern_memory_live_bytes() != 0;
}

#define MOST_RUNS 100

int main(void)
{
    static char names[MOST_RUNS][160];
    static golden_small_case runs[MOST_RUNS];
    const int count = golden_small_count();
    if (count > MOST_RUNS) {
        fprintf(stderr, "%d runs are more than MOST_RUNS\n", count);
        return 1;
    }
    struct CMUnitTest tests[2 + MOST_RUNS] = {
        cmocka_unit_test_setup_teardown(initial_weights_have_pytorchs_bits, start, leaves_nothing),
        cmocka_unit_test_setup_teardown(sixty_thousand_samples_come_in_pytorchs_order, start,
                                        leaves_nothing),
    };
    for (int i = 0; i < count; i++) {
        runs[i] = golden_small(i);
        snprintf(names[i], sizeof names[0], "thirty_steps_of_a_small_net_are_pytorchs: %s",
                 runs[i].stored->name);
        tests[2 + i] = (struct CMUnitTest){names[i], thirty_steps_of_a_small_net_are_pytorchs,
                                           start, leaves_nothing, &runs[i]};
    }
    return _cmocka_run_group_tests("small net", tests, 2 + (size_t)count, NULL, end_group);
}
