// SPDX-License-Identifier: Apache-2.0
// Fewer points that draw the same picture.
#include "support/check.h"
#include "train/run/thin.h"

enum { MANY = 1000000, COLUMNS = 640 };

static int64_t kept[TERN_RUN_THIN_POINTS(COLUMNS)];

static void check_kept(int64_t count, const int64_t *expected, int64_t expected_count)
{
    assert_int_equal(count, expected_count);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(kept[i], expected[i]);
}

static void each_column_keeps_its_least_and_greatest_value(void **state)
{
    (void)state;
    const int64_t steps[] = {0, 1, 2, 3, 4, 5, 6, 7};
    const double values[] = {5, 9, 1, 5, 5, 2, 8, 5};
    const int64_t expected[] = {0, 1, 2, 5, 6, 7};
    check_kept(tern_run_thin(8, steps, values, 2, kept), expected, 6);
}

static void the_first_and_the_last_point_stay(void **state)
{
    (void)state;
    const int64_t steps[] = {10, 20, 30, 40};
    const double values[] = {2, 1, 3, 2};
    const int64_t all[] = {0, 1, 2, 3}, only[] = {0};
    check_kept(tern_run_thin(4, steps, values, 1, kept), all, 4);
    check_kept(tern_run_thin(1, steps, values, 1, kept), only, 1);
    assert_int_equal(tern_run_thin(0, steps, values, 1, kept), 0);
}

static void the_first_value_of_a_column_that_is_not_finite_stays(void **state)
{
    (void)state;
    const int64_t steps[] = {0, 1, 2, 3, 4, 5};
    const double values[] = {1, NAN, INFINITY, 0, 2, 1}, none[] = {NAN, NAN, NAN};
    const int64_t expected[] = {0, 1, 3, 4, 5}, ends[] = {0, 2};
    check_kept(tern_run_thin(6, steps, values, 1, kept), expected, 5);
    check_kept(tern_run_thin(3, steps, none, 1, kept), ends, 2);
}

static void steps_may_be_as_far_apart_as_they_can_be(void **state)
{
    (void)state;
    const int64_t steps[] = {INT64_MIN, 0, INT64_MAX};
    const double values[] = {1, 2, 3};
    const int64_t expected[] = {0, 1, 2};
    check_kept(tern_run_thin(3, steps, values, 2, kept), expected, 3);
    assert_int_equal(tern_run_column(INT64_MIN, INT64_MAX, INT64_MIN, 640), 0);
    assert_int_equal(tern_run_column(INT64_MIN, INT64_MAX, INT64_MAX, 640), 639);
    assert_int_equal(tern_run_column(7, 7, 7, 640), 0);
}

// Against a search of each column's points, with NaN and ties among them.
static void a_million_points_keep_every_extreme(void **state)
{
    (void)state;
    int64_t *steps = malloc(MANY * sizeof *steps);
    double *values = malloc(MANY * sizeof *values);
    double least[COLUMNS], greatest[COLUMNS];
    uint32_t random = 12345;
    assert_true(steps && values);
    for (int k = 0; k < COLUMNS; k++)
        least[k] = INFINITY, greatest[k] = -INFINITY;
    for (int64_t i = 0; i < MANY; i++) {
        random = random * 1664525u + 1013904223u;
        steps[i] = 3 * i;
        values[i] = random % 100 == 0 ? NAN : (double)(random >> 20);
    }
    for (int64_t i = 0; i < MANY; i++) {
        const int64_t k = tern_run_column(0, steps[MANY - 1], steps[i], COLUMNS);
        least[k] = fmin(least[k], values[i]);
        greatest[k] = fmax(greatest[k], values[i]);
    }
    const int64_t count = tern_run_thin(MANY, steps, values, COLUMNS, kept);
    assert_true(count <= TERN_RUN_THIN_POINTS(COLUMNS));
    assert_true(kept[0] == 0 && kept[count - 1] == MANY - 1);
    bool has_least[COLUMNS] = {false}, has_greatest[COLUMNS] = {false};
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = tern_run_column(0, steps[MANY - 1], steps[kept[i]], COLUMNS);
        assert_true(i == 0 || kept[i] > kept[i - 1]);
        has_least[k] |= values[kept[i]] == least[k];
        has_greatest[k] |= values[kept[i]] == greatest[k];
    }
    for (int k = 0; k < COLUMNS; k++)
        assert_true(has_least[k] && has_greatest[k]);
    free(steps);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_keeps_its_least_and_greatest_value),
        cmocka_unit_test(the_first_and_the_last_point_stay),
        cmocka_unit_test(the_first_value_of_a_column_that_is_not_finite_stays),
        cmocka_unit_test(steps_may_be_as_far_apart_as_they_can_be),
        cmocka_unit_test(a_million_points_keep_every_extreme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
