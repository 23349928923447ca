// SPDX-License-Identifier: Apache-2.0
/// @file
/// Logs of a run: curves, histograms, images, texts and settings, for TensorBoard, pandas and jq.
///
///     tern_logger *log = tern_logger_new("runs/a", .csv = true);
///     if (!log)
///         return tern_error_print(stderr);
///     tern_logger_add_scalar(log, "train/loss", tern_item(loss), step);
///     tern_logger_add_module_histograms(log, net, step);
///     tern_logger_free(log);
///
/// The folder gets an event file for TensorBoard, log.jsonl (a JSON object a line, as in
/// docs/log.schema.json) and, if wanted, log.csv (scalars alone). A thread of the library's own
/// writes them, at least every 0.2 s; the calls below put what they are given into a queue and
/// never wait, neither for the disk nor for a device. What does not fit in the queue is dropped and
/// counted, with one warning. A process that is killed loses what the queue holds, one that exits
/// nothing, with or without tern_logger_free. A disk that cannot be written is one warning; the
/// training goes on.
///
/// A NULL logger is fine everywhere: nothing is logged. A call that is refused leaves an error
/// pending and returns its code, which need not be looked at: tern_optim_step does. TERN_ERR_ARG
/// for a tag that is empty, is no UTF-8, has control characters, more than 1023 bytes, or was used
/// for another kind of value, and for a negative step; TERN_ERR_STATE in a forked child, and for
/// a logger that was freed. Steps may go back. Threads: several may log at once.
#ifndef TERN_LOGGER_H
#define TERN_LOGGER_H

#include <tern/options.h>
#include <tern/error.h>
#include <tern/module.h>
#include <tern/run.h>
#include <tern/setting.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Where a run is logged to.
typedef struct tern_logger tern_logger;
TERN_REQUIRED_TYPE_(logger, tern_logger *)

/// `tern_logger_new("runs/a", .csv = true, .resume_step = step)`.
typedef struct tern_logger_new_options {
    bool tensorboard;    ///< events.out.tfevents.*
    bool jsonl;          ///< log.jsonl
    bool csv;            ///< log.csv
    int64_t resume_step; ///< goes on with the run in the folder, behind this step; -1: a new run
    const char *name;    ///< of the run; NULL: the last part of the folder's name
    int64_t bins;        ///< of histograms, 1 to 1024
    int64_t capacity;    ///< of the queue: entries, 16 or more
    int64_t max_bytes;   ///< of tensors and texts in the queue, 0 or more
    char reserved_;
    const char *folder; ///< where the files are; made when it is not there
} tern_logger_new_options;
#define TERN_LOGGER_NEW_DEFAULTS_                                                                  \
    .tensorboard = true, .jsonl = true, .csv = false, .resume_step = -1, .name = NULL, .bins = 64, \
    .capacity = 16384, .max_bytes = 268435456
#define TERN_LOGGER_NEW_FIELDS_ 1, 0, (folder), (text)
TERN_API tern_logger_new_options tern_logger_new_defaults(void);
/// Begins to log into a folder; freed with tern_logger_free. NULL on failure: TERN_ERR_STATE when
/// another logger, of this process or another, writes there, and, without .resume_step, when the
/// folder has the log of another run. A folder that cannot be made or written is a warning, and a
/// logger that drops everything.
///
/// With .resume_step = n the files go on: what they have of greater steps is taken out (a
/// TensorBoard that runs is told to forget it), and so is a torn end that a kill left. It is what
/// tern_checkpoint_resume gave. No file there is fine.
TERN_API tern_logger *tern_logger_new_with(const tern_logger_new_options *options);
#define tern_logger_new(...)                                                                       \
    TERN_WITH_(tern_logger_new, tern_logger_new, TERN_LOGGER_NEW, __VA_ARGS__)

/// Sets what tern_logger_free writes down. Unless set, it is "finished", or "failed" while an error
/// is pending there; "stopped" when the process exits without it. TERN_ERR_ARG but for
/// TERN_RUN_FINISHED, _STOPPED and _FAILED.
TERN_API tern_status tern_logger_set_status(tern_logger *logger, tern_run_status status);

/// Writes everything, how the run ended as well, and frees the logger; waits for the disk. NULL is
/// fine; one that was freed is TERN_ERR_STATE, here and wherever it is used. In a forked child it
/// writes nothing.
TERN_API void tern_logger_free(tern_logger *logger);
/// Waits until everything that was logged before is in the files, as far as they can be written.
TERN_API tern_status tern_logger_flush(tern_logger *logger);
/// How many entries were dropped so far: the queue was full, the disk could not be written, or
/// values made no sense (see the calls). 0 for NULL; -1 on failure.
TERN_API int64_t tern_logger_dropped(const tern_logger *logger);

// ---- numbers ------------------------------------------------------------------------------------

/// A point of the curve `tag`. NaN and infinities are logged as such.
TERN_API tern_status tern_logger_add_scalar(tern_logger *logger, const char *tag, double value,
                                            int64_t step);
/// Likewise the one element of a tensor on any device, as it is now in the device's order of work;
/// the caller does not wait. TERN_ERR_SHAPE for more elements; TERN_ERR_STATE while the calling
/// thread captures, here and with every tensor below.
TERN_API tern_status tern_logger_add_tensor_scalar(tern_logger *logger, const char *tag,
                                                   tern_tensor *value, int64_t step);

