// SPDX-License-Identifier: Apache-2.0
// States of PyTorch's generator, made by tests/golden/make_files_torch.py, both ways.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/data_fixture.h"
#include "torch_bytes.h"

enum { SIZE = TERN_TORCH_GENERATOR_SIZE };

// The state, then what it gives next.
static byte_string golden(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/torch_generator_%s.bin", TERN_IO_DATA, name);
    byte_string file = read_bytes(path);
    assert_int_equal(file.count, SIZE + 7 * 8);
    return file;
}

// 4 numbers of rand and 3 of randn, which end with one that waits.
static void assert_draws(tern_generator *g, const unsigned char *expected)
{
    tern_tensor *uniform = tern_rand(tern_dims(4), .dtype = TERN_FLOAT64, .generator = g);
    tern_tensor *normal = tern_randn(tern_dims(3), .dtype = TERN_FLOAT64, .generator = g);
    assert_memory_equal(tern_data(uniform), expected, 32);
    for (int i = 0; i < 3; i++) { // of logarithms and sines, whose last bits are the library's
        double theirs;
        memcpy(&theirs, expected + 32 + 8 * i, 8);
        assert_true(fabs(((double *)tern_data(normal))[i] - theirs) <= 4e-16 * fabs(theirs));
    }
}

// How many words were drawn from which seed (make_files_torch.py).
static const struct {
    const char *name;
    uint64_t seed;
    int draws;
} saved[] = {{"0", 42, 0},
             {"1", UINT64_MAX, 1},
             {"623", 42 + 623, 623},
             {"624", 42 + 624, 624},
             {"625", 42 + 625, 625}};
enum { SAVED = sizeof saved / sizeof *saved };

static void a_state_of_pytorch_goes_on_with_its_numbers(void **state)
{
    (void)state;
    const char *const names[] = {"0", "1", "623", "624", "625", "normal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        byte_string file = golden(names[i]);
        tern_generator *g = tern_generator_new(1);
        assert_int_equal(tern_generator_from_torch(g, file.at, SIZE), TERN_OK);
        assert_draws(g, file.at + SIZE);
        tern_generator_free(g);
        free_bytes(&file);
    }
}

static void the_bytes_are_those_of_pytorch(void **state)
{
    (void)state;
    for (int i = 0; i < SAVED; i++) {
        unsigned char bytes[SIZE];
        byte_string file = golden(saved[i].name);
        tern_generator *g = tern_generator_new(saved[i].seed);
        if (saved[i].draws) // a word each: the range is below 2^28
            assert_non_null(tern_randint(0, 1 << 20, tern_dims(saved[i].draws), .generator = g));
        assert_int_equal(tern_generator_to_torch(g, bytes, sizeof bytes), TERN_OK);
        assert_memory_equal(bytes, file.at, SIZE);
        tern_generator_free(g);
        free_bytes(&file);
    }
}

static void a_waiting_normal_draw_has_its_place(void **state)
{
    (void)state;
    unsigned char bytes[SIZE];
    byte_string file = golden("normal");
    tern_generator *g = tern_generator_new(7);
    assert_non_null(tern_randn(tern_dims(1), .dtype = TERN_FLOAT64, .generator = g));
    assert_int_equal(tern_generator_to_torch(g, bytes, sizeof bytes), TERN_OK);
    double own, theirs;
    memcpy(&own, bytes + 5024, 8);
    memcpy(&theirs, file.at + 5024, 8);
    assert_true(theirs != 0 && fabs(own - theirs) <= 4e-16 * fabs(theirs));
    memcpy(bytes + 5024, &theirs, 8);
    assert_memory_equal(bytes, file.at, SIZE);
    tern_generator_free(g);
    free_bytes(&file);
}

static void there_and_back_gives_the_same_bytes(void **state)
{
    (void)state;
    unsigned char bytes[SIZE];
    tern_generator *g = tern_generator_new(3);
    const char *const names[] = {"0", "1", "623", "624", "625", "normal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        byte_string file = golden(names[i]);
        assert_int_equal(tern_generator_from_torch(g, file.at, SIZE), TERN_OK);
        assert_int_equal(tern_generator_to_torch(g, bytes, sizeof bytes), TERN_OK);
        assert_memory_equal(bytes, file.at, SIZE);
        free_bytes(&file);
    }
    tern_generator_free(g);
}

// Changed at one place of a good state: what is refused, and what the sentence says.
static const struct {
    const char *name;
    size_t at;
    unsigned char byte;
    const char *words;
} bad[] = {
    {"not_seeded", 12, 0, "without a seed"},
    {"seeded_twice", 12, 2, "not PyTorch's"},
    {"some_left", 8, 0, "512 words are left after word 1 of 624"},
    {"too_many_left", 9, 3, "880 words are left"}, // 112 + 768
    {"another_left", 8, 5, "517 words are left after word 1"},
    {"next_of_another", 16, 2, "624 words are left after word 2"},
    {"next_beyond", 18, 1, "624 words are left after word 65537"},
    {"a_wide_word", 24 + 8 * 7 + 4, 1, "word 7 has more than 32 bits"},
    {"two_normals", 5040, 2, "a normal draw waiting"},
    {"a_float_normal", 5052, 1, "a normal draw waiting"},
};

static void what_is_no_state_of_pytorch_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    byte_string file = golden("1");
    tern_generator *g = tern_generator_new(9), *same = tern_generator_new(9);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const unsigned char before = file.at[bad[i].at];
        file.at[bad[i].at] = bad[i].byte;
        if (tern_generator_from_torch(g, file.at, SIZE) == TERN_OK)
            fail_msg("%s", bad[i].name);
        assert_error(TERN_ERR_FORMAT, bad[i].words);
        file.at[bad[i].at] = before;
    }
    for (size_t size = SIZE - 1; size <= SIZE + 1; size += 2) {
        assert_int_equal(tern_generator_from_torch(g, file.at, size), TERN_ERR_FORMAT);
        assert_error(TERN_ERR_FORMAT, "a state of PyTorch's has 5056 bytes, not");
    }
    free_bytes(&file);
    file = golden("624");
    file.at[8] = 0;
    assert_int_equal(tern_generator_from_torch(g, file.at, SIZE), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "0 words are left after word 624 of 624");
    tern_tensor *one = tern_rand(tern_dims(8), .generator = g);
    tern_tensor *other = tern_rand(tern_dims(8), .generator = same);
    assert_memory_equal(tern_data(one), tern_data(other), 32);
    tern_generator_free(g);
    tern_generator_free(same);
    free_bytes(&file);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_state_of_pytorch_goes_on_with_its_numbers),
        DATA_TEST(the_bytes_are_those_of_pytorch),
        DATA_TEST(a_waiting_normal_draw_has_its_place),
        DATA_TEST(there_and_back_gives_the_same_bytes),
        DATA_TEST(what_is_no_state_of_pytorch_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("generator_torch", tests, start_group, end_group);
}
