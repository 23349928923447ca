// SPDX-License-Identifier: Apache-2.0
// System calls that fail while a checkpoint is saved: an error with the reason, the file that was
// there is as it was or whole and new, no temporary file stays, and the next save works.
#include <tern/io.h>

#include "file_calls.h"
#include "train_test.h"

static const int errors[] = {ENOSPC, EIO, EDQUOT, EINTR};

typedef struct saved {
    double number;
    tern_tensor *large; // takes several writes
    tern_checkpoint *ck;
} saved;

static saved saved_begin(bool keeps)
{
    saved s = {.number = 1, .large = tern_randn(tern_dims(9000))};
    s.ck = keeps ? tern_checkpoint_new(folder, .keep_last = 1, .keep_best = "m", .mode = TERN_MAX)
                 : tern_checkpoint_new(folder);
    assert_int_equal(tern_checkpoint_tensor(s.ck, "large", s.large), TERN_OK);
    return s;
}

// Whichever number it was saved with.
static double number_in(const char *path)
{
    double number = -1;
    tern_state *file = tern_state_read(path);
    assert_no_error();
    assert_int_equal(tern_state_get_double(file, "number", &number), TERN_OK);
    tern_state_free(file);
    return number;
}

// Saves step 5 again; true when the call that is to fail came.
static bool save_with_fault(saved *s, call_kind kind, int nth, int error)
{
    size_t size, size_now;
    char *before = read_bytes(path_of_step(5), &size);
    const int files = count_files();
    calls.kind = kind;
    calls.nth = nth;
    calls.error = error;
    s->number++;
    calls_watch();
    const tern_status status = tern_checkpoint_save(s->ck, 5, .metric = s->number);
    calls.watched = false;
    if (status) {
        assert_int_equal(status, TERN_ERR_IO);
        const char *reason = error == EINTR ? "Interrupted" : strerror(error);
        if (!strstr(tern_error_message(), reason))
            fail_msg("%s %d: \"%s\" does not say \"%s\"", call_names[kind], nth,
                     tern_error_message(), reason);
        tern_error_clear();
        assert_true(calls.fired);
    }
    char *now = read_bytes(path_of_step(5), &size_now);
    const bool is_old = size == size_now && memcmp(before, now, size) == 0;
    if (is_old == calls.is_renamed || (!status && is_old))
        fail_msg("%s %d with %s: the file is %s", call_names[kind], nth, strerror(error),
                 is_old ? "the old one" : "another one");
    if (!is_old)
        assert_true(number_in(path_of_step(5)) == s->number);
    assert_int_equal(count_files(), files);
    free(before);
    free(now);
    return calls.fired;
}

static int fail_each(saved *s, call_kind kind)
{
    int fired = 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        for (int nth = 1; save_with_fault(s, kind, nth, errors[i]); nth++) {
            fired++;
            assert_int_equal(tern_checkpoint_save(s->ck, 5), TERN_OK);
        }
    return fired;
}

static void a_call_that_fails_leaves_the_old_file_or_the_new_one(void **state)
{
    (void)state;
    static const struct {
        call_kind kind;
        int least; // of these calls a save makes
    } rows[] = {{OPEN, 2}, {WRITE, 2}, {FSYNC, 2}, {CLOSE, 2}, {RENAME, 1}};
    saved s = saved_begin(false);
    assert_int_equal(tern_checkpoint_number(s.ck, "number", &s.number), TERN_OK);
    assert_int_equal(tern_checkpoint_save(s.ck, 5), TERN_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int fired = fail_each(&s, rows[i].kind);
        print_message("%d failures of %s\n", fired, call_names[rows[i].kind]);
        assert_true(fired >= 4 * rows[i].least);
    }
    tern_checkpoint_free(s.ck);
}

// EINTR is no failure where a call can be made again, or was done.
static void an_interrupted_call_is_made_again(void **state)
{
    (void)state;
    static const call_kind kinds[] = {OPEN, WRITE, FSYNC, CLOSE};
    saved s = saved_begin(false);
    for (int i = 0; i < 4; i++)
        for (int nth = 1; nth < 3; nth++) {
            calls.kind = kinds[i];
            calls.nth = nth;
            calls.error = EINTR;
            calls_watch();
            assert_int_equal(tern_checkpoint_save(s.ck, 5), TERN_OK);
            calls.watched = false;
            assert_true(calls.fired);
        }
    tern_checkpoint_free(s.ck);
}

static void writes_and_reads_in_small_pieces_give_the_same(void **state)
{
    (void)state;
    size_t size, size_in_pieces;
    saved s = saved_begin(false);
    tern_state *own = tern_state_new();
    assert_int_equal(tern_state_set_tensor(own, "large", s.large), TERN_OK);
    assert_int_equal(tern_state_write(own, path_of("whole.safetensors")), TERN_OK);
    calls.nth = 0;
    calls.is_short = true;
    calls_watch();
    assert_int_equal(tern_state_write(own, path_of("pieces.safetensors")), TERN_OK);
    assert_true(calls.count[WRITE] > 700);
    tern_state *read = tern_state_read(path_of("pieces.safetensors"));
    assert_true(calls.count[PREAD] > 700);
    calls.watched = calls.is_short = false;
    check_states(own, read, true);
    char *whole = read_bytes(path_of("whole.safetensors"), &size);
    char *pieces = read_bytes(path_of("pieces.safetensors"), &size_in_pieces);
    assert_int_equal(size, size_in_pieces);
    assert_memory_equal(whole, pieces, size);
    free(whole);
    free(pieces);
    tern_state_free(own);
    tern_state_free(read);
    tern_checkpoint_free(s.ck);
}

