// SPDX-License-Identifier: Apache-2.0
// A logger inside the library. Threads that log put entries into a ring; the writer, a thread of
// the library's, makes records of them and writes these. Neither keeps the other from its work: the
// writer takes no lock that an entry needs, and whoever logs waits for no other thread but one that
// logs.
#ifndef TERN_SRC_TRAIN_LOG_STATE_H
#define TERN_SRC_TRAIN_LOG_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include "autograd/thread_settings.h"
#include "base/worker.h"
#include "train/log/file.h"
#include "train/log/tags.h"

// What an entry has besides numbers: one block of memory, freed by tern_log_payload_free (ring.h).
typedef struct tern_log_payload {
    size_t nbytes;           // of the block
    int64_t cost;            // bytes that count for .max_bytes
    tern_tensor *tensors[2]; // snapshots, held; NULL: none
    int64_t count;           // of settings, thresholds, or class names
    union {
        const tern_setting *settings; // these point into `bytes`
        const char *const *class_names;
    };
    char bytes[]; // a text, or what the pointers above point to
} tern_log_payload;

typedef struct tern_log_entry {
    tern_log_kind kind;
    bool has_payload;
    const char *tag; // of the table of tags
    int64_t step;
    double time;
    union {
        double value;
        tern_log_payload *payload;
    };
} tern_log_entry;

typedef enum tern_log_format {
    TERN_LOG_EVENTS,
    TERN_LOG_JSON_LINES,
    TERN_LOG_CSV,
    TERN_LOG_FORMATS
} tern_log_format;

struct tern_logger {
    bool freed;       // what comes after it is gone then
    _Atomic bool off; // the folder cannot be written: everything is dropped

    // Of the threads that log.
    pthread_mutex_t lock;
    tern_log_tags tags;
    double last_time;     // of an entry
    double last_due;      // without a thread: when entries were written
    tern_log_entry *ring; // (capacity)
    int64_t capacity;
    int64_t max_bytes;
    _Atomic int64_t head;      // entries that the writer is done with
    _Atomic int64_t tail;      // entries so far
    _Atomic int64_t nbytes;    // of payloads in the ring
    _Atomic int64_t dropped;   // entries that did not fit
    _Atomic int64_t unwritten; // entries that could not be written
    _Atomic bool has_page;     // one is asked for
    _Atomic int status;        // tern_run_status

    // Between them and the writer.
    pthread_mutex_t wake;
    pthread_cond_t work; // `urgent` or `stop`
    pthread_cond_t done; // `written` has changed
    bool urgent, stop;
    int64_t written; // entries that are in the files

    // The writer's.
    tern_worker *thread; // NULL: whoever logs is the writer
    tern_thread_settings settings;
    char *folder; // absolute
    char *name;   // of the run
    int64_t bins;
    int lock_fd;
    tern_log_file files[TERN_LOG_FORMATS];
    tern_run *page_run;  // what the page was made of last; NULL: there is none
    double written_time; // of the line that was written last
    bool has_settings;   // of which TensorBoard wants to know the end
    int64_t reported;    // of `dropped` and `unwritten`, in log.jsonl
    bool warned_full, warned_disk, warned_values;
    int64_t resume_step; // -1: a new run
    tern_logger *next;   // of those that are alive
};

#endif
