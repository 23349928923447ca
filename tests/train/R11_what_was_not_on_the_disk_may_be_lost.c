// SPDX-License-Identifier: Apache-2.0
// A machine that stops: of what was written and not yet put on the disk any part may be lost, in
// any order and in pieces of 512 bytes. Whatever is left, the last checkpoint that was saved is
// loaded, or the one that was being saved, whole.
#include <tern/io.h>

#include "file_calls.h"
#include "train_test.h"

enum { MOST_CALLS = 512, MOST_FILES = 64, SAVES = 5, CRASHES = 1000, SECTOR = 512 };

// ---- what was done ------------------------------------------------------------------------------

typedef struct done_call {
    call_kind kind;
    bool of_folder;  // an fsync of it
    int file;        // the number of the file, of open, write and fsync
    size_t at, size; // of a write
    char *bytes;
    char name[64], to[64];
} done_call;

static done_call done[MOST_CALLS];
static int done_count, file_count;
static int file_of_fd[1024]; // -1: the folder
static size_t size_of_file[MOST_FILES];

static void copy_name(char name[64], const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(name, 64, "%s", slash ? slash + 1 : "");
}

static void note(call_kind kind, int fd, const char *name, const char *to, const void *bytes,
                 ssize_t size)
{
    done_call *call = &done[done_count];
    if (done_count == MOST_CALLS || file_count == MOST_FILES || fd >= 1024)
        abort();
    if (kind == OPEN)
        file_of_fd[fd] = name ? file_count++ : -1;
    if (kind == CLOSE || (kind == OPEN && !name))
        return;
    *call = (done_call){.kind = kind, .file = fd < 0 ? -1 : file_of_fd[fd]};
    call->of_folder = kind == FSYNC && call->file < 0;
    copy_name(call->name, name);
    copy_name(call->to, to);
    if (kind == WRITE) {
        call->at = size_of_file[call->file];
        call->size = (size_t)size;
        call->bytes = malloc(call->size + 1);
        if (!call->bytes)
            abort();
        memcpy(call->bytes, bytes, call->size);
        size_of_file[call->file] += call->size;
    }
    done_count++;
}

// ---- what is left of it -------------------------------------------------------------------------

typedef struct disk {
    char *bytes[MOST_FILES];
    size_t size[MOST_FILES];
    struct {
        char name[64];
        int file; // -1: none
    } names[MOST_CALLS];
    int name_count;
} disk;

static disk left;
static uint64_t random_state;

// xorshift64*
static uint64_t draw(uint64_t below)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (random_state * UINT64_C(2685821657736338717) >> 11) % below;
}

// Whether a later call before the crash put it on the disk.
static bool is_durable(int index, int crash)
{
    for (int i = index + 1; i < crash; i++) {
        const bool same =
            done[index].kind == WRITE ? done[i].file == done[index].file : done[i].of_folder;
        if (done[i].kind == FSYNC && same)
            return true;
    }
    return false;
}

static void write_left(const done_call *call, bool durable)
{
    char **bytes = &left.bytes[call->file];
    if (!*bytes)
        *bytes = calloc(1, size_of_file[call->file] + 1);
    assert_non_null(*bytes);
    const bool lost = !durable && draw(3) == 0, torn = !durable && draw(2) == 0;
    for (size_t at = 0; !lost && at < call->size; at += SECTOR) {
        const size_t size = call->size - at < SECTOR ? call->size - at : SECTOR;
        if (torn && draw(2) == 0)
            continue;
        memcpy(*bytes + call->at + at, call->bytes + at, size);
        if (call->at + at + size > left.size[call->file])
            left.size[call->file] = call->at + at + size;
    }
}

static int *file_named(const char *name)
{
    for (int i = 0; i < left.name_count; i++)
        if (strcmp(left.names[i].name, name) == 0)
            return &left.names[i].file;
    strcpy(left.names[left.name_count].name, name);
    left.names[left.name_count].file = -1;
    return &left.names[left.name_count++].file;
}

static void name_left(const done_call *call)
{
    int *file = file_named(call->name);
    if (call->kind == OPEN)
        *file = call->file;
    else if (call->kind != UNLINK && *file >= 0)
        *file_named(call->to) = *file;
    if (call->kind == RENAME || call->kind == UNLINK)
        *file = -1;
}

