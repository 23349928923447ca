// SPDX-License-Identifier: Apache-2.0
// Modules against PyTorch's, case by case: names and first bits of what they hold, outputs in both
// modes and gradients; test_modules_golden [DEVICE].
#include "golden_compare.h"
#include "support/public_modules.h"

#define MOST_TESTS  1024
#define MOST_INPUTS 4
#define NAME_SIZE   (TERN_STATE_NAME_SIZE + 16)

static tern_device device;

static const golden_array *array_named(const golden_case *g, const char *mode, const char *what)
{
    char name[NAME_SIZE + 16];
    snprintf(name, sizeof name, "%s.%s", mode, what);
    return golden_find_array(g, name);
}

static tern_module *make(const golden_case *g)
{
    const char *name = golden_text(g, "module");
    for (int i = 0; i < PUBLIC_MODULE_COUNT; i++)
        if (strcmp(public_modules[i].name, name) == 0)
            return public_modules[i].make();
    fail_msg("there is no call of %s", name);
    return NULL;
}

static void check_entry(const tern_state *state, int64_t i, const golden_array *stored)
{
    const char *name = tern_state_name_at(state, i);
    assert_string_equal(name, stored->name + strlen("state."));
    tern_tensor *t = tern_state_tensor(state, name);
    assert_int_equal(tern_dtype_of(t), stored->dtype);
    assert_true(tern_shape_equal(tern_shape_of(t), stored->shape));
    assert_memory_equal(tern_data(t), stored->data,
                        (size_t)stored->numel * tern_dtype_size(stored->dtype));
}

static void check_state(const golden_case *g, tern_module *module)
{
    tern_state *state = tern_module_state_dict(module);
    int64_t count = 0;
    for (int i = 0; i < g->array_count; i++)
        if (strncmp(g->arrays[i].name, "state.", 6) == 0)
            check_entry(state, count++, &g->arrays[i]);
    assert_int_equal(tern_state_count(state), count);
    tern_state_free(state);
}

static void check_gradient(const golden_case *g, const char *mode, const char *of, tern_tensor *t)
{
    char what[NAME_SIZE];
    snprintf(what, sizeof what, "grad.%s", of);
    const golden_array *stored = array_named(g, mode, what);
    if (!stored || !tern_grad(t))
        fail_msg("%s is not there%s", what, stored ? "" : " in PyTorch");
    else
        golden_compare(what, tern_grad(t), stored, 0);
}

static int inputs_of(const golden_case *g, tern_tensor **in)
{
    int count = 0;
    for (; count < MOST_INPUTS; count++) {
        char name[16];
        snprintf(name, sizeof name, "in%d", count);
        const golden_array *stored = golden_find_array(g, name);
        if (!stored)
            break;
        in[count] = golden_tensor(stored, device);
    }
    return count;
}

static void check_mode(const golden_case *g, const char *mode, tern_module *module)
{
    const golden_array *out = array_named(g, mode, "out");
    if (!out)
        return;
    tern_tensor *in[MOST_INPUTS] = {NULL}, *x;
    const int count = inputs_of(g, in);
    x = in[0];
    assert_non_null(tern_set_requires_grad(x, true));
    tern_module_zero_grad(module);
    tern_module_train(module, strcmp(mode, "train") == 0);
    tern_tensor *y = count == 1   ? tern_forward(module, x)
                     : count == 2 ? tern_loss(module, x, in[1])
                                  : tern_call_n(module, count, in);
    assert_no_error();
    golden_compare("out", y, out, 0);
    tern_tensor *seed = golden_tensor(array_named(g, mode, "seed"), device);
    assert_int_equal(tern_backward(y, .gradient = seed), TERN_OK);
    check_gradient(g, mode, "in0", x);
    for (int64_t i = 0; i < tern_module_num_parameters(module); i++) {
        char name[TERN_NAME_SIZE];
        tern_tensor *p = tern_module_parameter_at(module, i, name, sizeof name);
        check_gradient(g, mode, name, p);
    }
}

// What the forwards made of the buffers.
static void check_buffers(const golden_case *g, tern_module *module)
{
    for (int64_t i = 0; i < tern_module_num_buffers(module); i++) {
        char name[TERN_NAME_SIZE];
        tern_tensor *buffer = tern_module_buffer_at(module, i, name, sizeof name);
        const golden_array *stored = array_named(g, "after", name);
        if (stored)
            golden_compare(name, buffer, stored, 0);
        else if (golden_find_array(g, "eval.out"))
            fail_msg("%s is no buffer in PyTorch", name);
    }
}

static void a_module_is_pytorchs(void **state)
{
    const golden_case *g = *state;
    tern_scope scope = tern_scope_open();
    tern_manual_seed(1);
    tern_module *module = make(g);
    assert_no_error();
    check_state(g, module);
    const golden_array *x = golden_find_array(g, "in0");
    assert_non_null(tern_module_to_dtype(module, x ? x->dtype : TERN_FLOAT32));
    assert_non_null(tern_module_to(module, device));
    check_mode(g, "train", module);
    check_mode(g, "eval", module);
    check_buffers(g, module);
    assert_no_error();
    tern_module_free(module);
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[MOST_TESTS];
    const golden_file *file = golden_read("modules");
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    if (file->count > MOST_TESTS) {
        fprintf(stderr, "%d cases are more than MOST_TESTS\n", file->count);
        return 1;
    }
    for (int i = 0; i < file->count; i++)
        tests[i] = (struct CMUnitTest){file->cases[i].name, a_module_is_pytorchs, NULL, NULL,
                                       (void *)(uintptr_t)&file->cases[i]};
    return _cmocka_run_group_tests("modules", tests, (size_t)file->count, NULL, NULL);
}
