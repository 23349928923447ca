// SPDX-License-Identifier: Apache-2.0
// Splits of datasets, with PyTorch's samples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compose_test.h"
#include "golden/golden.h"

static void assert_part(tern_dataset *part, const golden_case *c, int which)
{
    char name[16];
    snprintf(name, sizeof name, "part%d", which);
    const golden_array *stored = golden_find_array(c, name);
    assert_non_null(stored);
    assert_int_equal(tern_dataset_count(part), stored->numel);
    for (int64_t i = 0; i < stored->numel; i++)
        assert_true(value(part, i) == (double)((const int64_t *)stored->data)[i]);
}

static void check_split(const golden_case *c)
{
    enum { MOST = 8 };
    double sizes[MOST];
    int64_t lengths[MOST];
    tern_dataset *part[MOST];
    const int64_t samples = (int64_t)golden_number(c, "samples", 0);
    const bool fractions = golden_number(c, "fractions", 0) != 0;
    const int count = golden_numbers(c, "sizes", sizes, MOST);
    for (int i = 0; i < count; i++)
        lengths[i] = (int64_t)sizes[i];
    tern_generator *own =
        golden_number(c, "own", 0) != 0 ? tern_generator_new((uint64_t)samples) : NULL;
    tern_manual_seed(11);
    tern_dataset *all = numbers(0, samples);
    tern_manual_seed(11);
    tern_status status =
        fractions ? tern_data_random_split(all, count, part, .fractions = sizes, .generator = own)
                  : tern_data_random_split(all, count, part, .lengths = lengths, .generator = own);
    assert_int_equal(status, TERN_OK);
    for (int i = 0; i < count; i++) {
        assert_part(part[i], c, i);
        tern_dataset_free(part[i]);
    }
    assert_memory_equal(tern_data(tern_rand(tern_dims(1), .generator = own)),
                        golden_values(c, "after", TERN_FLOAT32, 1), sizeof(float));
    tern_dataset_free(all);
    tern_generator_free(own);
}

// Stored by tests/golden/make_datasets.py.
static void a_split_has_the_samples_that_pytorchs_has(void **state)
{
    (void)state;
    const golden_file *file = golden_read("datasets");
    int checked = 0;
    for (int i = 0; i < file->count; i++)
        if (strncmp(file->cases[i].name, "split ", 6) == 0) {
            check_split(&file->cases[i]);
            checked++;
        }
    assert_true(checked >= 8);
}

static void a_split_that_is_refused_draws_nothing(void **state)
{
    (void)state;
    tern_dataset *all = numbers(0, 10), *part[2] = {all, all};
    tern_generator *own = tern_generator_new(3), *same = tern_generator_new(3);
    const int64_t lengths[] = {4, 5};
    assert_int_equal(tern_data_random_split(all, 2, part, .lengths = lengths, .generator = own),
                     TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "the lengths add up to 9, but data_tensors has 10 samples");
    assert_null(part[0]);
    assert_null(part[1]);
    for (int64_t n = 1;; n++) {
        const int64_t fits[] = {4, 6};
        const int64_t before = memory.bytes;
        fail_nth_allocation(n);
        tern_status status =
            tern_data_random_split(all, 2, part, .lengths = fits, .generator = own);
        const bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        if (!failed) {
            assert_int_equal(status, TERN_OK);
            assert_true(n > 4);
            break;
        }
        assert_error(TERN_ERR_NOMEM, "no memory");
        assert_null(part[0]);
        assert_int_equal(memory.bytes, before);
        assert_memory_equal(tern_data(tern_rand(tern_dims(1), .generator = own)),
                            tern_data(tern_rand(tern_dims(1), .generator = same)), sizeof(float));
    }
    tern_dataset_free(part[0]);
    tern_dataset_free(part[1]);
    tern_generator_free(own);
    tern_generator_free(same);
    tern_dataset_free(all);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_split_has_the_samples_that_pytorchs_has),
        DATA_TEST(a_split_that_is_refused_draws_nothing),
    };
    return cmocka_run_group_tests_name("random_split", tests, start_group, end_group);
}