// Plays the calls before the crash; what is not durable may not have come through.
static void play(int crash)
{
    for (int i = 0; i < MOST_FILES; i++)
        free(left.bytes[i]);
    memset(&left, 0, sizeof left);
    for (int i = 0; i < crash; i++) {
        const bool durable = is_durable(i, crash);
        if (done[i].kind == WRITE)
            write_left(&done[i], durable);
        else if (done[i].kind != FSYNC && (durable || draw(2) == 0))
            name_left(&done[i]);
    }
}

static void write_folder(void)
{
    assert_int_equal(mkdir(path_of("left"), 0777), 0);
    for (int i = 0; i < left.name_count; i++) {
        char name[128];
        const int file = left.names[i].file;
        snprintf(name, sizeof name, "left/%s", left.names[i].name);
        if (file >= 0)
            write_bytes(path_of(name), left.bytes[file] ? left.bytes[file] : "", left.size[file]);
    }
}

// ---- the crashes --------------------------------------------------------------------------------

static tern_checkpoint *checkpoint_in(const char *path, tern_tensor *t)
{
    tern_checkpoint *ck =
        tern_checkpoint_new(path, .keep_last = 1, .keep_best = "m", .mode = TERN_MAX);
    assert_non_null(ck);
    assert_int_equal(tern_checkpoint_tensor(ck, "t", t), TERN_OK);
    return ck;
}

static const double metrics[SAVES] = {1, 2, 5, 3, 4};

// How many calls had been done when save 0, 1, ... was done.
static void save_all(int ends[SAVES])
{
    tern_tensor *t = tern_zeros(tern_dims(5000));
    tern_checkpoint *ck = checkpoint_in(path_of("run"), t);
    calls.note = note;
    calls_watch();
    for (int64_t i = 0; i < SAVES; i++) {
        tern_fill_(t, (double)i);
        assert_int_equal(tern_checkpoint_save(ck, i, .metric = metrics[i]), TERN_OK);
        ends[i] = done_count;
    }
    calls.watched = false;
    tern_checkpoint_free(ck);
}

// As good as the best one that was saved.
static void check_best(int64_t last)
{
    double metric = 0;
    if (last < 0)
        return;
    tern_state *best = tern_state_read(path_of("left/best.safetensors"));
    assert_no_error();
    assert_int_equal(tern_state_get_double(best, "checkpoint.metric", &metric), TERN_OK);
    assert_true(metric >= (last < 2 ? metrics[last] : metrics[2]));
    tern_state_free(best);
}

static void check_crash(int crash, const int ends[SAVES])
{
    int64_t step = -1, last = -1;
    tern_tensor *t = tern_full(tern_dims(5000), -1);
    for (int64_t i = 0; i < SAVES; i++)
        last = ends[i] <= crash ? i : last;
    play(crash);
    write_folder();
    tern_checkpoint *ck = checkpoint_in(path_of("left"), t);
    const int resumed = tern_checkpoint_resume(ck, &step);
    if (last >= 0 || resumed > 0) {
        assert_int_equal(resumed, 1);
        if (step != last && step != last + 1)
            fail_msg("a crash at call %d, after step %d, leaves step %d", crash, (int)last,
                     (int)step);
        tern_tensor *wrong = tern_sum_all(tern_ne(t, tern_full(tern_dims(), (double)step)));
        assert_int_equal(tern_item_int(wrong), 0);
    }
    tern_error_clear();
    check_best(last);
    tern_checkpoint_free(ck);
    assert_int_equal(nftw(path_of("left"), remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void the_last_good_one_is_loaded_whatever_was_lost(void **state)
{
    (void)state;
    int ends[SAVES];
    const char *seed = getenv("TERN_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    tern_set_log(log_line, NULL);
    save_all(ends);
    assert_int_equal(done_count, ends[SAVES - 1]);
    assert_true(done_count > 8 * SAVES);
    for (int i = 0; i < CRASHES; i++) {
        tern_scope scope = tern_scope_open();
        check_crash((int)draw((uint64_t)done_count + 1), ends);
        tern_scope_close(scope);
    }
    play(0);
    for (int i = 0; i < done_count; i++)
        free(done[i].bytes);
    print_message("%d calls, %d crashes, %d files passed over\n", done_count, CRASHES,
                  logged.warnings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_last_good_one_is_loaded_whatever_was_lost),
    };
    return cmocka_run_group_tests_name("lost writes", tests, NULL, check_shutdown);
}
