// SPDX-License-Identifier: Apache-2.0
// Checkpoints and other processes: two that save into one folder, one that may not write there, and
// what one that was killed has left. Each process of a test is new to the library.
#include <fcntl.h>
#include <sys/file.h>
#include <tern/io.h>

#include "processes.h"
#include "train_test.h"

// ---- two processes in one folder ----------------------------------------------------------------

enum { ROUNDS = 60 };

static tern_checkpoint *numbered(tern_tensor *t, int64_t *owner)
{
    tern_checkpoint *ck =
        tern_checkpoint_new(folder, .keep_last = 1, .keep_best = "m", .mode = TERN_MAX);
    return tern_checkpoint_tensor(ck, "t", t) || tern_checkpoint_int(ck, "owner", owner) ? NULL
                                                                                         : ck;
}

// All elements are owner * ROUNDS + step.
static int save_many(int number)
{
    int64_t owner = number;
    tern_tensor *t = tern_zeros(tern_dims(20000));
    tern_checkpoint *ck = numbered(t, &owner);
    for (int64_t step = 1; step <= ROUNDS; step++) {
        tern_fill_(t, (double)(number * ROUNDS + step));
        EXPECT(!tern_checkpoint_save(ck, step, .metric = (double)(step * 7 % 31)));
    }
    tern_checkpoint_free(ck);
    return 0;
}

static bool is_whole(tern_tensor *t, int64_t owner, int64_t step)
{
    tern_tensor *due = tern_full(tern_dims(), (double)(owner * ROUNDS + step));
    return tern_item_int(tern_sum_all(tern_ne(t, due))) == 0;
}

// While the others save: whatever is found is whole.
static int resume_many(int number)
{
    int64_t owner = 0;
    tern_tensor *t = tern_zeros(tern_dims(20000));
    tern_checkpoint *ck = numbered(t, &owner);
    for (int i = 0; i < number; i++) {
        int64_t step = 0;
        const int resumed = tern_checkpoint_resume(ck, &step);
        EXPECT(resumed >= 0);
        EXPECT(tern_checkpoint_passed_over(ck) == 0);
        EXPECT(!resumed || is_whole(t, owner, step));
    }
    tern_checkpoint_free(ck);
    return 0;
}

static void two_processes_that_save_into_one_folder_damage_nothing(void **state)
{
    (void)state;
    pid_t children[] = {start(save_many, 1), start(save_many, 2), start(resume_many, 200)};
    for (int i = 0; i < 3; i++)
        assert_int_equal(end_of(children[i]), 0);
    int64_t owner = 0, step = 0;
    double metric = 0;
    tern_tensor *t = tern_zeros(tern_dims(20000));
    tern_checkpoint *ck = numbered(t, &owner);
    assert_int_equal(tern_checkpoint_resume(ck, &step), 1);
    assert_int_equal(step, ROUNDS);
    assert_true(is_whole(t, owner, step));
    assert_int_equal(count_files(), 2);
    tern_state *best = tern_state_read(path_of("best.safetensors"));
    assert_int_equal(tern_state_get_double(best, "checkpoint.metric", &metric), TERN_OK);
    assert_true(metric == 30);
    tern_state_free(best);
    tern_checkpoint_free(ck);
    tern_shutdown();
}

// ---- a folder that is not ours ------------------------------------------------------------------

static int save_once(int step)
{
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    EXPECT(ck && !tern_checkpoint_save(ck, step));
    tern_checkpoint_free(ck);
    return 0;
}

static int try_to_save(int step)
{
    int64_t resumed = 0;
    EXPECT(getuid() != 0 || !setuid(65534));
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    EXPECT(tern_checkpoint_save(ck, step) == TERN_ERR_IO);
    EXPECT(strstr(tern_error_message(), "Permission denied"));
    EXPECT(strstr(tern_error_message(), "step-00000002.safetensors"));
    tern_error_clear();
    EXPECT(tern_checkpoint_resume(ck, &resumed) == 1 && resumed == 1);
    tern_checkpoint_free(ck);
    return 0;
}

static void a_folder_that_can_only_be_read_is_resumed_from(void **state)
{
    (void)state;
    assert_int_equal(end_of(start(save_once, 1)), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(end_of(start(try_to_save, 2)), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(count_files(), 1);
}

// ---- what was left ------------------------------------------------------------------------------

static const char *temporary(const char *name, pid_t process)
{
    char full[128];
    snprintf(full, sizeof full, ".%s.tmp.%ld.0", name, (long)process);
    return path_of(full);
}

static int return_0(int number)
{
    return number;
}

static int resume_nothing(int number)
{
    int64_t step;
    tern_checkpoint *ck = tern_checkpoint_new(folder);
    EXPECT(ck && tern_checkpoint_resume(ck, &step) == number);
    tern_checkpoint_free(ck);
    return 0;
}

// Whoever writes a temporary file holds a lock on it.
static void temporary_files_that_nobody_writes_any_more_go(void **state)
{
    (void)state;
    int locked[2];
    static const char *const ours[] = {"step-00000009.safetensors", "best.safetensors"};
    for (int way = 0; way < 2; way++) {
        const pid_t dead = start(return_0, 0);
        assert_int_equal(end_of(dead), 0);
        for (int i = 0; i < 2; i++) {
            write_bytes(temporary(ours[i], dead), "left", 4);
            write_bytes(temporary(ours[i], getpid()), "at work", 7);
            locked[i] = open(temporary(ours[i], getpid()), O_RDONLY | O_CLOEXEC);
            assert_int_equal(flock(locked[i], LOCK_EX), 0);
        }
        write_bytes(temporary("notes.safetensors", dead), "not ours", 8);
        const pid_t child = way ? start(save_once, 1) : start(resume_nothing, 0);
        assert_int_equal(end_of(child), 0);
        for (int i = 0; i < 2; i++) {
            assert_false(exists(temporary(ours[i], dead)));
            assert_true(exists(temporary(ours[i], getpid())));
            close(locked[i]);
        }
        assert_true(exists(temporary("notes.safetensors", dead)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_folder_that_can_only_be_read_is_resumed_from),
        FOLDER_TEST(temporary_files_that_nobody_writes_any_more_go),
        FOLDER_TEST(two_processes_that_save_into_one_folder_damage_nothing),
    };
    return cmocka_run_group_tests_name("checkpoints of several processes", tests, NULL,
                                       check_shutdown);
}
