// SPDX-License-Identifier: Apache-2.0
// What needs no data set: the start of the MLP run, and a small net with every optimizer, against
// what make_mlp.py stored.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "golden_optim.h"
#include "golden_small.h"
#include "golden_test.h"
#include "support/state_check.h"

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

static tern_module *make_net(uint64_t seed)
{
    tern_manual_seed(seed);
    return tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
}

static tern_module *make_small(const golden_small_case *c)
{
    tern_module *net = make_net(0);
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

// Over the net or, with two groups, over its two layers; its numbers are the defaults.
static tern_optim *make_optimizer(const golden_small_case *c, tern_module *net)
{
    tern_tensor *params[COUNT(parameter_names)];
    for (int i = 0; i < COUNT(parameter_names); i++)
        params[i] = tern_module_parameter(net, parameter_names[i]);
    tern_optim *optim = golden_make_optim(c->stored, params, c->group_count == 2 ? 2 : 4);
    if (c->group_count == 2)
        assert_int_equal(tern_optim_add_group(optim, tern_module_child(net, "2")), TERN_OK);
    assert_fine();
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

typedef struct small_run {
    const golden_small_case *c;
    tern_tensor *x, *y;
    tern_module *criterion, *net;
    tern_optim *optim;
} small_run;

static small_run begin(const golden_small_case *c)
{
    small_run r = {.c = c, .net = make_small(c)};
    r.x = make_input(c); // drawn after the net
    r.y = tern_from_data(tern_dims(6), c->target, .dtype = TERN_INT64);
    r.criterion = make_loss(c);
    r.optim = make_optimizer(c, r.net);
    for (int group = 0; group < c->group_count; group++)
        golden_set_options(c->stored, r.optim, group);
    assert_fine();
    return r;
}

static void end(small_run *r)
{
    assert_fine();
    tern_optim_free(r->optim);
    tern_module_free(r->criterion);
    tern_module_free(r->net);
}

// Steps `first` to `last` - 1.
static void train(const small_run *r, int first, int last)
{
    for (int step = first; step < last; step++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_loss(r->criterion, tern_forward(r->net, r->x), r->y);
        tern_optim_zero_grad(r->optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        clip(r->c, step, r->net);
        if (r->c->skips && step % 3 == 2)
            tern_zero_grad(tern_module_parameter(r->net, "0.bias"));
        assert_int_equal(tern_optim_step(r->optim), TERN_OK);
        assert_near("loss", step, tern_item(loss), r->c->losses[step], 1e-12, 1e-9);
        tern_scope_close(scope);
        if (step % 10 == 9)
            assert_int_equal(tern_optim_eval(r->optim), TERN_OK);
        if (step % 10 == 9 && step + 1 < SMALL_STEPS)
            assert_int_equal(tern_optim_train(r->optim), TERN_OK);
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

static void skip_without(const golden_small_case *c)
{
    if (golden_has_optim(c->stored))
        return;
    print_message("there is no %s yet\n", golden_text(c->stored, "optimizer"));
    skip();
}

static void thirty_steps_of_a_small_net_are_pytorchs(void **state)
{
    const golden_small_case *c = *state;
    skip_without(c);
    tern_scope scope = tern_scope_open();
    small_run r = begin(c);
    train(&r, 0, SMALL_STEPS);
    check_final(c, r.net);
    end(&r);
    tern_scope_close(scope);
}

// ---- interrupted --------------------------------------------------------------------------------

static tern_status visit_run(void *object, tern_state_visitor *visitor)
{
    const small_run *r = object;
    if (tern_visit_module(visitor, "net", r->net))
        return tern_error_code();
    return tern_visit_optim(visitor, "optim", r->optim);
}

// Numbers of the new optimizer are the defaults until it is loaded, its parameters others.
static void an_interrupted_run_ends_with_the_bits_of_the_whole(void **state)
{
    enum { BEFORE = 7 };
    const golden_small_case *c = *state;
    skip_without(c);
    tern_scope scope = tern_scope_open();
    small_run whole = begin(c), resumed = whole;
    train(&whole, 0, BEFORE);
    tern_state *own = tern_state_of(visit_run, &whole), *saved = tern_state_copy(own);
    train(&whole, BEFORE, SMALL_STEPS);
    tern_state *expected = tern_state_of(visit_run, &whole);
    resumed.net = tern_module_to_dtype(make_net(99), TERN_FLOAT64);
    resumed.optim = make_optimizer(c, resumed.net);
    resumed.criterion = make_loss(c);
    assert_int_equal(tern_state_load(saved, visit_run, &resumed), TERN_OK);
    train(&resumed, BEFORE, SMALL_STEPS);
    tern_state *found = tern_state_of(visit_run, &resumed);
    check_states(found, expected, true);
    tern_state_free(own);
    tern_state_free(saved);
    tern_state_free(expected);
    tern_state_free(found);
    end(&whole);
    end(&resumed);
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
    static const struct {
        const char *name;
        CMUnitTestFunction test;
    } of_each[] = {
        {"thirty_steps_of_a_small_net_are_pytorchs", thirty_steps_of_a_small_net_are_pytorchs},
        {"an_interrupted_run_ends_with_the_bits_of_the_whole",
         an_interrupted_run_ends_with_the_bits_of_the_whole},
    };
    static char names[2 * MOST_RUNS][160];
    static golden_small_case runs[MOST_RUNS];
    const int count = golden_small_count();
    if (count > MOST_RUNS) {
        fprintf(stderr, "%d runs are more than MOST_RUNS\n", count);
        return 1;
    }
    struct CMUnitTest tests[2 + 2 * MOST_RUNS] = {
        cmocka_unit_test_setup_teardown(initial_weights_have_pytorchs_bits, start, leaves_nothing),
        cmocka_unit_test_setup_teardown(sixty_thousand_samples_come_in_pytorchs_order, start,
                                        leaves_nothing),
    };
    for (int i = 0; i < 2 * count; i++) {
        golden_small_case *c = &runs[i / 2];
        *c = golden_small(i / 2);
        snprintf(names[i], sizeof names[0], "%s: %s", of_each[i % 2].name, c->stored->name);
        tests[2 + i] = (struct CMUnitTest){names[i], of_each[i % 2].test, start, leaves_nothing, c};
    }
    return _cmocka_run_group_tests("small net", tests, 2 + 2 * (size_t)count, NULL, end_group);
}
