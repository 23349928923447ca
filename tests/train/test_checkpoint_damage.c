// SPDX-License-Identifier: Apache-2.0
// Files that cannot be resumed from: damaged ones are passed over and said, and what is sound but
// does not fit is an error, never an older checkpoint without a word.
#include <tern/io.h>

#include "train_test.h"

// A module whose weight has so many columns, saved as step 1 and, with the next weights, as step 2.
typedef struct pair {
    tern_module *net;
    tern_checkpoint *ck;
    int64_t step;
} pair;

static void fill(const pair *p, double value)
{
    tern_no_grad {
        tern_fill_(tern_module_parameter(p->net, "weight"), value);
    }
    assert_no_error();
}

static double weight_of(const pair *p)
{
    return value_at(tern_module_parameter(p->net, "weight"), 0);
}

static pair pair_begin(void)
{
    pair p = {tern_nn_linear(40, 3), tern_checkpoint_new(folder), -1};
    assert_int_equal(tern_checkpoint_module(p.ck, "model", p.net), TERN_OK);
    fill(&p, 1);
    assert_int_equal(tern_checkpoint_save(p.ck, 1), TERN_OK);
    fill(&p, 2);
    assert_int_equal(tern_checkpoint_save(p.ck, 2), TERN_OK);
    fill(&p, 3);
    watch_log();
    return p;
}

static void pair_end(pair *p)
{
    tern_checkpoint_free(p->ck);
    tern_module_free(p->net);
}

// ---- damaged ones -------------------------------------------------------------------------------

// The older one was taken, and that was said once in each way.
static void check_older_taken(pair *p, const char *why)
{
    assert_int_equal(tern_checkpoint_resume(p->ck, &p->step), 1);
    assert_int_equal(p->step, 1);
    assert_true(weight_of(p) == 1);
    assert_int_equal(tern_checkpoint_passed_over(p->ck), 1);
    const char *sentence = tern_checkpoint_passed_over_at(p->ck, 0);
    if (!strstr(sentence, "step-00000002.safetensors") || !strstr(sentence, why))
        fail_msg("\"%s\" does not say \"%s\"", sentence, why);
    assert_int_equal(logged.warnings, 1);
    assert_non_null(strstr(logged.last, "checkpoint_resume: step-00000002.safetensors was passed"));
    assert_no_error();
}

static void a_file_cut_anywhere_is_passed_over(void **state)
{
    (void)state;
    size_t size;
    pair p = pair_begin();
    char *whole = read_bytes(path_of_step(2), &size);
    assert_true(size > 4 * 512);
    for (size_t cut = 0; cut < size; cut += 512) {
        write_bytes(path_of_step(2), whole, cut);
        watch_log();
        check_older_taken(&p, "");
    }
    write_bytes(path_of_step(2), whole, size - 1);
    watch_log();
    check_older_taken(&p, "");
    write_bytes(path_of_step(2), whole, size);
    watch_log();
    assert_int_equal(tern_checkpoint_resume(p.ck, &p.step), 1);
    assert_true(p.step == 2 && weight_of(&p) == 2);
    assert_int_equal(tern_checkpoint_passed_over(p.ck), 0);
    free(whole);
    pair_end(&p);
}

static void a_file_with_a_changed_element_is_passed_over(void **state)
{
    (void)state;
    size_t size;
    pair p = pair_begin();
    char *bytes = read_bytes(path_of_step(2), &size);
    bytes[size - 1] ^= 1;
    write_bytes(path_of_step(2), bytes, size);
    check_older_taken(&p, "checksum");
    free(bytes);
    pair_end(&p);
}

static void a_folder_in_the_place_of_a_file_is_passed_over(void **state)
{
    (void)state;
    pair p = pair_begin();
    assert_true(!unlink(path_of_step(2)) && !mkdir(path_of_step(2), 0777));
    check_older_taken(&p, "is a directory, not a file");
    pair_end(&p);
}

static void a_link_to_nowhere_is_passed_over(void **state)
{
    (void)state;
    pair p = pair_begin();
    assert_true(!unlink(path_of_step(2)) && !symlink("nowhere", path_of_step(2)));
    check_older_taken(&p, "No such file");
    pair_end(&p);
}

