// SPDX-License-Identifier: Apache-2.0
// States of PyTorch's optimizers, made by tests/golden/make_files_torch.py, and those that tern
// writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "optim_file.h"
#include "torch_bytes.h"
#include "support/state_check.h"

static void assert_near(tern_tensor *t, tern_tensor *expected)
{
    const float *a = tern_data(t), *b = tern_data(expected);
    for (int64_t i = 0; i < tern_numel(t); i++)
        if (fabsf(a[i] - b[i]) > 1e-6f)
            fail_msg("element %d is %.9g, not %.9g", (int)i, a[i], b[i]);
}

// Three steps in PyTorch, then two here: the weights are those of five there.
static void each_kind_goes_on_where_pytorch_stopped(void **state)
{
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++) {
        tern_state *saved = tern_state_read(golden(kinds[k].file));
        run r = begin(kinds[k].file, saved);
        set(tern_optim_load_torch(r.optim, golden(kinds[k].file), .prefix = "optimizer."));
        assert_true(tern_optim_lr(r.optim, 0) == 0.125 && tern_optim_lr(r.optim, 1) == 0.0625);
        take_steps(&r, 3, 2);
        assert_near(r.params[0], tern_state_tensor(saved, "later.weight"));
        assert_near(r.params[1], tern_state_tensor(saved, "later.bias"));
        tern_optim_free(r.optim);
        tern_state_free(saved);
    }
}

// ---- the options of a group ---------------------------------------------------------------------

// The texts of a pickle between "param_groups" and "params", in order: the options of the first
// group, None included.
typedef struct texts {
    char text[32][32];
    int count;
} texts;

static bool is_text_at(const byte_string *file, size_t at, const char *text)
{
    const size_t length = strlen(text);
    return at + 5 + length <= file->count && file->at[at] == 'X' && file->at[at + 1] == length &&
           memcmp(file->at + at + 5, text, length) == 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static texts options_of(const char *path)
{
    byte_string file = read_bytes(path);
    texts found = {.count = 0};
    size_t at = 0;
    while (!is_text_at(&file, at, "param_groups"))
        assert_true(++at < file.count);
    for (at += 5 + strlen("param_groups"); !is_text_at(&file, at, "params"); at++) {
        assert_true(at < file.count);
        const size_t length = file.at[at + 1];
        if (file.at[at] != 'X' || length >= 32 || memcmp(file.at + at + 2, "\0\0\0", 3) != 0)
            continue;
        memcpy(found.text[found.count++], file.at + at + 5, length);
        at += 4 + length;
    }
    free_bytes(&file);
    qsort(found.text, (size_t)found.count, sizeof *found.text, by_text);
    return found;
}

// No more and no less than PyTorch's state_dict() of the kind has; words among values, too.
static void each_kind_is_written_with_the_options_of_pytorch(void **state)
{
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++) {
        const char *path = path_of("optim.pt");
        tern_state *saved = tern_state_read(golden(kinds[k].file));
        run r = begin(kinds[k].file, saved);
        set(tern_optim_load_torch(r.optim, golden(kinds[k].file), .prefix = "optimizer."));
        set(tern_optim_save_torch(r.optim, path));
        const texts own = options_of(path), pytorch = options_of(golden(kinds[k].file));
        assert_true(pytorch.count >= 6);
        for (int i = 0; i < pytorch.count || i < own.count; i++)
            if (strcmp(own.text[i], pytorch.text[i]) != 0)
                fail_msg("%s: \"%s\" is \"%s\" in PyTorch's", kinds[k].file, own.text[i],
                         pytorch.text[i]);
        tern_optim_free(r.optim);
        tern_state_free(saved);
    }
}

// ---- saving -------------------------------------------------------------------------------------

