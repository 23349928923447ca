// SPDX-License-Identifier: Apache-2.0
// What is kept of a run's log.
#ifndef TERN_SRC_TRAIN_RUN_RUN_H
#define TERN_SRC_TRAIN_RUN_RUN_H

#include <sys/types.h>
#include <tern/run.h>

#include "base/name_table.h"
#include "io/arena.h"

enum { TERN_RUN_KINDS = TERN_RUN_PR_CURVE + 1, TERN_RUN_HISTOGRAMS_KEPT = 32 };

// One value that is no scalar, in one allocation: `nbytes` with whatever it points to.
typedef union tern_run_block {
    struct {
        int64_t step, ordinal; // which histogram of its tag it is, of all that were logged
        size_t nbytes;
        union {
            tern_run_buckets buckets;
            tern_run_picture picture;
            const char *text;
            tern_run_cells cells;
            tern_run_pr pr;
        } is;
    };
    max_align_t alignment;
} tern_run_block;

// What a tag of one kind has.
typedef struct tern_run_entry {
    const char *tag; // first, for the table of names; in the arena
    // Of a curve. Lines come in the order of steps, as a rule: the points are sorted when not.
    int64_t count, steps_capacity, times_capacity, values_capacity;
    int64_t *steps;
    double *times, *values;
    bool unsorted;
    int64_t ordered; // points before the first that is out of order, where it is unsorted
    // Of the other kinds: the last one, or histograms.
    tern_run_block *blocks[TERN_RUN_HISTOGRAMS_KEPT];
    int64_t blocks_count, logged, stride;
} tern_run_entry;

typedef struct tern_run_list {
    tern_run_entry *at;
    int64_t count, capacity;
    tern_name_table table;
} tern_run_list;

typedef struct tern_run_fact_list {
    tern_run_fact *at;
    int64_t count, capacity;
} tern_run_fact_list;

struct tern_run {
    char *folder, *path; // of log.jsonl
    const char *name;    // of the folder, or what the log says; in the arena
    tern_arena arena;
    tern_run_list kinds[TERN_RUN_KINDS];
    tern_run_fact_list settings, facts;
    tern_run_info info;
    double process_started; // when the last process began
    tern_run_status ending; // what its last line says; unspecified: nothing
    const char *host;       // of it; NULL: not said
    int64_t pid;            // of it; 0: not said
    bool passing_over;      // what stands at `offset` is of a line that is too long
    int64_t offset;         // of the first byte that was not read
    dev_t device;           // of the file that was read
    ino_t inode;            // likewise
    char before[64];        // the bytes before `offset`, as many as there are
};

// tern_run_read for a function of that name.
tern_run *tern_run_open(const char *op, const char *folder);

// ---- lines --------------------------------------------------------------------------------------

// Takes one line, whose end holds a 0: TERN_ERR_FORMAT, not raised, where it is damaged; TERN_OK,
// or an error that is pending.
tern_status tern_run_line(tern_run *run, char *line, char *end);

// ---- entries ------------------------------------------------------------------------------------

// The entry of a tag, made when there is none. NULL with an error.
tern_run_entry *tern_run_entry_make(tern_run *run, tern_run_kind kind, const char *tag);
// NULL where there is none.
tern_run_entry *tern_run_entry_find(const tern_run *run, tern_run_kind kind, const char *tag);
tern_status tern_run_add_point(tern_run_entry *entry, int64_t step, double time, double value);
// Takes a block over, also when it fails.
void tern_run_add_block(tern_run_entry *entry, tern_run_block *block);
// Puts the points in order, the last of each step alone.
tern_status tern_run_sort(tern_run_entry *entry);
// Takes away what is of later steps.
tern_status tern_run_cut(tern_run *run, int64_t step);
// Frees all that was read.
void tern_run_clear(tern_run *run);

// Sets a fact of a list, over the one of this name; the texts are copied.
tern_status tern_run_set_fact(tern_run *run, tern_run_fact_list *list, const char *name,
                              const char *text, bool is_text);

// ---- the process --------------------------------------------------------------------------------

// The status of a run whose log was changed at a time, seconds since 1970.
tern_run_status tern_run_status_now(const tern_run *run, double changed);

#endif