static void nothing_is_changed_when_no_file_can_be_read(void **state)
{
    (void)state;
    pair p = pair_begin();
    write_bytes(path_of_step(1), "", 0);
    write_bytes(path_of_step(2), "broken", 6);
    assert_int_equal(tern_checkpoint_resume(p.ck, &p.step), -1);
    assert_error(TERN_ERR_FORMAT,
                 "checkpoint_resume: none of 2 checkpoints can be read; the newest:");
    assert_true(p.step == -1 && weight_of(&p) == 3);
    assert_int_equal(tern_checkpoint_passed_over(p.ck), 2);
    assert_non_null(strstr(tern_checkpoint_passed_over_at(p.ck, 0), "step-00000002"));
    assert_non_null(strstr(tern_checkpoint_passed_over_at(p.ck, 1), "step-00000001"));
    assert_null(tern_checkpoint_passed_over_at(p.ck, 2));
    assert_error(TERN_ERR_INDEX, "there is no file 2 of 2");
    assert_int_equal(logged.warnings, 2);
    pair_end(&p);
}

static void the_best_one_is_taken_when_all_others_are_damaged(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_checkpoint *best = tern_checkpoint_new(folder, .keep_best = "acc", .mode = TERN_MAX);
    assert_int_equal(tern_checkpoint_module(best, "model", p.net), TERN_OK);
    assert_int_equal(tern_checkpoint_save(best, 0, .metric = 1), TERN_OK);
    for (int64_t step = 0; step < 3; step++) { // anew: a hard link would be damaged as well
        assert_int_equal(unlink(path_of_step(step)), 0);
        write_bytes(path_of_step(step), "broken", 6);
    }
    fill(&p, 9);
    assert_int_equal(tern_checkpoint_resume(best, &p.step), 1);
    assert_true(p.step == 0 && weight_of(&p) == 3);
    assert_int_equal(tern_checkpoint_passed_over(best), 3);
    tern_checkpoint_free(best);
    pair_end(&p);
}

// ---- sound ones that do not fit -----------------------------------------------------------------

// The newest is refused, the older one is not taken for it, and nothing has changed.
static void check_refused(pair *p, tern_checkpoint *ck, tern_status code, const char *why)
{
    assert_int_equal(tern_checkpoint_resume(ck, &p->step), -1);
    assert_error(code, why);
    assert_int_equal(p->step, -1);
    assert_int_equal(tern_checkpoint_passed_over(ck), 0);
    assert_int_equal(logged.warnings, 0);
}

static void a_file_of_a_later_version_is_refused(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_state *later = tern_state_read(path_of_step(2));
    assert_int_equal(tern_state_set_int(later, "checkpoint.version", 2), TERN_OK);
    assert_int_equal(tern_state_set_text(later, "checkpoint.more", "?"), TERN_OK);
    assert_int_equal(tern_state_write(later, path_of_step(3)), TERN_OK);
    tern_state_free(later);
    check_refused(&p, p.ck, TERN_ERR_UNSUPPORTED,
                  "the newest checkpoint is of version 2, and tern");
    assert_true(weight_of(&p) == 3);
    pair_end(&p);
}

static void the_weights_of_another_model_are_refused(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_module *wide = tern_nn_linear(41, 3);
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_module(ck, "model", wide), TERN_OK);
    const double before = value_at(tern_module_parameter(wide, "weight"), 0);
    check_refused(&p, ck, TERN_ERR_SHAPE,
                  "checkpoint_resume: step-00000002.safetensors: mismatched 1: \"model.weight\" is "
                  "float32 (3, 40) in the state and float32 (3, 41) here");
    assert_true(value_at(tern_module_parameter(wide, "weight"), 0) == before);
    tern_checkpoint_free(ck);
    tern_module_free(wide);
    pair_end(&p);
}

static void a_renamed_layer_is_refused(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_module *inside = tern_nn_sequential(tern_module_retain(p.net));
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_module(ck, "model", inside), TERN_OK);
    check_refused(&p, ck, TERN_ERR_ARG, "missing 2: \"model.0.weight\" (is it \"model.weight\"?)");
    tern_checkpoint_free(ck);
    tern_module_free(inside);
    pair_end(&p);
}

