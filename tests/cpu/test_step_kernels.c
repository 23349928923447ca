// SPDX-License-Identifier: Apache-2.0
// Optimizer steps, averages, norms and clipping over lists against the formulas in double, on every
// instruction set.
#include <float.h>

#include "kernel_check.h"

#define TENSORS 4
#define STEPS   3

static const int64_t sizes[TENSORS] = {1, 40000, 0, 513};
static float param[TENSORS][40000], grad[TENSORS][40000], state_of[3][TENSORS][40000];
static double p64[TENSORS][40000], s64[3][TENSORS][40000];
static float start[TENSORS][40000];

static void begin(void)
{
    memset(state_of, 0, sizeof state_of);
    memset(s64, 0, sizeof s64);
    for (int t = 0; t < TENSORS; t++) {
        for (int64_t i = 0; i < sizes[t]; i++) {
            param[t][i] = start[t][i];
            p64[t][i] = (double)start[t][i];
        }
    }
}

static void draw(float values[TENSORS][40000])
{
    for (int t = 0; t < TENSORS; t++)
        for (int64_t i = 0; i < sizes[t]; i++)
            values[t][i] = (float)random_value();
}

// What the kernels take of an optimizer's numbers, derived here anew.
typedef struct numbers {
    double at[TERN_STEP_NUMBERS];
} numbers;

#define PLACE(name) name,
#define STEP(...)
#include "device/step.def"

typedef struct sgd_options {
    double lr, momentum, dampening, weight_decay;
    bool nesterov, maximize;
} sgd_options;

static numbers sgd_numbers(const sgd_options *o, int64_t step)
{
    enum { TERN_STEP_SGD_MOMENTUM_NUMBERS(PLACE) };
    return (numbers){{[lr] = -o->lr,
                      [decay] = o->weight_decay,
                      [sign] = o->maximize ? -1 : 1,
                      [keep] = step == 1 ? 0 : o->momentum,
                      [take] = step == 1 ? 1 : 1 - o->dampening,
                      [momentum] = o->momentum,
                      [nesterov] = o->nesterov,
                      [tiny] = (double)FLT_MIN}};
}

static tern_step_code sgd_code(const sgd_options *o)
{
    return o->momentum != 0 ? TERN_STEP_SGD_MOMENTUM : TERN_STEP_SGD;
}

typedef struct adam_options {
    double lr, beta1, beta2, eps, weight_decay;
    bool decoupled, amsgrad, maximize;
} adam_options;

static numbers adam_numbers(const adam_options *o, int64_t step)
{
    enum { TERN_STEP_ADAM_NUMBERS(PLACE) };
    const double c1 = 1 - pow(o->beta1, (double)step), c2 = 1 - pow(o->beta2, (double)step);
    const double sign = o->maximize ? -1 : 1;
    return (numbers){{[beta1] = o->beta1,
                      [beta2] = o->beta2,
                      [take1] = sign * (1 - o->beta1),
                      [take2] = 1 - o->beta2,
                      [eps] = o->eps * sqrt(c2),
                      [decay] = o->decoupled ? 0 : sign * o->weight_decay,
                      [shrink] = o->decoupled ? 1 - o->lr * o->weight_decay : 1,
                      [step_size] = -o->lr * sqrt(c2) / c1,
                      [tiny] = o->eps > 0 ? (double)FLT_MIN : 0,
                      [tiny_grad] = o->eps > 0 ? sqrt((double)FLT_MIN / (1 - o->beta2)) : 0}};
}

static tern_step_code adam_code(const adam_options *o)
{
    return o->amsgrad ? TERN_STEP_AMSGRAD : TERN_STEP_ADAM;
}

static void list_of(tern_step_tensor *list, int states, numbers of)
{
    for (int t = 0; t < TENSORS; t++) {
        list[t] = (tern_step_tensor){
            .param = param[t], .grad = grad[t], .numel = sizes[t], .dtype = TERN_FLOAT32};
        memcpy(list[t].number, of.at, sizeof of.at);
        for (int k = 0; k < states; k++)
            list[t].state[k] = state_of[k][t];
    }
}