static void each_kind_is_saved_and_loaded(void **state)
{
    (void)state;
    for (int k = 0; k < KIND_COUNT; k++) {
        tern_state *saved = tern_state_read(golden(kinds[k].file));
        run r = begin(kinds[k].file, saved), other = begin(kinds[k].file, saved);
        set(tern_optim_load_torch(r.optim, golden(kinds[k].file), .prefix = "optimizer."));
        set(tern_optim_save_torch(r.optim, path_of("optim.pt")));
        set(tern_optim_load_torch(other.optim, path_of("optim.pt")));
        tern_state *a = copy_of(r.optim), *b = copy_of(other.optim);
        check_states(a, b, true);
        tern_state_free(a);
        tern_state_free(b);
        tern_optim_free(r.optim);
        tern_optim_free(other.optim);
        tern_state_free(saved);
    }
}

// PyTorch's Muon has no count of updates, and its AdamW does not go on without.
static void what_adamw_updates_for_muon_keeps_its_count(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(3, 2);
    tern_optim *optim = tern_optim_muon(net, .rest = TERN_MUON_ADAMW);
    tern_optim *other = tern_optim_muon(net, .rest = TERN_MUON_ADAMW);
    for (int i = 0; i < 3; i++) {
        tern_optim_zero_grad(optim);
        set(tern_backward(tern_sum_all(tern_forward(net, tern_ones(tern_dims(1, 3))))));
        set(tern_optim_step(optim));
    }
    set(tern_optim_save_torch(optim, path_of("optim.pt")));
    set(tern_optim_load_torch(other, path_of("optim.pt")));
    assert_int_equal(tern_optim_step_count(other, 0), 0);
    assert_int_equal(tern_optim_step_count(other, 1), 3);
    tern_state *file = tern_state_read(path_of("optim.pt"));
    set(tern_state_remove(file, "state.1.step"));
    set(tern_state_write(file, path_of("other.pt")));
    assert_int_equal(tern_optim_load_torch(other, path_of("other.pt")), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "bias has a state without \"step\"");
    tern_state_free(file);
    tern_optim_free(optim);
    tern_optim_free(other);
    tern_module_free(net);
}

// The names and values that torch.optim.Adam's state_dict has; None is left out by the reader.
static void the_form_is_that_of_pytorch(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("adam"), .only = "optimizer.*");
    tern_state *model = tern_state_read(golden("adam"));
    run r = begin("adam", model);
    set(tern_optim_load_torch(r.optim, golden("adam"), .prefix = "optimizer."));
    set(tern_optim_save_torch(r.optim, path_of("optim.pt")));
    tern_state *written = tern_state_read(path_of("optim.pt"));
    assert_int_equal(tern_state_count(written), tern_state_count(saved));
    for (int64_t i = 0; i < tern_state_count(saved); i++) {
        const char *name = tern_state_name_at(saved, i), *below = name + strlen("optimizer.");
        double a = 0, b = 1;
        if (tern_state_type_of(saved, name) == TERN_STATE_TENSOR) {
            tern_tensor *x = tern_state_tensor(saved, name), *y = tern_state_tensor(written, below);
            assert_non_null(y);
            assert_true(tern_shape_equal(tern_shape_of(x), tern_shape_of(y)));
            assert_memory_equal(tern_data(x), tern_data(y), 4 * (size_t)tern_numel(x));
        } else if (tern_state_get_double(saved, name, &a) ||
                   tern_state_get_double(written, below, &b) || a != b) {
            fail_msg("%s is %g, not %g", below, b, a);
        }
    }
    tern_optim_free(r.optim);
    tern_state_free(model);
    tern_state_free(written);
    tern_state_free(saved);
}

