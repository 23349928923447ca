// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reading a run back: its curves, histograms, images and settings from log.jsonl, and the page
/// that shows them.
///
///     tern_run *run = tern_run_read("runs/a");
///     tern_run_points loss;
///     if (run && !tern_run_curve(run, "valid/loss", &loss) && loss.count > 0)
///         printf("%g\n", loss.values[loss.count - 1]);
///     tern_run_free(run);
///
///     if (tern_run_page_write("runs/a/run.html", 1, (const char *[]){"runs/a"}))
///         tern_error_print(stderr);
///
/// Lines are read as docs/log.schema.json describes them. The run may still be going on: a last
/// line without its newline is left for the next tern_run_update. A line that is damaged is passed
/// over and counted, one of an unknown kind passed over. Of a step that was logged twice the last
/// line counts, and a process that resumed at step N takes back what came before it for later
/// steps. Memory: 24 bytes a point of a curve, up to 32 histograms a tag, and the last image, text
/// and matrix of each; lines of more than 64 MiB are damaged.
///
/// What a run hands out belongs to it, and is valid until it is updated or freed. Failed calls
/// return NULL, a status or -1, with an error pending. Waits for the disk, for no device. Threads:
/// a run is used by one at a time.
#ifndef TERN_RUN_H
#define TERN_RUN_H

#include <tern/base.h>
#include <tern/error.h>

TERN_BEGIN_DECLS

/// What the log of a folder says.
typedef struct tern_run tern_run;

/// How a run stands.
typedef enum tern_run_status {
    TERN_RUN_UNSPECIFIED = 0, ///< no such status
    TERN_RUN_RUNNING,         ///< its process is there, or, on another host, the log is written to
    TERN_RUN_FINISHED,        ///< it came to its end
    TERN_RUN_STOPPED,         ///< it was interrupted, and ended well
    TERN_RUN_FAILED,          ///< an error ended it
    TERN_RUN_KILLED ///< the log has no end, and its process is gone; on another host, nothing was
                    ///< written for ten minutes
} tern_run_status;

/// The name of a status, "running"; "unknown" for any other number. Static storage.
TERN_API const char *tern_run_status_name(tern_run_status status);

/// What is asked for by tag.
typedef enum tern_run_kind {
    TERN_RUN_KIND_UNSPECIFIED = 0, ///< no such kind
    TERN_RUN_SCALAR,               ///< curves
    TERN_RUN_HISTOGRAM,            ///< distributions of many numbers
    TERN_RUN_IMAGE,                ///< images
    TERN_RUN_TEXT,                 ///< texts
    TERN_RUN_MATRIX,               ///< confusion matrices
    TERN_RUN_PR_CURVE              ///< precision and recall by threshold
} tern_run_kind;

/// A run as a whole.
typedef struct tern_run_info {
    const char *name;       ///< as it was given, else that of the folder
    const char *folder;     ///< as tern_run_read was given it
    tern_run_status status; ///< when it was read or updated last
    double started;         ///< when its first process began, seconds since 1970; 0: not known
    double written;         ///< the time of its last line; likewise
    double seconds;         ///< that its processes ran for, the pauses between them left out
    int64_t processes;      ///< that wrote it one after the other: 1, and one for each resume
    int64_t last_step;      ///< the greatest; -1: none
    int64_t lines;          ///< read so far, those that were passed over among them
    int64_t damaged;        ///< lines that are not what they should be
    int64_t dropped;        ///< values that its logger had no time for
} tern_run_info;

/// Of a curve: one point a step, in the order of steps.
typedef struct tern_run_points {
    int64_t count;        ///< of points
    const int64_t *steps; ///< (count), ascending
    const double *times;  ///< (count), seconds since 1970
    const double *values; ///< (count), NaN and infinities among them
} tern_run_points;

/// How numbers were distributed at a step.
typedef struct tern_run_buckets {
    int64_t step;         ///< when
    double min;           ///< the least number
    double max;           ///< the greatest one
    double count;         ///< how many finite numbers there were
    int64_t nan;          ///< how many others were NaN
    int64_t inf;          ///< how many were infinite
    int64_t buckets;      ///< how many there are
    const double *limits; ///< (buckets) right edges, ascending
    const double *counts; ///< (buckets) numbers in each
} tern_run_buckets;

/// An image.
typedef struct tern_run_picture {
    int64_t step;     ///< when
    int64_t height;   ///< in pixels
    int64_t width;    ///< likewise
    const char *png;  ///< its PNG file in base64
    const char *text; ///< what stands below it, "" for nothing
} tern_run_picture;

