// SPDX-License-Identifier: Apache-2.0
// What a program's parametrizations may do with the module whose tensor they compute.
#include "parametrizations.h"

// A module whose call does something with `subject`, then gives its input.
static tern_module *subject;
static tern_status (*act)(void);

static tern_status acting_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    (void)module;
    if (act && act())
        return tern_error_code();
    out->at[out->count++] = in->at[0];
    return TERN_OK;
}

static const tern_module_class acting_class = {
    .name = "Acting", .size = sizeof(tern_module), .call = acting_call};

// ---- in a forward -------------------------------------------------------------------------------

static char text[1000];

static tern_status print_subject(void)
{
    FILE *file = fmemopen(text, sizeof text, "w");
    tern_status status = tern_module_print(subject, file);
    fclose(file);
    return status;
}

static tern_status print_in_hook(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                 void *user)
{
    (void)module;
    (void)in;
    (void)out;
    (void)user;
    return print_subject();
}

static tern_status run_subject(void)
{
    return tern_forward(subject, tern_ones(tern_dims(2))) ? TERN_OK : tern_error_code();
}

static void register_acting(tern_module *module, const char *name)
{
    act = NULL;
    assert_int_equal(tern_module_register_parametrization(module, name, of(&acting_class)),
                     TERN_OK);
    subject = module;
}

static void a_parametrization_and_its_hook_print_the_module(void **state)
{
    (void)state;
    tern_module *linear = tern_nn_linear(2, 1);
    register_acting(linear, "bias");
    register_acting(linear, "weight");
    for (int hook = 0; hook < 2; hook++) {
        act = hook ? NULL : print_subject;
        if (hook)
            tern_module_add_forward_hook(tern_module_child(linear, "parametrizations.weight.0"),
                                         print_in_hook, NULL);
        memset(text, 0, sizeof text);
        assert_non_null(tern_forward(linear, tern_ones(tern_dims(2))));
        assert_non_null(strstr(text, "in_features=2, out_features=1, bias=True"));
    }
    tern_module_free(linear);
}

static void a_parametrization_that_runs_its_module_is_an_error(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    register_acting(linear, "weight");
    act = run_subject;
    assert_null_with(tern_forward(linear, tern_ones(tern_dims(2))), TERN_ERR_STATE,
                     "a parametrization of this Linear runs the module itself");
    act = NULL;
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
    tern_module_free(linear);
}

// Says how many elements its weight has.
typedef struct counting {
    tern_module base;
    tern_tensor *weight;
} counting;

static tern_status counting_call(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_mul(in->at[0], ((counting *)module)->weight);
    return tern_error_code();
}

static void counting_describe(const tern_module *module, tern_text *out)
{
    const tern_tensor *weight = ((const counting *)module)->weight;
    tern_text_add(out, "numel=%lld, dtype=%s", (long long)tern_numel(weight),
                  tern_dtype_name(tern_dtype_of(weight)));
    (void)tern_numel(NULL);
}

static const tern_module_class counting_class = {.name = "Counting",
                                                 .size = sizeof(counting),
                                                 .call = counting_call,
                                                 .describe = counting_describe};

static void a_value_that_no_original_is_like_is_described(void **state)
{
    (void)state;
    counting *self = (counting *)tern_module_new(&counting_class);
    tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(2, 3)));
    tern_module *m = tern_module_done(&self->base);
    assert_int_equal(
        tern_module_register_parametrization(m, "weight", of(&flat_class), .unsafe = true),
        TERN_OK);
    assert_non_null(tern_module_parametrized(m, "weight"));
    assert_non_null(tern_forward(m, tern_ones(tern_dims(6))));
    assert_false(tern_error_pending());
    subject = m;
    memset(text, 0, sizeof text);
    assert_int_equal(print_subject(), TERN_OK);
    assert_non_null(strstr(text, "numel=6, dtype=float32"));
    assert_null_with(tern_forward(m, tern_ones(tern_dims(5))), TERN_ERR_SHAPE,
                     "[in Counting(numel=6, dtype=float32)]");
    tern_module_free(m);
}

// ---- while it is registered and removed ---------------------------------------------------------

static tern_status register_weight(void)
{
    return tern_module_register_parametrization(subject, "weight", of(&square_class));
}

static tern_status set_weight(void)
{
    return tern_module_set_parameter(subject, "weight", tern_ones(tern_dims(1, 2)));
}

static tern_status remove_weight(void)
{
    return tern_module_remove_parametrizations(subject, "weight");
}

static void what_registers_meanwhile_is_refused(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        tern_module *linear = tern_nn_linear(2, 1);
        if (second)
            register_acting(linear, "bias");
        subject = linear;
        act = register_weight;
        assert_status(tern_module_register_parametrization(linear, "bias", of(&acting_class)),
                      TERN_ERR_STATE, "the Linear runs or is traversed");
        act = NULL;
        assert_int_equal(tern_module_num_parameters(linear), 2);
        assert_false(tern_module_is_parametrized(linear, "weight"));
        assert_non_null(tern_forward(linear, tern_ones(tern_dims(2))));
        tern_module_free(linear);
    }
}

static void what_is_set_meanwhile_stays(void **state)
{
    (void)state;
    subject = linear_4_9();
    act = set_weight;
    assert_status(tern_module_register_parametrization(subject, "weight", of(&acting_class)),
                  TERN_ERR_STATE, "\"weight\" was exchanged while its parametrization ran");
    act = NULL;
    assert_tensor(tern_module_parameter(subject, "weight"), tern_dims(1, 2), 1, 1);
    assert_tensor(tern_forward(subject, tern_ones(tern_dims(2))), tern_dims(1), 2);
    tern_module_free(subject);
}

static void what_computes_is_not_removed_meanwhile(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    register_acting(linear, "weight");
    act = remove_weight;
    assert_null_with(tern_module_parametrized(linear, "weight"), TERN_ERR_STATE,
                     "module_remove_parametrizations: the ParametrizationList runs");
    assert_status(tern_module_remove_parametrizations(linear, "weight"), TERN_ERR_STATE,
                  "module_remove_parametrizations: the Linear runs");
    act = NULL;
    assert_tensor(tern_forward(linear, tern_ones(tern_dims(2))), tern_dims(1), 13);
    tern_module_free(linear);
}

static tern_status silent_inverse(tern_module *module, tern_tensor *value, tern_tensors *originals)
{
    (void)module;
    (void)value;
    (void)originals;
    return TERN_ERR_NUMERIC;
}

static void a_right_inverse_that_says_nothing_is_named(void **state)
{
    (void)state;
    tern_module *linear = linear_4_9();
    for (int second = 0; second < 2; second++) {
        assert_status(tern_module_register_parametrization(linear, "weight", of(&square_class),
                                                           .right_inverse = silent_inverse),
                      TERN_ERR_NUMERIC, "the right inverse of Square failed without saying why");
        if (!second)
            register_acting(linear, "weight");
    }
    tern_module_free(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_parametrization_and_its_hook_print_the_module),
        CHECK_TEST(a_parametrization_that_runs_its_module_is_an_error),
        CHECK_TEST(a_value_that_no_original_is_like_is_described),
        CHECK_TEST(what_registers_meanwhile_is_refused),
        CHECK_TEST(what_is_set_meanwhile_stays),
        CHECK_TEST(what_computes_is_not_removed_meanwhile),
        CHECK_TEST(a_right_inverse_that_says_nothing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
