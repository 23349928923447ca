// SPDX-License-Identifier: Apache-2.0
// What modules say of themselves. The texts are PyTorch 2.15's: print(MODULE) of the line beside
// each, with `import torch.nn as nn`.
#include <stdlib.h>

#include "own_module.h"

static char *printed(const tern_module *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_int_equal(tern_module_print(m, file), TERN_OK);
    fclose(file);
    return text;
}

// The module is freed.
static void check_print(tern_module *m, const char *expected)
{
    assert_non_null(m);
    char *text = printed(m);
    assert_string_equal(text, expected);
    free(text);
    tern_module_free(m);
}

static void layers_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.Linear(784, 512)
    check_print(tern_nn_linear(784, 512), "Linear(in_features=784, out_features=512, bias=True)\n");
    // nn.Linear(3, 2, bias=False)
    check_print(tern_nn_linear(3, 2, .bias = false),
                "Linear(in_features=3, out_features=2, bias=False)\n");
    check_print(tern_nn_flatten(), "Flatten(start_dim=1, end_dim=-1)\n");      // nn.Flatten()
    check_print(tern_nn_flatten(0, -2), "Flatten(start_dim=0, end_dim=-2)\n"); // nn.Flatten(0, -2)
    check_print(tern_nn_dropout(), "Dropout(p=0.5, inplace=False)\n");         // nn.Dropout()
    check_print(tern_nn_identity(), "Identity()\n");                           // nn.Identity()
    check_print(tern_nn_relu(), "ReLU()\n");                                   // nn.ReLU()
    check_print(tern_nn_tanh(), "Tanh()\n");                                   // nn.Tanh()
    check_print(tern_nn_sigmoid(), "Sigmoid()\n");                             // nn.Sigmoid()
    check_print(tern_nn_silu(), "SiLU()\n");                                   // nn.SiLU()
    check_print(tern_nn_hardswish(), "Hardswish()\n");                         // nn.Hardswish()
    check_print(tern_nn_softmax(-1), "Softmax(dim=-1)\n");                     // nn.Softmax(-1)
    check_print(tern_nn_gelu(), "GELU(approximate='none')\n");                 // nn.GELU()
    // nn.GELU('tanh')
    check_print(tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH), "GELU(approximate='tanh')\n");
    check_print(tern_nn_leaky_relu(), "LeakyReLU(negative_slope=0.01)\n"); // nn.LeakyReLU()
}

static void losses_print_as_those_of_pytorch(void **state)
{
    (void)state;
    // nn.CrossEntropyLoss(torch.ones(3), label_smoothing=0.1)
    check_print(
        tern_nn_cross_entropy_loss(.weight = tern_ones(tern_dims(3)), .label_smoothing = 0.1),
        "CrossEntropyLoss()\n");
    check_print(tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM), "MSELoss()\n");
    check_print(tern_nn_l1_loss(), "L1Loss()\n"); // nn.L1Loss()
}