/// The distribution of a tensor's elements, of any shape, dtype and device: counts in .bins ranges
/// of one width from the least to the greatest (numpy.histogram), and sum and sum of squares. NaN
/// and infinities are counted apart.
TERN_API tern_status tern_logger_add_histogram(tern_logger *logger, const char *tag,
                                               tern_tensor *values, int64_t step);
/// The histograms of all parameters, "weights/<name>", and of their gradients, where there are any,
/// "gradients/<name>".
TERN_API tern_status tern_logger_add_module_histograms(tern_logger *logger, tern_module *module,
                                                       int64_t step);

// ---- images and texts ---------------------------------------------------------------------------

/// `tern_logger_add_image(log, "valid/mistakes/1", image, step, .caption = "Shirt as Coat")`.
typedef struct tern_logger_add_image_options {
    const char *caption; ///< a text in UTF-8 that the page shows below it, or NULL; TensorBoard has
                         ///< no place for it
    char reserved_;
    tern_logger *logger; ///< where it goes
    const char *tag;     ///< of the image
    tern_tensor *image;  ///< (C, H, W) or (H, W)
    int64_t step;        ///< 0 or more
} tern_logger_add_image_options;
#define TERN_LOGGER_ADD_IMAGE_DEFAULTS_ .caption = NULL
#define TERN_LOGGER_ADD_IMAGE_FIELDS_                                                              \
    4, 0, (logger, tag, image, step), (logger, text, tensor, int64)
TERN_API tern_logger_add_image_options tern_logger_add_image_defaults(void);
/// An image of 1 to 4 channels, as tern_image_write takes it: uint8, or float32 or float64 in
/// [0, 1]. TERN_ERR_SHAPE, TERN_ERR_DTYPE; one with NaN is dropped, with a warning. Several become
/// one by tern_image_grid.
TERN_API tern_status tern_logger_add_image_with(const tern_logger_add_image_options *options);
#define tern_logger_add_image(...)                                                                 \
    TERN_WITH_(tern_logger_add_image, tern_logger_add_image, TERN_LOGGER_ADD_IMAGE, __VA_ARGS__)
/// A text in UTF-8, of which TensorBoard shows Markdown; else TERN_ERR_ARG.
TERN_API tern_status tern_logger_add_text(tern_logger *logger, const char *tag, const char *text,
                                          int64_t step);

// ---- classifiers --------------------------------------------------------------------------------

/// Counts (C, C) of targets (rows) and predictions (columns), C from 1 to 1000, of any dtype and
/// device; fractions are rounded, and one with NaN or a number below 0 is dropped, with a warning.
/// `class_names` are C texts, or NULL. TensorBoard gets an image of it, each row divided by its
/// sum, and a table as text up to 32 classes.
TERN_API tern_status tern_logger_add_confusion_matrix(tern_logger *logger, const char *tag,
                                                      tern_tensor *matrix,
                                                      const char *const *class_names, int64_t step);

/// `tern_logger_add_pr_curve(log, "valid/pr", labels, predictions, step, .num_thresholds = 64)`.
typedef struct tern_logger_add_pr_curve_options {
    int64_t num_thresholds; ///< 2 to 127, equally far apart from 0 to 1
    char reserved_;
    tern_logger *logger;      ///< where it goes
    const char *tag;          ///< of the curve
    tern_tensor *labels;      ///< 0 or 1 (true) each
    tern_tensor *predictions; ///< as many, each in [0, 1]
    int64_t step;             ///< 0 or more
} tern_logger_add_pr_curve_options;
#define TERN_LOGGER_ADD_PR_CURVE_DEFAULTS_ .num_thresholds = 127
#define TERN_LOGGER_ADD_PR_CURVE_FIELDS_                                                           \
    5, 0, (logger, tag, labels, predictions, step), (logger, text, tensor, tensor, int64)
TERN_API tern_logger_add_pr_curve_options tern_logger_add_pr_curve_defaults(void);
/// Precision and recall of a binary classifier for each threshold, as SummaryWriter's add_pr_curve
/// computes them. TERN_ERR_SHAPE for other numbers of elements; predictions outside of [0, 1] and
/// labels that are neither 0 nor 1 drop it, with a warning.
TERN_API tern_status tern_logger_add_pr_curve_with(const tern_logger_add_pr_curve_options *options);
#define tern_logger_add_pr_curve(...)                                                              \
    TERN_WITH_(tern_logger_add_pr_curve, tern_logger_add_pr_curve, TERN_LOGGER_ADD_PR_CURVE,       \
               __VA_ARGS__)

// ---- the run ------------------------------------------------------------------------------------

/// Writes the settings down: TensorBoard's hyper-parameters, which it shows beside the curves of
/// several runs. Names may be given once.
TERN_API tern_status tern_logger_add_settings(tern_logger *logger, const tern_setting *settings,
                                              int64_t count) TERN_READS_(2, 3);

/// Has the page run.html of the folder (run.h) written anew, by the thread that writes the logs,
/// and once more when the run ends. TERN_ERR_STATE for a logger without .jsonl, of which it is
/// made.
TERN_API tern_status tern_logger_add_page(tern_logger *logger);

TERN_END_DECLS

#endif
