// SPDX-License-Identifier: Apache-2.0
// The networks of models.h against torchvision's, whose starts and outputs make_models.py stored.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "golden_test.h"

#define RTOL 1e-4 // normal draws agree to 2e-6

static int end_group(void **state)
{
    (void)state;
    tern_shutdown();
    return tern_memory_live_bytes() != 0;
}

// "layer1.0.conv1.weight 64 64 3 3" as a line of the stored text has it.
static void key_of(const tern_state *state, int64_t i, char *line, size_t size)
{
    const char *name = tern_state_name_at(state, i);
    tern_shape shape = tern_shape_of(tern_state_tensor(state, name));
    int length = snprintf(line, size, "%s", name);
    for (int d = 0; d < shape.rank; d++)
        length += snprintf(line + length, size - (size_t)length, " %lld", (long long)shape.dim[d]);
}

static void keys_are_torchvisions(const golden_case *c, const tern_state *state)
{
    const char *expected = c->text;
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        char line[512];
        key_of(state, i, line, sizeof line);
        const size_t length = strcspn(expected, "\n");
        if (length != strlen(line) || strncmp(line, expected, length) != 0)
            fail_msg("%s: key %lld is \"%s\" instead of \"%.*s\"", c->name, (long long)i, line,
                     (int)length, expected);
        expected += length + (expected[length] == '\n');
    }
    assert_string_equal(expected, "");
}

// The first and last element, the mean and the root of the mean square.
static void start_of(tern_tensor *t, double out[4])
{
    tern_tensor *flat = tern_reshape(tern_to_dtype(t, TERN_FLOAT64), tern_dims(-1));
    out[0] = tern_item(tern_select(flat, 0, 0));
    out[1] = tern_item(tern_select(flat, 0, -1));
    out[2] = tern_item(tern_mean_all(flat));
    out[3] = sqrt(tern_item(tern_mean_all(tern_mul(flat, flat))));
}

static void starts_are_torchvisions(const golden_case *c, const tern_state *state)
{
    const int64_t count = tern_state_count(state);
    const double *expected = golden_values(c, "starts", TERN_FLOAT64, count * 4);
    for (int64_t i = 0; i < count; i++) {
        tern_with_scope {
            const char *name = tern_state_name_at(state, i);
            double found[4];
            start_of(tern_state_tensor(state, name), found);
            assert_fine();
            for (int k = 0; k < 4; k++)
                assert_near(name, k, found[k], expected[4 * i + k], 1e-5 * expected[4 * i + 3],
                            1e-5);
        }
    }
}

static void outputs_are_torchvisions(const golden_case *c, tern_module *net)
{
    const float *x = golden_values(golden_find("models", "input"), "x", TERN_FLOAT32, 9600);
    const float *expected = golden_values(c, "outputs", TERN_FLOAT32, 20);
    float found[20];
    double largest = 0;
    tern_no_grad {
        tern_module_eval(net);
        tern_tensor *y = tern_forward(net, tern_from_data(tern_dims(2, 3, 40, 40), x));
        assert_int_equal(tern_to_host(y, found, sizeof found), TERN_OK);
    }
    for (int i = 0; i < 20; i++)
        largest = fmax(largest, fabs((double)expected[i]));
    for (int i = 0; i < 20; i++)
        assert_near(c->name, i, (double)found[i], (double)expected[i], RTOL * largest, 0);
}

static void compare(const char *name, tern_module *(*make)(void))
{
    const golden_case *c = golden_find("models", name);
    tern_scope scope = tern_scope_open();
    tern_manual_seed(0);
    tern_module *net = make();
    assert_fine();
    assert_near("the draw after it", 0, tern_item(tern_rand(tern_dims(1))),
                (double)*(const float *)golden_values(c, "next", TERN_FLOAT32, 1), 0, 0);
    tern_state *state = tern_module_state_dict(net);
    keys_are_torchvisions(c, state);
    starts_are_torchvisions(c, state);
    outputs_are_torchvisions(c, net);
    tern_free(state, net);
    tern_scope_close(scope);
}

#define IS_TORCHVISIONS(name)                                                                      \
    static tern_module *make_##name(void)                                                          \
    {                                                                                              \
        return tern_models_##name(.num_classes = 10);                                              \
    }                                                                                              \
    static void name##_is_torchvisions(void **state)                                               \
    {                                                                                              \
        (void)state;                                                                               \
        compare(#name, make_##name);                                                               \
    }
IS_TORCHVISIONS(resnet18)
IS_TORCHVISIONS(resnet34)
IS_TORCHVISIONS(resnet50)
IS_TORCHVISIONS(vgg16)
IS_TORCHVISIONS(vgg16_bn)
IS_TORCHVISIONS(vgg19)
IS_TORCHVISIONS(vgg19_bn)

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, leaves_nothing)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(resnet18_is_torchvisions), TEST(resnet34_is_torchvisions),
        TEST(resnet50_is_torchvisions), TEST(vgg16_is_torchvisions),
        TEST(vgg16_bn_is_torchvisions), TEST(vgg19_is_torchvisions),
        TEST(vgg19_bn_is_torchvisions),
    };
    return cmocka_run_group_tests_name("models", tests, NULL, end_group);
}
