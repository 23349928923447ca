// SPDX-License-Identifier: Apache-2.0
// tern_with_scope and tern_each_step, left in every way that C has.
#include "support/lifetime_check.h"

static void a_block_ends_what_it_made_however_it_is_left(void **state)
{
    (void)state;
    tern_tensor *inside = NULL;
    tern_with_scope
        inside = tern_ones(tern_dims(1));
    assert_dead(inside, DIED_WITH_ITS_SCOPE);
    tern_with_scope {
        inside = tern_ones(tern_dims(1));
        if (inside)
            break; // leaves the block
        fail();
    }
    assert_dead(inside, DIED_WITH_ITS_SCOPE);
}

static int64_t live_in_step(int step, int64_t *most)
{
    for (int i = 0; i < step; i++)
        (void)!tern_ones(tern_dims(1));
    const int64_t live = tern_live_tensors();
    *most = live > *most ? live : *most;
    return live;
}

static void each_step_ends_what_it_made(void **state)
{
    (void)state;
    const int64_t before = tern_live_tensors();
    int64_t most = 0;
    int rounds = 0, last = 0;
    tern_each_step (step, 5) {
        assert_int_equal(step, ++rounds);
        assert_int_equal(live_in_step(step, &most), before + step);
        last = step;
        if (step == 2)
            continue;
        if (step == 4)
            break;
    }
    assert_int_equal(last, 4);
    assert_int_equal(most, before + 4);
    assert_int_equal(tern_live_tensors(), before);
    tern_each_step (step, 0)
        fail();
    rounds = 0;
    tern_each_step (step, 3)
        rounds += step;
    assert_int_equal(rounds, 1 + 2 + 3);
}

static void steps_end_with_a_failure(void **state)
{
    (void)state;
    int rounds = 0;
    tern_each_step (step, 5) {
        rounds = step;
        if (step == 3)
            (void)!tern_ones(tern_dims(-1));
    }
    assert_int_equal(rounds, 3);
    tern_each_step (step, 5)
        fail();
    assert_error(TERN_ERR_SHAPE, "ones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_block_ends_what_it_made_however_it_is_left),
        LIFETIME_TEST(each_step_ends_what_it_made),
        LIFETIME_TEST(steps_end_with_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