static void another_kind_of_optimizer_is_refused(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_optim *adam = tern_optim_adam(p.net), *sgd = tern_optim_sgd(p.net);
    tern_checkpoint *ck = tern_checkpoint_new(folder), *other = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_optim(ck, "optim", adam), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 5), TERN_OK);
    assert_int_equal(tern_checkpoint_optim(other, "optim", sgd), TERN_OK);
    check_refused(&p, other, TERN_ERR_ARG, "\"optim.optimizer\" is Adam in the state and SGD here");
    tern_checkpoint_free(ck);
    tern_checkpoint_free(other);
    tern_optim_free(adam);
    tern_optim_free(sgd);
    pair_end(&p);
}

static void a_part_that_is_missing_or_too_many_is_refused(void **state)
{
    (void)state;
    double number = 4;
    pair p = pair_begin();
    tern_checkpoint *none = tern_checkpoint_new(folder);
    check_refused(&p, none, TERN_ERR_ARG, "unexpected 2: \"model.weight\", \"model.bias\"");
    assert_int_equal(tern_checkpoint_number(p.ck, "best", &number), TERN_OK);
    check_refused(&p, p.ck, TERN_ERR_ARG, "missing 1: \"best\"");
    assert_true(number == 4 && weight_of(&p) == 3);
    tern_checkpoint_free(none);
    pair_end(&p);
}

static void weights_under_the_name_of_a_checkpoint_are_refused(void **state)
{
    (void)state;
    pair p = pair_begin();
    assert_int_equal(tern_module_save(p.net, path_of_step(7)), TERN_OK);
    check_refused(&p, p.ck, TERN_ERR_ARG, "step-00000007.safetensors: missing");
    pair_end(&p);
}

// Steps of an optimizer beyond what its formulas know, and of the checkpoint below 0.
static void counts_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t count;
        const char *why;
    } rows[] = {
        {"optim.weight.step", INT64_MAX, "\"optim.weight.step\" is 9223372036854775807 updates"},
        {"optim.weight.step", INT64_MAX - 1, "is 9223372036854775806 updates"},
        {"optim.weight.step", -1, "is -1 updates"},
        {"checkpoint.step", INT64_MIN, "\"checkpoint.step\" is -9223372036854775808, not 0"},
        {"checkpoint.version", 0, "is 0, not 1 or more"},
        {"checkpoint.version", INT64_MIN, "is -9223372036854775808, not 1 or more"},
    };
    pair p = pair_begin();
    tern_optim *sgd = tern_optim_sgd(p.net, .momentum = 0.9);
    assert_int_equal(tern_checkpoint_optim(p.ck, "optim", sgd), TERN_OK);
    assert_int_equal(tern_checkpoint_save(p.ck, 3), TERN_OK);
    tern_state *saved = tern_state_read(path_of_step(3));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tern_state *changed = tern_state_copy(saved);
        assert_int_equal(tern_state_set_int(changed, rows[i].name, rows[i].count), TERN_OK);
        assert_int_equal(tern_state_write(changed, path_of_step(3)), TERN_OK);
        tern_state_free(changed);
        assert_int_equal(tern_checkpoint_resume(p.ck, &p.step), -1);
        const tern_status code = tern_error_code();
        assert_error(code, rows[i].why);
        assert_int_equal(tern_optim_step_count(sgd, 0), 0);
    }
    tern_state_free(saved);
    tern_optim_free(sgd);
    pair_end(&p);
}

// ---- calls that do not fit the moment -----------------------------------------------------------

static void a_save_with_unusable_gradients_is_refused(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 2);
    tern_optim *optim = tern_optim_sgd(net);
    tern_checkpoint *by_net = tern_checkpoint_new(folder), *by_optim = tern_checkpoint_new(folder);
    tern_checkpoint *by_tensor = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_module(by_net, "model", net), TERN_OK);
    assert_int_equal(tern_checkpoint_optim(by_optim, "optim", optim), TERN_OK);
    assert_int_equal(tern_checkpoint_tensor(by_tensor, "w", tern_module_parameter(net, "weight")),
                     TERN_OK);
    tern_tensor *x = tern_ones(tern_dims(3, 2), .requires_grad = true);
    tern_tensor *y = tern_forward(net, tern_mul(x, x));
    tern_no_grad {
        tern_fill_(x, 2); // which the graph has saved
    }
    assert_int_not_equal(tern_backward(tern_sum_all(y)), TERN_OK);
    tern_error_clear();
    tern_checkpoint *const all[] = {by_net, by_optim, by_tensor};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tern_checkpoint_save(all[i], 1), TERN_ERR_STATE);
        assert_error(TERN_ERR_STATE, "checkpoint_save: the gradient of ");
    }
    assert_int_equal(count_files(), 0);
    tern_optim_zero_grad(optim);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tern_checkpoint_save(all[i], 1), TERN_OK);
        tern_checkpoint_free(all[i]);
    }
    tern_optim_free(optim);
    tern_module_free(net);
}

