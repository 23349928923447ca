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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_parametrization_and_its_hook_print_the_module),
        CHECK_TEST(a_parametrization_that_runs_its_module_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, check_shutdown);
}
