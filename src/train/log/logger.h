// SPDX-License-Identifier: Apache-2.0
// A logger inside the library. Threads that log put entries into a ring; the writer, a thread of
// the library's, makes records of them and writes these. Neither keeps the other from its work: the
// writer takes no lock that an entry needs, and whoever logs waits for no other thread but one that
// logs.
#ifndef TERN_SRC_TRAIN_LOG_LOGGER_H
#define TERN_SRC_TRAIN_LOG_LOGGER_H

#include <pthread.h>
#include <stdatomic.h>
#include "autograd/thread_settings.h"
#include "base/worker.h"
#include "image/image.h"
#include "train/log/file.h"
#include "train/log/record.h"
#include "train/log/tags.h"

// What an entry has besides numbers: one block of memory, freed by tern_log_payload_free.
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
    _Atomic int64_t head;    // entries that the writer is done with
    _Atomic int64_t tail;    // entries so far
    _Atomic int64_t nbytes;  // of payloads in the ring
    _Atomic int64_t dropped; // entries that did not fit
    _Atomic int64_t lost;    // entries that could not be written
    _Atomic bool has_page;   // one is asked for
    _Atomic int status;      // tern_run_status

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
    tern_run *page_run; // what the page was made of last; NULL: there is none
    bool has_settings;  // of which TensorBoard wants to know the end
    int64_t reported;   // of `dropped` and `lost`, in log.jsonl
    bool warned_full, warned_disk, warned_values;
    int64_t resume_step; // -1: a new run
    tern_logger *next;   // of those that are alive
};

// ---- the queue ----------------------------------------------------------------------------------

// NULL follows no rule here: callers have returned before. Refuses a freed one and a forked child;
// the second also what is no tag, or one of another kind, and a negative step.
tern_status tern_logger_check(const char *op, const tern_logger *logger);
tern_status tern_logger_check_entry(const char *op, tern_logger *logger, const char *tag,
                                    tern_log_kind kind, int64_t step);
// Whether an entry with a payload of that many bytes would be dropped now; it is counted then.
bool tern_logger_is_full(tern_logger *logger, int64_t nbytes);
// Appends an entry, whose payload is the logger's from here on; what does not fit is dropped. Fails
// for what is no tag, or one of another kind.
tern_status tern_logger_push(const char *op, tern_logger *logger, tern_log_entry entry,
                             const char *tag);
// A payload with so many bytes at its end. NULL raises.
tern_log_payload *tern_log_payload_new(size_t nbytes);
void tern_log_payload_free(tern_log_payload *payload); // NULL is fine

// ---- the writer ---------------------------------------------------------------------------------

// Writes what is in the ring.
void tern_logger_drain(tern_logger *logger);
// The thread, until logger->stop.
void tern_logger_run(void *logger);
// Ends the thread with everything written, the end of the run too, and closes the files.
void tern_logger_end(tern_logger *logger, tern_run_status status);

// What a record is made of; `scratch` holds it. False, with an error, where it cannot be made.
typedef struct tern_log_scratch {
    void *memory;
    size_t nbytes;
    tern_image_bytes png;
} tern_log_scratch;
bool tern_log_record_make(int64_t bins, const tern_log_entry *entry, tern_log_record *record,
                          tern_log_scratch *scratch);
// Writes the page; false, with an error, where that fails.
bool tern_log_page_write(tern_logger *logger);
// Once more where there is one, as the run has ended.
void tern_log_page_end(tern_logger *logger);
void tern_log_scratch_free(tern_log_scratch *scratch);

// The first line of log.jsonl that a process writes, and others that are no entries.
void tern_log_run_line(tern_log_bytes *to, const tern_logger *logger, double time);
void tern_log_dropped_line(tern_log_bytes *to, int64_t count, double time);
void tern_log_end_line(tern_log_bytes *to, tern_run_status status, double time);

// ---- making -------------------------------------------------------------------------------------

// Now, or the last time before a clock went back. With the lock held.
double tern_logger_time(tern_logger *logger);
// Those that are alive end with the process.
void tern_logger_register(tern_logger *logger);
void tern_logger_unregister(tern_logger *logger);

#endif