static void a_pending_error_is_looked_at_first(void **state)
{
    (void)state;
    pair p = pair_begin();
    tern_error_raise(TERN_ERR_ARG, "the loss is odd");
    assert_int_equal(tern_checkpoint_save(p.ck, 9), TERN_ERR_STATE);
    assert_int_equal(tern_checkpoint_resume(p.ck, &p.step), -1);
    assert_error(TERN_ERR_ARG, "the loss is odd");
    assert_false(step_exists(9));
    assert_true(weight_of(&p) == 3);
    pair_end(&p);
}

static tern_status visit_and_save(void *object, tern_state_visitor *visitor)
{
    (void)visitor;
    tern_checkpoint_free(object); // refused, too
    tern_error_clear();
    return tern_checkpoint_save(object, 10);
}

static void a_visit_function_does_not_use_its_checkpoint(void **state)
{
    (void)state;
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_add(ck, "odd", visit_and_save, ck), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 9), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "checkpoint_save: called by a visit function of this checkpoint");
    assert_int_equal(count_files(), 0);
    tern_checkpoint_free(ck);
}

static void a_file_in_the_place_of_the_folder_is_refused(void **state)
{
    (void)state;
    write_bytes(path_of("file"), "x", 1);
    assert_null(tern_checkpoint_new(path_of("file")));
    assert_error(TERN_ERR_IO, "is a file, not a folder");
    assert_null(tern_checkpoint_new(path_of("file/below")));
    assert_error(TERN_ERR_IO, "Not a directory");
    tern_checkpoint *ck = tern_checkpoint_new(path_of("a/b/c/"));
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_OK);
    assert_true(exists(path_of("a/b/c/step-00000001.safetensors")));
    tern_checkpoint_free(ck);
}

static void a_folder_that_goes_away_is_an_error(void **state)
{
    (void)state;
    int64_t step = 3;
    tern_checkpoint *ck = tern_checkpoint_new(path_of("gone"));
    assert_int_equal(rmdir(path_of("gone")), 0);
    assert_int_equal(tern_checkpoint_save(ck, 1), TERN_ERR_IO);
    assert_error(TERN_ERR_IO, "No such file or directory");
    assert_int_equal(tern_checkpoint_resume(ck, &step), -1);
    assert_error(TERN_ERR_IO, "checkpoint_resume: cannot open the folder");
    assert_int_equal(step, 3);
    tern_checkpoint_free(ck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_file_cut_anywhere_is_passed_over),
        FOLDER_TEST(a_file_with_a_changed_element_is_passed_over),
        FOLDER_TEST(a_folder_in_the_place_of_a_file_is_passed_over),
        FOLDER_TEST(a_link_to_nowhere_is_passed_over),
        FOLDER_TEST(nothing_is_changed_when_no_file_can_be_read),
        FOLDER_TEST(the_best_one_is_taken_when_all_others_are_damaged),
        FOLDER_TEST(a_file_of_a_later_version_is_refused),
        FOLDER_TEST(the_weights_of_another_model_are_refused),
        FOLDER_TEST(a_renamed_layer_is_refused),
        FOLDER_TEST(another_kind_of_optimizer_is_refused),
        FOLDER_TEST(a_part_that_is_missing_or_too_many_is_refused),
        FOLDER_TEST(weights_under_the_name_of_a_checkpoint_are_refused),
        FOLDER_TEST(counts_out_of_range_are_refused),
        FOLDER_TEST(a_save_with_unusable_gradients_is_refused),
        FOLDER_TEST(a_pending_error_is_looked_at_first),
        FOLDER_TEST(a_visit_function_does_not_use_its_checkpoint),
        FOLDER_TEST(a_file_in_the_place_of_the_folder_is_refused),
        FOLDER_TEST(a_folder_that_goes_away_is_an_error),
    };
    return cmocka_run_group_tests_name("damaged checkpoints", tests, NULL, check_shutdown);
}