// Where there are no hard links the best one is written a second time.
static void without_hard_links_the_best_one_is_a_copy(void **state)
{
    (void)state;
    saved s = saved_begin(true);
    assert_int_equal(tern_checkpoint_number(s.ck, "number", &s.number), TERN_OK);
    calls.kind = LINK;
    calls.nth = 1;
    calls.error = EPERM;
    calls_watch();
    assert_int_equal(tern_checkpoint_save(s.ck, 5, .metric = 1), TERN_OK);
    calls.watched = false;
    assert_true(calls.fired);
    struct stat best, last;
    assert_true(!stat(path_of("best.safetensors"), &best) && !stat(path_of_step(5), &last));
    assert_true(best.st_ino != last.st_ino);
    assert_true(number_in(path_of("best.safetensors")) == 1);
    assert_int_equal(count_files(), 2);
    tern_checkpoint_free(s.ck);
}

// A name that may not outlast a power cut is none: the best one is written, and flushed, anew.
static void a_link_that_cannot_be_flushed_is_replaced_by_a_copy(void **state)
{
    (void)state;
    saved s = saved_begin(true);
    assert_int_equal(tern_checkpoint_number(s.ck, "number", &s.number), TERN_OK);
    calls.kind = FSYNC;
    calls.nth = 3; // of the file and of its folder before
    calls.error = EIO;
    calls_watch();
    assert_int_equal(tern_checkpoint_save(s.ck, 5, .metric = 1), TERN_OK);
    calls.watched = false;
    assert_true(calls.fired && calls.count[LINK] == 1);
    struct stat best, last;
    assert_true(!stat(path_of("best.safetensors"), &best) && !stat(path_of_step(5), &last));
    assert_true(best.st_ino != last.st_ino);
    assert_true(number_in(path_of("best.safetensors")) == 1);
    assert_int_equal(count_files(), 2);
    tern_checkpoint_free(s.ck);
}

// One that is better than the best so far, or worse, is saved while a call fails; true when that
// came.
static bool best_stays(saved *s, call_kind kind, int nth, bool better)
{
    s->number++;
    assert_int_equal(tern_checkpoint_save(s->ck, 5, .metric = s->number), TERN_OK);
    assert_int_equal(tern_checkpoint_save(s->ck, 6, .metric = 0), TERN_OK);
    const double before = s->number++;
    calls.kind = kind;
    calls.nth = nth;
    calls.error = EIO;
    calls_watch();
    const tern_status status = tern_checkpoint_save(s->ck, 7, .metric = better ? s->number : 0.5);
    calls.watched = false;
    assert_true(calls.fired || !status);
    tern_error_clear();
    const double best = number_in(path_of("best.safetensors"));
    if (best != before && !(better && best == s->number))
        fail_msg("%s %d: the best one is lost", call_names[kind], nth);
    assert_int_equal(tern_checkpoint_save(s->ck, 8, .metric = s->number), TERN_OK);
    assert_true(number_in(path_of("best.safetensors")) == s->number);
    return calls.fired;
}

// With all that a save can do: the best one and the last one.
static void no_call_that_fails_loses_the_best_one(void **state)
{
    (void)state;
    saved s = saved_begin(true);
    assert_int_equal(tern_checkpoint_number(s.ck, "number", &s.number), TERN_OK);
    for (int kind = 0; kind < CALL_KINDS; kind++)
        for (int better = 0; better < 2; better++)
            for (int nth = 1; best_stays(&s, (call_kind)kind, nth, better); nth++)
                assert_true(nth < 100);
    assert_int_equal(count_files(), 2);
    tern_checkpoint_free(s.ck);
}

static void a_read_that_fails_passes_the_file_over(void **state)
{
    (void)state;
    int64_t step;
    saved s = saved_begin(false);
    assert_int_equal(tern_checkpoint_save(s.ck, 1), TERN_OK);
    assert_int_equal(tern_checkpoint_save(s.ck, 2), TERN_OK);
    watch_log();
    calls.kind = PREAD;
    calls.nth = 3;
    calls.error = EIO;
    calls_watch();
    assert_int_equal(tern_checkpoint_resume(s.ck, &step), 1);
    calls.watched = false;
    assert_true(calls.fired);
    assert_int_equal(step, 1);
    assert_int_equal(tern_checkpoint_passed_over(s.ck), 1);
    assert_non_null(strstr(tern_checkpoint_passed_over_at(s.ck, 0), strerror(EIO)));
    tern_checkpoint_free(s.ck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_call_that_fails_leaves_the_old_file_or_the_new_one),
        FOLDER_TEST(an_interrupted_call_is_made_again),
        FOLDER_TEST(writes_and_reads_in_small_pieces_give_the_same),
        FOLDER_TEST(without_hard_links_the_best_one_is_a_copy),
        FOLDER_TEST(a_link_that_cannot_be_flushed_is_replaced_by_a_copy),
        FOLDER_TEST(no_call_that_fails_loses_the_best_one),
        FOLDER_TEST(a_read_that_fails_passes_the_file_over),
    };
    return cmocka_run_group_tests_name("failing system calls", tests, NULL, check_shutdown);
}
