// SPDX-License-Identifier: Apache-2.0
// A run is stopped after each number of steps, and a new process goes on with it: losses, weights,
// optimizer, the order of samples and the random numbers have the bits of a run that went on.
#include <tern/io.h>

#include "processes.h"
#include "train_test.h"

enum { MOST_STEPS = 50, ALL_STEPS = 56 };

static float losses[ALL_STEPS];

// What a child has to tell: the losses from a step on, and the state at the end.
static int tell(run *r, int from, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "%s.losses", name);
    write_bytes(path_of(path), losses + from, (size_t)(ALL_STEPS - from) * sizeof *losses);
    snprintf(path, sizeof path, "%s.safetensors", name);
    tern_state *state = tern_state_of(visit_run, r);
    tern_state *random = tern_random_state_dict();
    size_t size = 0;
    const void *bytes = tern_state_bytes(random, "generators.cpu", &size);
    EXPECT(!tern_state_set_bytes(state, "generator", bytes, size));
    EXPECT(!tern_state_write(state, path_of(path)));
    tern_state_free(random);
    tern_state_free(state);
    run_end(r);
    return 0;
}

static int go_on(int seed)
{
    run r = run_begin((uint64_t)seed);
    run_train(&r, ALL_STEPS, losses);
    return tell(&r, 0, "whole");
}

static int stop(int step)
{
    run r = run_begin(1);
    run_train(&r, step, losses);
    tern_checkpoint *ck = checkpoint_of(&r);
    EXPECT(!tern_checkpoint_save(ck, step));
    tern_checkpoint_free(ck);
    run_end(&r);
    return 0;
}

static int resume(int step)
{
    int64_t resumed = -1;
    run r = run_begin(2);
    tern_checkpoint *ck = checkpoint_of(&r);
    EXPECT(tern_checkpoint_resume(ck, &resumed) == 1 && resumed == step);
    tern_checkpoint_free(ck);
    run_train(&r, ALL_STEPS - step, losses + step);
    return tell(&r, step, "rest");
}

static void check_same_bytes(const char *name, const char *other, size_t from)
{
    size_t size, other_size;
    char *bytes = read_bytes(path_of(name), &size),
         *others = read_bytes(path_of(other), &other_size);
    assert_int_equal(size - from, other_size);
    assert_memory_equal(bytes + from, others, other_size);
    free(bytes);
    free(others);
}

static void a_run_resumed_after_any_step_has_the_bits_of_one_that_went_on(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(go_on, 1)), 0);
    for (int step = 0; step <= MOST_STEPS; step++) {
        assert_int_equal(end_of(start(stop, step)), 0);
        assert_int_equal(end_of(start(resume, step)), 0);
        check_same_bytes("whole.losses", "rest.losses", (size_t)step * sizeof *losses);
        check_same_bytes("whole.safetensors", "rest.safetensors", 0);
        assert_int_equal(unlink(path_of_step(step)), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_run_resumed_after_any_step_has_the_bits_of_one_that_went_on),
    };
    return cmocka_run_group_tests_name("resuming in a new process", tests, NULL, check_shutdown);
}