/// A confusion matrix: how often a class (row) was taken for another (column).
typedef struct tern_run_cells {
    int64_t step;             ///< when
    int64_t rows;             ///< classes
    int64_t columns;          ///< classes that were predicted
    const double *values;     ///< (rows, columns)
    const char *const *names; ///< (rows) of the classes, or NULL
} tern_run_cells;

/// Precision and recall, one of each for a threshold.
typedef struct tern_run_pr {
    int64_t step;            ///< when
    int64_t count;           ///< of thresholds
    const double *precision; ///< (count)
    const double *recall;    ///< (count)
} tern_run_pr;

/// A setting of a run, or a fact of the machine that it ran on.
typedef struct tern_run_fact {
    const char *name; ///< "lr"
    const char *text; ///< its value as JSON writes it, a text without quotes
    bool is_text;     ///< whether that is a text
} tern_run_fact;

/// Reads log.jsonl of a folder; freed with tern_run_free. NULL on failure: TERN_ERR_IO where there
/// is none or it cannot be read.
TERN_API tern_run *tern_run_read(const char *folder);
/// Reads what was written since: 1 when there was something, 0 when not; the status of the run is
/// looked at anew. A log that was replaced or cut is read from its beginning. -1 on failure; what
/// was read until then stays.
TERN_API int tern_run_update(tern_run *run);
/// NULL is fine.
TERN_API void tern_run_free(tern_run *run);

/// Name, status, times and counts.
TERN_API TERN_NODISCARD tern_status tern_run_describe(const tern_run *run, tern_run_info *info);
/// How many tags of a kind there are; -1 on failure.
TERN_API int64_t tern_run_tags(const tern_run *run, tern_run_kind kind);
/// One of them, in the order of their first lines. NULL with TERN_ERR_INDEX.
TERN_API const char *tern_run_tag(const tern_run *run, tern_run_kind kind, int64_t index);

// The next write what a tag has; TERN_ERR_INDEX where the run has none of this kind by that name.

/// All points of a curve.
TERN_API TERN_NODISCARD tern_status tern_run_curve(const tern_run *run, const char *tag,
                                                   tern_run_points *points);
/// How many histograms of a tag are kept, evenly over the run: 32 at most. -1 on failure.
TERN_API int64_t tern_run_histograms(const tern_run *run, const char *tag);
/// One of them; the last is the latest one. TERN_ERR_INDEX also for a number out of range.
TERN_API TERN_NODISCARD tern_status tern_run_histogram(const tern_run *run, const char *tag,
                                                       int64_t index, tern_run_buckets *buckets);
/// The last image.
TERN_API TERN_NODISCARD tern_status tern_run_image(const tern_run *run, const char *tag,
                                                   tern_run_picture *picture);
/// The last text; NULL on failure.
TERN_API const char *tern_run_text(const tern_run *run, const char *tag);
/// The last confusion matrix.
TERN_API TERN_NODISCARD tern_status tern_run_matrix(const tern_run *run, const char *tag,
                                                    tern_run_cells *cells);
/// The last precision-recall curve.
TERN_API TERN_NODISCARD tern_status tern_run_pr_curve(const tern_run *run, const char *tag,
                                                      tern_run_pr *curve);

/// How many settings it has; -1 on failure.
TERN_API int64_t tern_run_settings(const tern_run *run);
/// One of them, in their order; the name is NULL with TERN_ERR_INDEX.
TERN_API tern_run_fact tern_run_setting(const tern_run *run, int64_t index);
/// How many facts its last process wrote of itself and the machine: "seed", "tern" (the version),
/// "host", "pid", "cpu", "threads", ..; -1 on failure.
TERN_API int64_t tern_run_facts(const tern_run *run);
/// One of them; the name is NULL with TERN_ERR_INDEX.
TERN_API tern_run_fact tern_run_fact_at(const tern_run *run, int64_t index);

/// Writes one HTML page of `count` runs, to be read without network or server, over what has the
/// path, whole or not at all. While a run is going on its page loads itself again every few
/// seconds, so that a page which is written anew is seen. Curves of more than 2000 points are
/// thinned to the least and greatest value of each pixel column. TERN_ERR_ARG for a count that is
/// not 1 to 32; TERN_ERR_IO where a log cannot be read or the disk refuses.
TERN_API TERN_NODISCARD tern_status tern_run_page_write(const char *path, int64_t count,
                                                        const char *const *folders)
    TERN_READS_(3, 2);

TERN_END_DECLS

#endif