static void parameters_are_found_by_their_names(void **state)
{
    (void)state;
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(3, 2), tern_nn_relu(), tern_nn_linear(2, 1));
    tern_optim *optim = tern_optim_adamw(net);
    tern_state *file = tern_state_read(golden("checkpoint"));
    // "0.bias" and "2.bias" change places.
    set(tern_state_set_text(file, "optimizer.param_groups.0.param_names.1", "2.bias"));
    set(tern_state_set_text(file, "optimizer.param_groups.0.param_names.3", "0.bias"));
    static const char *const slots[] = {"exp_avg", "exp_avg_sq"};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "optimizer.state.1.%s", slots[i]);
        set(tern_state_set_tensor(file, name, tern_full(tern_dims(1), 7.0f)));
        snprintf(name, sizeof name, "optimizer.state.3.%s", slots[i]);
        set(tern_state_set_tensor(file, name, tern_full(tern_dims(2), 5.0f)));
    }
    set(tern_state_set_int(file, "optimizer.state.1.step", 11));
    set(tern_state_set_double(file, "optimizer.state.3.step", 13));
    set(tern_state_write(file, path_of("named.pt")));
    set(tern_optim_load_torch(optim, path_of("named.pt"), .prefix = "optimizer."));
    assert_int_equal(tern_optim_step_count(optim, 0), 1);
    assert_int_equal(tern_optim_step_count(optim, 1), 13);
    assert_int_equal(tern_optim_step_count(optim, 3), 11);
    assert_true(((float *)tern_data(tern_optim_state(optim, 1, "exp_avg")))[1] == 5);
    assert_true(((float *)tern_data(tern_optim_state(optim, 3, "exp_avg")))[0] == 7);
    set(tern_optim_save_torch(optim, path_of("own.pt")));
    tern_state *own = tern_state_read(path_of("own.pt"));
    assert_string_equal(tern_state_text(own, "param_groups.0.param_names.2"), "2.weight");
    set(tern_state_set_text(file, "optimizer.param_groups.0.param_names.1", "bias"));
    set(tern_state_write(file, path_of("named.pt")));
    assert_int_equal(tern_optim_load_torch(optim, path_of("named.pt"), .prefix = "optimizer."),
                     TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "none of its parameters has the name \"2.bias\"");
    tern_state_free(own);
    tern_state_free(file);
    tern_optim_free(optim);
    tern_module_free(net);
}

static void numbers_stay_where_they_are_not_wanted(void **state)
{
    (void)state;
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    set(tern_optim_load_torch(r.optim, golden("adam"), .prefix = "optimizer.", .numbers = false));
    assert_true(tern_optim_lr(r.optim, 0) == 1e-3 && tern_optim_lr(r.optim, 1) == 1e-3);
    assert_int_equal(tern_optim_step_count(r.optim, 1), 3);
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

// 2^24 + 1 is the first that float32 does not have.
static void a_count_that_float32_does_not_have_is_kept(void **state)
{
    (void)state;
    static const int64_t counts[] = {1 << 24, (1 << 24) + 1, (int64_t)1 << 53};
    tern_state *saved = tern_state_read(golden("adam"));
    run r = begin("adam", saved);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        set(tern_optim_load_torch(r.optim, golden("adam"), .prefix = "optimizer."));
        set(tern_optim_set_step_count(r.optim, 0, counts[i]));
        set(tern_optim_save_torch(r.optim, path_of("long.pt")));
        set(tern_optim_set_step_count(r.optim, 0, 0));
        set(tern_optim_load_torch(r.optim, path_of("long.pt")));
        assert_true(tern_optim_step_count(r.optim, 0) == counts[i]);
    }
    tern_optim_free(r.optim);
    tern_state_free(saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DATA_TEST(each_kind_goes_on_where_pytorch_stopped),
        DATA_TEST(each_kind_is_written_with_the_options_of_pytorch),
        DATA_TEST(each_kind_is_saved_and_loaded),
        DATA_TEST(what_adamw_updates_for_muon_keeps_its_count),
        DATA_TEST(the_form_is_that_of_pytorch),
        DATA_TEST(parameters_are_found_by_their_names),
        DATA_TEST(numbers_stay_where_they_are_not_wanted),
        DATA_TEST(a_count_that_float32_does_not_have_is_kept),
    };
    return cmocka_run_group_tests_name("torch_optim", tests, start_group, end_group);
}