// Float32 rounds the parameter three times a step, the state more often.
static void check_params(const tern_kernels *kernels)
{
    for (int t = 0; t < TENSORS; t++)
        for (int64_t i = 0; i < sizes[t]; i++)
            assert_within(param[t][i], p64[t][i], 2e-6, kernels);
}

static void sgd_in_double(const sgd_options *o, int64_t step)
{
    for (int t = 0; t < TENSORS; t++) {
        for (int64_t i = 0; i < sizes[t]; i++) {
            double g = (double)grad[t][i] * (o->maximize ? -1 : 1) + o->weight_decay * p64[t][i];
            if (o->momentum != 0) {
                double *b = &s64[0][t][i];
                *b = step == 1 ? g : o->momentum * *b + (1 - o->dampening) * g;
                g = o->nesterov ? g + o->momentum * *b : *b;
            }
            p64[t][i] -= o->lr * g;
        }
    }
}

static void sgd_follows_its_formulas(void **state)
{
    (void)state;
    const sgd_options cases[] = {
        {.lr = 0.1},
        {.lr = 0.1, .weight_decay = 0.01, .maximize = true},
        {.lr = 0.1, .momentum = 0.9},
        {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01},
        {.lr = 0.1, .momentum = 0.9, .nesterov = true},
    };
    draw(start);
    for (int k = 0; k < 5; k++) {
        FOR_EACH_TABLE(kernels)
        {
            begin();
            for (int64_t step = 1; step <= STEPS; step++) {
                tern_step_tensor list[TENSORS];
                draw(grad);
                list_of(list, cases[k].momentum != 0, sgd_numbers(&cases[k], step));
                assert_int_equal(kernels->step(&kernel_exec, sgd_code(&cases[k]), list, TENSORS),
                                 0);
                sgd_in_double(&cases[k], step);
                check_params(kernels);
            }
        }
    }
}

// Momentum's memory may hold anything before its first step.
static void the_first_momentum_step_does_not_read_the_buffer(void **state)
{
    (void)state;
    const sgd_options args = {.lr = 0.5, .momentum = 0.9, .dampening = 0.5};
    FOR_EACH_TABLE(kernels)
    {
        float p[] = {1, 2}, g[] = {1, -1}, b[] = {NAN, INFINITY};
        tern_step_tensor one = {
            .param = p, .grad = g, .state = {b}, .numel = 2, .dtype = TERN_FLOAT32};
        const numbers of = sgd_numbers(&args, 1);
        memcpy(one.number, of.at, sizeof of.at);
        assert_int_equal(kernels->step(&kernel_exec, sgd_code(&args), &one, 1), 0);
        assert_within(p[0], 0.5, 0, kernels);
        assert_within(p[1], 2.5, 0, kernels);
        assert_within(b[0], 1, 0, kernels);
        assert_within(b[1], -1, 0, kernels);
    }
}

static void adam_in_double(const adam_options *o, int64_t step)
{
    const double c1 = 1 - pow(o->beta1, (double)step), c2 = 1 - pow(o->beta2, (double)step);
    for (int t = 0; t < TENSORS; t++) {
        for (int64_t i = 0; i < sizes[t]; i++) {
            double g = (double)grad[t][i] * (o->maximize ? -1 : 1), *p = &p64[t][i];
            double *m = &s64[0][t][i], *v = &s64[1][t][i], *top = &s64[2][t][i];
            if (o->decoupled)
                *p *= 1 - o->lr * o->weight_decay;
            else
                g += o->weight_decay * *p;
            *m = o->beta1 * *m + (1 - o->beta1) * g;
            *v = o->beta2 * *v + (1 - o->beta2) * g * g;
            *top = fmax(*top, *v);
            *p -= o->lr / c1 * *m / (sqrt(o->amsgrad ? *top : *v) / sqrt(c2) + o->eps);
        }
    }
}

