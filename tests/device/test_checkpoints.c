// SPDX-License-Identifier: Apache-2.0
// Checkpoints across devices: a run goes on where it was with the same bits, and elsewhere from the
// same state.
#include "device_check.h"
#include "train/train_test.h"

enum { STEPS = 6 };

static void save_after(run *r, int steps)
{
    float past[STEPS];
    run_train(r, steps, past);
    tern_checkpoint *ck = checkpoint_of(r);
    assert_int_equal(tern_checkpoint_save(ck, steps), TERN_OK);
    tern_checkpoint_free(ck);
}

// A run of another seed that resumes on `device`.
static run resumed_on(tern_device device)
{
    int64_t step = -1;
    run r = run_begin_on(device, 2);
    tern_checkpoint *ck = checkpoint_of(&r);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, 3);
    tern_checkpoint_free(ck);
    return r;
}

static void a_run_goes_on_there_with_the_same_bits(void **state)
{
    (void)state;
    float whole[STEPS], rest[STEPS];
    run first = run_begin_on(here, 1);
    save_after(&first, 3);
    run_train(&first, STEPS, whole);
    run second = resumed_on(here);
    run_train(&second, STEPS, rest);
    assert_memory_equal(whole, rest, sizeof whole);
    tern_state *a = tern_state_of(visit_run, &first), *b = tern_state_of(visit_run, &second);
    check_states(a, b, true);
    tern_state_free(a);
    tern_state_free(b);
    run_end(&first);
    run_end(&second);
}

static void check_moved(tern_device from, tern_device to)
{
    float losses[STEPS];
    run first = run_begin_on(from, 1);
    save_after(&first, 3);
    run second = resumed_on(to);
    tern_state *a = tern_state_of(visit_run, &first), *b = tern_state_of(visit_run, &second);
    check_states(a, b, true);
    assert_true(is_on(tern_state_tensor(b, "net.0.weight"), to));
    assert_true(is_on(tern_state_tensor(b, "optim.0.weight.exp_avg"), to));
    tern_state_free(a);
    tern_state_free(b);
    run_train(&second, STEPS, losses);
    run_end(&first);
    run_end(&second);
}

static void a_run_goes_on_elsewhere(void **state)
{
    (void)state;
    check_moved(here, tern_cpu(0));
    check_moved(tern_cpu(0), here);
    check_moved(here, there);
}

// Of devices that are not here, and none of one that is.
static void generators_of_other_machines_are_passed_over(void **state)
{
    (void)state;
    int64_t step;
    run r = run_begin_on(here, 1);
    save_after(&r, 3);
    tern_state *file = tern_state_read(path_of_step(3));
    const int64_t count = tern_state_count(file);
    char own[64];
    snprintf(own, sizeof own, "generators.%s", tern_device_string(here));
    size_t size = 0;
    const void *bytes = tern_state_bytes(file, own, &size);
    assert_non_null(bytes);
    assert_int_equal(tern_state_set_bytes(file, "generators.cuda:15", bytes, size), TERN_OK);
    assert_int_equal(tern_state_remove(file, own), TERN_OK);
    assert_int_equal(tern_state_count(file), count);
    assert_int_equal(tern_state_write(file, path_of_step(4)), TERN_OK);
    tern_checkpoint *ck = checkpoint_of(&r);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(tern_state_set_bytes(file, own, "odd", 3), TERN_OK);
    assert_int_equal(tern_state_write(file, path_of_step(5)), TERN_OK);
    assert_int_equal(tern_checkpoint_resume(ck, &step), -1);
    assert_error(TERN_ERR_ARG, "has 3 bytes in the state");
    tern_state_free(file);
    tern_checkpoint_free(ck);
    run_end(&r);
}

static void weights_go_to_where_the_module_is(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(tern_nn_linear(3, 2), here), *other = tern_nn_linear(3, 2);
    assert_int_equal(tern_module_save(net, path_of("net.safetensors")), TERN_OK);
    assert_int_equal(tern_module_load(other, path_of("net.safetensors")), TERN_OK);
    tern_state *a = tern_module_state_dict(net), *b = tern_module_state_dict(other);
    check_states(a, b, true);
    assert_true(is_on(tern_module_parameter(other, "weight"), tern_cpu(0)));
    tern_state_free(a);
    tern_state_free(b);
    tern_module_free(net);
    tern_module_free(other);
}

// A file of PyTorch's that says cuda:1, whether there is such a device or not.
static void weights_of_a_cuda_device_go_there_too(void **state)
{
    (void)state;
    static const char path[] = TERN_IO_DATA "/torch_cuda.pt";
    tern_module *net = tern_module_to(
        tern_nn_sequential(tern_nn_linear(3, 2), tern_nn_relu(), tern_nn_linear(2, 1)), here);
    assert_int_equal(tern_module_load(net, path), TERN_OK);
    tern_state *file = tern_state_read(path, .map_location = "cpu");
    tern_state *loaded = tern_module_state_dict(net);
    check_states(file, loaded, true);
    assert_true(is_on(tern_module_parameter(net, "0.weight"), here));
    tern_state_free(loaded);
    tern_state_free(file);
    tern_module_free(net);
}

static void a_capture_neither_saves_nor_resumes(void **state)
{
    (void)state;
    if (kind != TERN_CUDA)
        return;
    int64_t step = -1;
    run r = run_begin_on(here, 1);
    tern_checkpoint *ck = checkpoint_of(&r);
    assert_int_equal(tern_checkpoint_save(ck, 3), TERN_OK);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(tern_checkpoint_save(ck, 4), TERN_ERR_STATE);
    assert_error(TERN_ERR_STATE, "checkpoint_save: not while");
    assert_int_equal(tern_checkpoint_resume(ck, &step), -1);
    assert_error(TERN_ERR_STATE, "checkpoint_resume: not while");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    assert_false(step_exists(4));
    tern_checkpoint_free(ck);
    run_end(&r);
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    if (nothing)
        return nothing;
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_run_goes_on_there_with_the_same_bits),
        FOLDER_TEST(a_run_goes_on_elsewhere),
        FOLDER_TEST(generators_of_other_machines_are_passed_over),
        FOLDER_TEST(weights_go_to_where_the_module_is),
        FOLDER_TEST(weights_of_a_cuda_device_go_there_too),
        FOLDER_TEST(a_capture_neither_saves_nor_resumes),
    };
    return cmocka_run_group_tests_name("checkpoints across devices", tests, NULL, check_shutdown);
}
