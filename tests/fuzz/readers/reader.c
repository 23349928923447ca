// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tern/tern.h>

#include "io/locations.h"
#include "support/memory_hook.h"

char file_name[64];
static tern_file file;
static FILE *nowhere;
static int64_t before;

void must(bool holds, const char *sentence)
{
    if (holds)
        return;
    fprintf(stderr, "%s; the pending error: %s\n", sentence, tern_error_message());
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("TERN_CACHE", "0", 1); // all memory is seen
    setenv("TERN_NUM_THREADS", "1", 1);
    must(use_memory_hook() == 0, "the allocator is not counted");
    file = (tern_file){.op = "state_read", .path = file_name, .fd = memfd_create("input", 0)};
    nowhere = fopen("/dev/null", "w");
    must(file.fd >= 0 && nowhere, "there is no file to read from");
    snprintf(file_name, sizeof file_name, "/proc/self/fd/%d", file.fd);
    return 0;
}

void end_reader(void)
{
    tern_file_close(&file);
    fclose(nowhere);
}

void fail_allocation(int64_t n)
{
    fail_nth_allocation(n);
}

bool memory_fails(void)
{
    return memory.failed > 0;
}

int64_t memory_in_use(void)
{
    (void)tern_memory_trim();
    return memory.bytes;
}

tern_file *file_of(const uint8_t *data, size_t nbytes)
{
    must(ftruncate(file.fd, 0) == 0 && pwrite(file.fd, data, nbytes, 0) == (ssize_t)nbytes &&
             !tern_file_stat(&file),
         "the input is not in the file");
    return &file;
}

uint8_t *copy_of(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = malloc(nbytes ? nbytes : 1);
    must(copy, "no memory");
    if (nbytes > 0)
        memcpy(copy, data, nbytes);
    return copy;
}

void begin_call(void)
{
    (void)tern_memory_trim();
    before = memory.bytes;
    memory.peak = before;
}

void end_call(bool failed, size_t nbytes)
{
    const char *said = tern_error_message();
    must(failed == (tern_error_code() != TERN_OK),
         "a failure and a pending error are not the same");
    must(!failed || strlen(said) > 12, "an error without a sentence");
    must(!failed || memory.peak - before <= (64 << 10) + 4 * (int64_t)nbytes,
         "what is refused took more than 64 KiB and four times its bytes");
    tern_error_clear();
}

static bool verify(const tern_archive *c, size_t nbytes)
{
    for (int64_t i = 0; i < c->storage_count; i++) {
        begin_call();
        const bool failed = tern_archive_read_storage(c, &c->storages[i], "x", NULL);
        end_call(failed, nbytes);
        if (failed)
            return false;
    }
    return true;
}

static void load(tern_archive *c, const char *where)
{
    tern_locations locations;
    must(!tern_locations_parse(&locations, "state_read", where), "the CPU is not there");
    tern_state *state = tern_archive_load(c, &locations, NULL);
    must(!state == (tern_error_code() != TERN_OK), "a load without a state and without an error");
    must(!state || tern_state_count(state) == c->count, "a value was lost");
    tern_state_free(state);
    tern_error_clear();
}

bool use_archive(tern_archive *c, size_t nbytes)
{
    must(!tern_archive_list(c, nowhere), "what was read cannot be listed");
    for (int64_t i = 0; i < c->count; i++)
        must(tern_archive_find(c, c->values[i].name) == &c->values[i], "a name is not found");
    const bool fine = verify(c, nbytes);
    if (fine) {
        load(c, NULL);
        load(c, "cpu");
    }
    tern_archive_free(c);
    return fine;
}