static void adam_and_adamw_follow_their_formulas(void **state)
{
    (void)state;
    const adam_options plain = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    adam_options cases[] = {plain, plain, plain, plain};
    cases[1].weight_decay = 0.1;
    cases[1].maximize = true;
    cases[2].weight_decay = 0.1;
    cases[2].decoupled = true;
    cases[3].amsgrad = true;
    draw(start);
    for (int k = 0; k < 4; k++) {
        FOR_EACH_TABLE(kernels)
        {
            begin();
            for (int64_t step = 1; step <= STEPS; step++) {
                tern_step_tensor list[TENSORS];
                draw(grad);
                list_of(list, cases[k].amsgrad ? 3 : 2, adam_numbers(&cases[k], step));
                assert_int_equal(kernels->step(&kernel_exec, adam_code(&cases[k]), list, TENSORS),
                                 0);
                adam_in_double(&cases[k], step);
                check_params(kernels);
            }
        }
    }
}

// Rounded to nearest, 0.9 times a subnormal number goes down to some of the smallest and no
// further.
static void state_without_gradients_becomes_zero_and_never_subnormal(void **state)
{
    (void)state;
    const adam_options adam = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.9, .eps = 1e-8};
    const sgd_options sgd = {.lr = 0.01, .momentum = 0.9};
    FOR_EACH_TABLE(kernels)
    {
        float p[2] = {1, 1}, g[2] = {1e-3f, -1e-3f}, m[2] = {0}, v[2] = {0}, b[2] = {0};
        for (int64_t step = 1; step <= 2000; step++) {
            const numbers of_adam = adam_numbers(&adam, step), of_sgd = sgd_numbers(&sgd, step);
            tern_step_tensor for_adam = {p, g, {m, v}, 2, TERN_FLOAT32, {0}};
            tern_step_tensor for_sgd = {p + 1, g + 1, {b}, 1, TERN_FLOAT32, {0}};
            memcpy(for_adam.number, of_adam.at, sizeof of_adam.at);
            memcpy(for_sgd.number, of_sgd.at, sizeof of_sgd.at);
            assert_int_equal(kernels->step(&kernel_exec, adam_code(&adam), &for_adam, 1), 0);
            assert_int_equal(kernels->step(&kernel_exec, sgd_code(&sgd), &for_sgd, 1), 0);
            for (int i = 0; i < 2; i++)
                assert_true(fpclassify(m[i]) != FP_SUBNORMAL && fpclassify(v[i]) != FP_SUBNORMAL);
            assert_true(fpclassify(b[0]) != FP_SUBNORMAL);
            g[0] = g[1] = 0;
        }
        assert_true(m[0] == 0 && m[1] == 0 && v[0] == 0 && v[1] == 0 && b[0] == 0);
    }
}

// Without eps the tiniest gradient counts like any other.
static void adam_without_eps_keeps_the_smallest_values(void **state)
{
    (void)state;
    const adam_options adam = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.9, .eps = 0};
    FOR_EACH_TABLE(kernels)
    {
        float p = 1, g = 1e-20f, m = 0, v = 0;
        const numbers of = adam_numbers(&adam, 1);
        tern_step_tensor tensor = {&p, &g, {&m, &v}, 1, TERN_FLOAT32, {0}};
        memcpy(tensor.number, of.at, sizeof of.at);
        assert_int_equal(kernels->step(&kernel_exec, adam_code(&adam), &tensor, 1), 0);
        assert_within(p, 0.99, 1e-5, kernels); // 1 - lr g / |g|
    }
}

