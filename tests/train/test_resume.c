// SPDX-License-Identifier: Apache-2.0
// A whole training run that is interrupted and goes on in objects made anew: module with dropout,
// optimizer, loader in the middle of a shuffled epoch over random samples, and random numbers.
#include "support/small_run.h"
#include "support/state_check.h"
#include "support/tensor_check.h"

enum { STEPS = 12 };

static void check_run(run *r, const tern_state *expected)
{
    tern_state *found = tern_state_of(visit_run, r);
    check_states(found, expected, true);
    tern_state_free(found);
}

static void check_interrupted_after(int before)
{
    const int after = STEPS - before;
    float past[STEPS], whole[STEPS], rest[STEPS];
    run first = run_begin(1);
    run_train(&first, before, past);
    tern_state *own = tern_state_of(visit_run, &first), *saved = tern_state_copy(own);
    tern_state *random = tern_random_state_dict();
    run_train(&first, after, whole);
    tern_state *expected = tern_state_of(visit_run, &first);
    run second = run_begin(2);
    run_train(&second, 2, past); // it has a history of its own
    assert_int_equal(tern_state_load(saved, visit_run, &second), TERN_OK);
    assert_int_equal(tern_random_load_state_dict(random), TERN_OK);
    check_run(&second, saved);
    run_train(&second, after, rest);
    assert_memory_equal(rest, whole, (size_t)after * sizeof *rest);
    check_run(&second, expected);
    tern_state *const states[] = {own, saved, random, expected};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        tern_state_free(states[i]);
    run_end(&first);
    run_end(&second);
}

static void an_interrupted_run_has_the_bits_of_one_that_went_on(void **state)
{
    (void)state;
    check_interrupted_after(0);
    check_interrupted_after(3);
    check_interrupted_after(BATCHES);
    check_interrupted_after(8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_interrupted_run_has_the_bits_of_one_that_went_on),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, check_shutdown);
}