static void numbers_print_as_python_prints_them(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {
        // print([repr(x) for x in (1.0, 0.0, 1e-5, 0.0001, 1 / 3, 0.1, -1e20, 1e16, 1e15,
        //                          123456.5, -10.0)])
        {1.0, "1.0"},
        {0.0, "0.0"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1, "0.1"},
        {-1e20, "-1e+20"},
        {1e16, "1e+16"},
        {1e15, "1000000000000000.0"},
        {123456.5, "123456.5"},
        {-10.0, "-10.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "LeakyReLU(negative_slope=%s)\n", cases[i].text);
        check_print(tern_nn_leaky_relu(cases[i].value), expected);
    }
}

static void containers_print_their_children_inside(void **state)
{
    (void)state;
    check_print(tern_nn_sequential(), "Sequential()\n"); // nn.Sequential()
    // nn.Sequential(nn.Linear(784, 512), nn.Sequential(nn.ReLU(), nn.Dropout(0.2)))
    check_print(tern_nn_sequential(tern_nn_linear(784, 512),
                                   tern_nn_sequential(tern_nn_relu(), tern_nn_dropout(0.2))),
                "Sequential(\n"
                "  (0): Linear(in_features=784, out_features=512, bias=True)\n"
                "  (1): Sequential(\n"
                "    (0): ReLU()\n"
                "    (1): Dropout(p=0.2, inplace=False)\n"
                "  )\n"
                ")\n");
}

static void lists_print_equal_neighbours_once(void **state)
{
    (void)state;
    check_print(tern_nn_module_list(), "ModuleList()\n"); // nn.ModuleList()
    // nn.ModuleList([nn.Linear(2, 3), nn.Linear(2, 3), nn.Linear(2, 4), nn.Sequential(nn.ReLU()),
    //                nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh()), nn.ReLU()])
    check_print(tern_nn_module_list(tern_nn_linear(2, 3), tern_nn_linear(2, 3),
                                    tern_nn_linear(2, 4), tern_nn_sequential(tern_nn_relu()),
                                    tern_nn_sequential(tern_nn_relu()),
                                    tern_nn_sequential(tern_nn_tanh()), tern_nn_relu()),
                "ModuleList(\n"
                "  (0-1): 2 x Linear(in_features=2, out_features=3, bias=True)\n"
                "  (2): Linear(in_features=2, out_features=4, bias=True)\n"
                "  (3-4): 2 x Sequential(\n"
                "    (0): ReLU()\n"
                "  )\n"
                "  (5): Sequential(\n"
                "    (0): Tanh()\n"
                "  )\n"
                "  (6): ReLU()\n"
                ")\n");
}

// ---- classes of the user's own ------------------------------------------------------------------

static const char *said;

static void say(const tern_module *module, tern_text *out)
{
    (void)module;
    tern_text_add(out, "%s", said);
    tern_text_add(out, "=%g", 1.5);
}

static const tern_module_class talking_class = {
    .name = "Talking", .size = sizeof(tern_module), .call = call_odd, .describe = say};

static tern_module *talking_new(const char *words, tern_module *child)
{
    said = words;
    tern_module *m = tern_module_new(&talking_class);
    if (child)
        (void)tern_module_add_child(m, "inner", NULL, child);
    return tern_module_done(m);
}

static void a_module_with_children_says_its_own_first(void **state)
{
    (void)state;
    // class Talking(nn.Module):
    //     def __init__(self): super().__init__(); self.inner = nn.ReLU()
    //     def extra_repr(self): return 'size=1.5'
    check_print(talking_new("size", tern_nn_relu()), "Talking(\n"
                                                     "  size=1.5\n"
                                                     "  (inner): ReLU()\n"
                                                     ")\n");
    check_print(talking_new("size", NULL), "Talking(size=1.5)\n");
}

static void a_description_is_one_line_that_is_cut(void **state)
{
    (void)state;
    char words[400];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = 0;
    tern_module *m = talking_new(words, NULL);
    char *text = printed(m);
    assert_int_equal(strlen(text), strlen("Talking()\n") + 255);
    assert_string_equal(text + strlen(text) - 7, "xx...)\n");
    free(text);
    tern_module_free(m);
    check_print(talking_new("a\nb", NULL), "Talking(a?b=1.5)\n");
}

static tern_status refuse(const tern_tensors *in, tern_tensors *out)
{
    (void)in, (void)out;
    return tern_error_raise(TERN_ERR_ARG, "no");
}

static void errors_show_what_a_module_says(void **state)
{
    (void)state;
    odd_call = refuse;
    tern_module *m = tern_nn_sequential(talking_new("size", NULL), odd_new());
    assert_null_with(tern_forward(m, tern_ones(tern_dims(1))), TERN_ERR_ARG,
                     "no [in 0 (Talking(size=1.5))]");
    assert_null_with(tern_forward(tern_module_child(m, "1"), tern_ones(tern_dims(1))), TERN_ERR_ARG,
                     "no [in Odd]");
    tern_module_free(m);
}

static void errors_cut_what_is_too_long_and_keep_the_name(void **state)
{
    (void)state;
    char words[200];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = 0;
    odd_call = refuse;
    tern_module *m = tern_nn_sequential(talking_new(words, NULL));
    assert_null(tern_forward(m, tern_ones(tern_dims(1))));
    const char *sentence = tern_error_message();
    assert_non_null(strstr(sentence, "no [in 0 (Talking(xxx"));
    assert_string_equal(sentence + strlen(sentence) - 8, "xx...))]");
    tern_error_clear();
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(layers_print_as_those_of_pytorch),
        CHECK_TEST(losses_print_as_those_of_pytorch),
        CHECK_TEST(numbers_print_as_python_prints_them),
        CHECK_TEST(containers_print_their_children_inside),
        CHECK_TEST(lists_print_equal_neighbours_once),
        CHECK_TEST(a_module_with_children_says_its_own_first),
        CHECK_TEST(a_description_is_one_line_that_is_cut),
        CHECK_TEST(errors_show_what_a_module_says),
        CHECK_TEST(errors_cut_what_is_too_long_and_keep_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