// Of gradients whose squares are subnormal: v - m^2 below 0 would have no root.
static void centered_averages_vanish_together(void **state)
{
    (void)state;
    enum { TERN_STEP_RMSPROP_NUMBERS(PLACE) };
    FOR_EACH_TABLE(kernels)
    {
        float p = 1, g = 6e-20f, v = 0, m = 0;
        const tern_step_tensor one = {&p,
                                      &g,
                                      {&v, &m},
                                      1,
                                      TERN_FLOAT32,
                                      {[lr] = -0.5,
                                       [alpha] = 0.5,
                                       [take] = 0.5,
                                       [eps] = 1e-8,
                                       [sign] = 1,
                                       [tiny] = (double)FLT_MIN}};
        for (int step = 0; step < 50; step++)
            assert_int_equal(kernels->step(&kernel_exec, TERN_STEP_RMSPROP_CENTERED, &one, 1), 0);
        assert_true(v == 0 && m == 0 && p == 1); // 50 times 0.5 6e-20 / 1e-8 less
    }
}

static void a_fault_keeps_every_parameter_and_state(void **state)
{
    (void)state;
    static float before[TENSORS][40000];
    const sgd_options sgd = {.lr = 0.1, .momentum = 0.9};
    const adam_options adam = {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    draw(start);
    draw(grad);
    begin();
    memcpy(before, param, sizeof before);
    kernel_fault.set = 1;
    FOR_EACH_TABLE(kernels)
    {
        tern_step_tensor list[TENSORS];
        list_of(list, 1, sgd_numbers(&sgd, 1));
        assert_int_equal(kernels->step(&kernel_exec, sgd_code(&sgd), list, TENSORS), 0);
        list_of(list, 2, adam_numbers(&adam, 1));
        assert_int_equal(kernels->step(&kernel_exec, adam_code(&adam), list, TENSORS), 0);
        assert_memory_equal(param, before, sizeof before);
        for (int t = 0; t < TENSORS; t++)
            for (int64_t i = 0; i < sizes[t]; i++)
                assert_true(state_of[0][t][i] == 0 && state_of[1][t][i] == 0);
    }
    kernel_fault = (tern_fault){0};
}

// 1 - 2^-8 is a bfloat16; the step of 2^-12 is not lost before the rounding, but in it.
static void bfloat16_is_computed_in_float_and_rounded_once(void **state)
{
    (void)state;
    const sgd_options args = {.lr = 1};
    FOR_EACH_TABLE(kernels)
    {
        uint16_t p[] = {0x3f80, 0x3f80, 0xbf80}, g[] = {0x3980, 0x3c00, 0x7fc0};
        const numbers of = sgd_numbers(&args, 1);
        tern_step_tensor one = {.param = p, .grad = g, .numel = 3, .dtype = TERN_BFLOAT16};
        memcpy(one.number, of.at, sizeof of.at);
        assert_int_equal(kernels->step(&kernel_exec, sgd_code(&args), &one, 1), 0);
        assert_int_equal(p[0], 0x3f80); // 1 - 2^-12 rounds to 1
        assert_int_equal(p[1], 0x3f7e); // 1 - 2^-7
        assert_int_equal(p[2] & 0x7fff, 0x7fc0);
    }
}

// The average of the `averaged` values so far, and of the one in grad.
static double averaged_by_hand(double average, double value, double decay, int64_t averaged)
{
    if (averaged == 0)
        return value;
    if (isnan(decay))
        return (average * (double)averaged + value) / (double)(averaged + 1);
    return decay * average + (1 - decay) * value;
}

static void averages_go_to_the_newest_value(void **state)
{
    (void)state;
    static const double decays[] = {NAN, 0, 0.25, 0.999, 1};
    tern_step_tensor list[TENSORS];
    draw(start);
    draw(grad);
    for (int k = 0; k < 5; k++) {
        for (int64_t averaged = 0; averaged < 4; averaged++) {
            FOR_EACH_TABLE(kernels)
            {
                begin();
                for (int t = 0; t < TENSORS; t++)
                    list[t] = (tern_step_tensor){.param = param[t],
                                                 .grad = grad[t],
                                                 .numel = sizes[t],
                                                 .dtype = TERN_FLOAT32};
                assert_int_equal(
                    kernels->average(&kernel_exec, decays[k], &averaged, list, TENSORS), 0);
                for (int t = 0; t < TENSORS; t++)
                    for (int64_t i = 0; i < sizes[t]; i++)
                        assert_within(param[t][i],
                                      averaged_by_hand((double)start[t][i], (double)grad[t][i],
                                                       decays[k], averaged),
                                      averaged == 0 ? 0 : 1e-6, kernels);
            }
        }
    }
}

static void views_of_grads(tern_strided *list)
{
    for (int t = 0; t < TENSORS; t++)
        list[t] = VIEW(grad[t], TERN_FLOAT32, sizes[t]);
}

static void the_norm_is_that_of_all_elements_together(void **state)
{
    (void)state;
    const double orders[] = {2, 1, 3, INFINITY, 0};
    tern_strided list[TENSORS];
    double total;
    const tern_strided out = VIEW(&total, TERN_FLOAT64, 1);
    draw(grad);
    views_of_grads(list);
    for (int k = 0; k < 5; k++) {
        double sum = 0;
        const double p = orders[k];
        for (int t = 0; t < TENSORS; t++) {
            for (int64_t i = 0; i < sizes[t]; i++) {
                const double a = fabs((double)grad[t][i]);
                sum = isinf(p) ? fmax(sum, a) : sum + (p == 0 ? a != 0 : pow(a, p));
            }
        }
        const double expected = isinf(p) || p == 0 ? sum : pow(sum, 1 / p);
        FOR_EACH_TABLE(kernels)
        {
            assert_int_equal(kernels->list_norm(&kernel_exec, p, &out, list, TENSORS), 0);
            assert_within(total, expected, expected * 1e-12, kernels);
        }
    }
}

static void a_nan_anywhere_makes_the_norm_nan(void **state)
{
    (void)state;
    tern_strided list[TENSORS];
    double total;
    const tern_strided out = VIEW(&total, TERN_FLOAT64, 1);
    draw(grad);
    grad[1][31000] = NAN;
    views_of_grads(list);
    FOR_EACH_TABLE(kernels)
    {
        for (int k = 0; k < 2; k++) {
            total = 0;
            assert_int_equal(
                kernels->list_norm(&kernel_exec, k ? INFINITY : 2, &out, list, TENSORS), 0);
            assert_true(isnan(total));
        }
    }
}

static void clipping_scales_down_and_never_up(void **state)
{
    (void)state;
    tern_strided list[TENSORS];
    double total = 4;
    const tern_strided norm = VIEW(&total, TERN_FLOAT64, 1);
    FOR_EACH_TABLE(kernels)
    {
        draw(grad);
        views_of_grads(list);
        memcpy(param, grad, sizeof param);
        assert_int_equal(kernels->list_clip(&kernel_exec, 5, &norm, list, TENSORS), 0);
        assert_memory_equal(grad, param, sizeof grad);
        assert_int_equal(kernels->list_clip(&kernel_exec, 1, &norm, list, TENSORS), 0);
        for (int t = 0; t < TENSORS; t++)
            for (int64_t i = 0; i < sizes[t]; i++)
                assert_within(grad[t][i], (double)param[t][i] / (4 + 1e-6), 1e-7, kernels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_follows_its_formulas),
        cmocka_unit_test(the_first_momentum_step_does_not_read_the_buffer),
        cmocka_unit_test(adam_and_adamw_follow_their_formulas),
        cmocka_unit_test(state_without_gradients_becomes_zero_and_never_subnormal),
        cmocka_unit_test(adam_without_eps_keeps_the_smallest_values),
        cmocka_unit_test(centered_averages_vanish_together),
        cmocka_unit_test(a_fault_keeps_every_parameter_and_state),
        cmocka_unit_test(bfloat16_is_computed_in_float_and_rounded_once),
        cmocka_unit_test(averages_go_to_the_newest_value),
        cmocka_unit_test(the_norm_is_that_of_all_elements_together),
        cmocka_unit_test(a_nan_anywhere_makes_the_norm_nan),
        cmocka_unit_test(clipping_scales_down_and_never_up),
    };
    return cmocka_run_group_tests_name("step_kernels", tests, kernel_setup, NULL);
}
