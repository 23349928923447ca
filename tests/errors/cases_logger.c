// SPDX-License-Identifier: Apache-2.0
// logger.h
#include "errors.h"

#define LOG f->logger

// A logger that is NULL takes everything, but hands on nothing: there is nothing in it to check.
#define NO_LOGGER(function, ...) TAKES(function, "a logger that is NULL", (__VA_ARGS__) == TERN_OK)

// The cases that all calls with a tag and a step have: `call` with TAG and STEP in their place.
#define TAG_AND_STEP(function, op, null_tag, bad_tag, bad_step)                                    \
    REFUSES(function, "a tag that is NULL", TERN_ERR_NULL, op ": tag is NULL", null_tag)           \
    REFUSES(function, "a tag that is empty", TERN_ERR_ARG, op ": the tag is empty", bad_tag)       \
    REFUSES(function, "a negative step", TERN_ERR_ARG, op ": step is -1, not 0 or more", bad_step)

// ---- making -------------------------------------------------------------------------------------

REFUSES(tern_logger_new_with, "options that are NULL", TERN_ERR_NULL, "logger_new: options is NULL",
        tern_logger_new_with(NULL))
REFUSES(tern_logger_new_with, "a folder that is NULL", TERN_ERR_NULL, "logger_new: folder is NULL",
        tern_logger_new(NULL))
REFUSES(tern_logger_new_with, "a folder without a name", TERN_ERR_ARG,
        "logger_new: the name of the folder is empty", tern_logger_new(""))
REFUSES(tern_logger_new_with, "no file to write", TERN_ERR_ARG,
        "logger_new: there is nothing to write: set one of .tensorboard, .jsonl and .csv",
        tern_logger_new("/proc", .tensorboard = false, .jsonl = false))
REFUSES(tern_logger_new_with, "a step below -1", TERN_ERR_ARG,
        "logger_new: .resume_step is -2, not -1 or more",
        tern_logger_new("/proc", .resume_step = -2))
REFUSES(tern_logger_new_with, "no bins", TERN_ERR_ARG, "logger_new: .bins is 0, not 1 to 1024",
        tern_logger_new("/proc", .bins = 0))
REFUSES(tern_logger_new_with, "a small queue", TERN_ERR_ARG,
        "logger_new: .capacity is 15, not 16 to", tern_logger_new("/proc", .capacity = 15))
REFUSES(tern_logger_new_with, "less than no bytes", TERN_ERR_ARG,
        "logger_new: .max_bytes is -1, not 0 or more", tern_logger_new("/proc", .max_bytes = -1))
REFUSES(tern_logger_new_with, "a name that is none", TERN_ERR_ARG,
        "logger_new: the name \"a?\" has a control character",
        tern_logger_new("/proc", .name = "a\n"))
CANNOT_FAIL(tern_logger_free, "NULL is fine", (tern_logger_free(NULL), 1))
TAKES(tern_logger_free, "NULL", (tern_logger_free(NULL), 1))

// A freed one is found while its memory is kept.
static tern_logger *freed(fixture *f)
{
    static tern_logger *was;
    was = f->logger ? f->logger : was;
    tern_logger_free(f->logger);
    f->logger = NULL;
    return was;
}

REFUSES(tern_logger_dropped, "a logger that was freed", TERN_ERR_STATE,
        "logger_dropped: this logger was freed already", tern_logger_dropped(freed(f)) == -1)
TAKES(tern_logger_dropped, "a logger that is NULL", tern_logger_dropped(NULL) == 0)
REFUSES(tern_logger_flush, "a logger that was freed", TERN_ERR_STATE,
        "logger_flush: this logger was freed already", tern_logger_flush(freed(f)))
REFUSES(tern_logger_add_scalar, "a logger that was freed", TERN_ERR_STATE,
        "logger_add_scalar: this logger was freed already",
        tern_logger_add_scalar(freed(f), "a", 1, 0))
NO_LOGGER(tern_logger_flush, tern_logger_flush(NULL))
REFUSES(tern_logger_set_status, "a status that is none", TERN_ERR_ARG,
        "logger_set_status: there is no status 0",
        tern_logger_set_status(LOG, TERN_RUN_UNSPECIFIED))
NO_LOGGER(tern_logger_set_status, tern_logger_set_status(NULL, TERN_RUN_FINISHED))

// ---- numbers ------------------------------------------------------------------------------------

TAG_AND_STEP(tern_logger_add_scalar, "logger_add_scalar", tern_logger_add_scalar(LOG, NULL, 1, 0),
             tern_logger_add_scalar(LOG, "", 1, 0), tern_logger_add_scalar(LOG, "a", 1, -1))
NO_LOGGER(tern_logger_add_scalar, tern_logger_add_scalar(NULL, "a", 1, 0))

TAG_AND_STEP(tern_logger_add_tensor_scalar, "logger_add_tensor_scalar",
             tern_logger_add_tensor_scalar(LOG, NULL, f->scalar, 0),
             tern_logger_add_tensor_scalar(LOG, "", f->scalar, 0),
             tern_logger_add_tensor_scalar(LOG, "a", f->scalar, -1))
NULL_AND_DEAD(tern_logger_add_tensor_scalar, "logger_add_tensor_scalar", "value",
              tern_logger_add_tensor_scalar(LOG, "a", NULL, 0),
              tern_logger_add_tensor_scalar(LOG, "a", f->dead, 0))
REFUSES(tern_logger_add_tensor_scalar, "several elements", TERN_ERR_SHAPE,
        "logger_add_tensor_scalar: |(2, 3)| has 6 elements, not one",
        tern_logger_add_tensor_scalar(LOG, "a", f->x, 0))
NO_LOGGER(tern_logger_add_tensor_scalar, tern_logger_add_tensor_scalar(NULL, "a", f->scalar, 0))

TAG_AND_STEP(tern_logger_add_histogram, "logger_add_histogram",
             tern_logger_add_histogram(LOG, NULL, f->x, 0),
             tern_logger_add_histogram(LOG, "", f->x, 0),
             tern_logger_add_histogram(LOG, "a", f->x, -1))
NULL_AND_DEAD(tern_logger_add_histogram, "logger_add_histogram", "values",
              tern_logger_add_histogram(LOG, "a", NULL, 0),
              tern_logger_add_histogram(LOG, "a", f->dead, 0))
NO_LOGGER(tern_logger_add_histogram, tern_logger_add_histogram(NULL, "a", f->x, 0))

REFUSES(tern_logger_add_module_histograms, "a module that is NULL", TERN_ERR_NULL,
        "logger_add_module_histograms: module is NULL",
        tern_logger_add_module_histograms(LOG, NULL, 0))
REFUSES(tern_logger_add_module_histograms, "a negative step", TERN_ERR_ARG,
        "logger_add_module_histograms: step is -1, not 0 or more",
        tern_logger_add_module_histograms(LOG, f->net, -1))
NO_LOGGER(tern_logger_add_module_histograms, tern_logger_add_module_histograms(NULL, f->net, 0))

// ---- images and texts ---------------------------------------------------------------------------

#define IMAGE(...) tern_logger_add_image(LOG, __VA_ARGS__)
TAG_AND_STEP(tern_logger_add_image_with, "logger_add_image", IMAGE(NULL, f->x, 0),
             IMAGE("", f->x, 0), IMAGE("a", f->x, -1))
REFUSES(tern_logger_add_image_with, "options that are NULL", TERN_ERR_NULL,
        "logger_add_image: options is NULL", tern_logger_add_image_with(NULL))
NULL_AND_DEAD(tern_logger_add_image_with, "logger_add_image", "image", IMAGE("a", NULL, 0),
              IMAGE("a", f->dead, 0))
REFUSES(tern_logger_add_image_with, "a vector", TERN_ERR_SHAPE,
        "logger_add_image: the image is (3,), but must be (channels, height, width)",
        IMAGE("a", f->vector, 0))
REFUSES(tern_logger_add_image_with, "integers", TERN_ERR_DTYPE,
        "logger_add_image: the image is int64, but must be uint8, float32 or float64",
        IMAGE("a", f->ints, 0))
REFUSES(tern_logger_add_image_with, "a caption that is no UTF-8", TERN_ERR_ARG,
        "logger_add_image: .caption is not UTF-8", IMAGE("a", f->x, 0, .caption = "\xff"))
NO_LOGGER(tern_logger_add_image_with, tern_logger_add_image(NULL, "a", f->x, 0))

TAG_AND_STEP(tern_logger_add_text, "logger_add_text", tern_logger_add_text(LOG, NULL, "b", 0),
             tern_logger_add_text(LOG, "", "b", 0), tern_logger_add_text(LOG, "a", "b", -1))
REFUSES(tern_logger_add_text, "a text that is NULL", TERN_ERR_NULL, "logger_add_text: text is NULL",
        tern_logger_add_text(LOG, "a", NULL, 0))
REFUSES(tern_logger_add_text, "a text that is no UTF-8", TERN_ERR_ARG,
        "logger_add_text: the text of \"a\" is not UTF-8",
        tern_logger_add_text(LOG, "a", "\xff", 0))
NO_LOGGER(tern_logger_add_text, tern_logger_add_text(NULL, "a", "b", 0))

// ---- classifiers --------------------------------------------------------------------------------

static tern_tensor *square(void)
{
    return tern_ones(tern_dims(2, 2));
}

TAG_AND_STEP(tern_logger_add_confusion_matrix, "logger_add_confusion_matrix",
             tern_logger_add_confusion_matrix(LOG, NULL, square(), NULL, 0),
             tern_logger_add_confusion_matrix(LOG, "", square(), NULL, 0),
             tern_logger_add_confusion_matrix(LOG, "a", square(), NULL, -1))
NULL_AND_DEAD(tern_logger_add_confusion_matrix, "logger_add_confusion_matrix", "matrix",
              tern_logger_add_confusion_matrix(LOG, "a", NULL, NULL, 0),
              tern_logger_add_confusion_matrix(LOG, "a", f->dead, NULL, 0))
REFUSES(tern_logger_add_confusion_matrix, "other than a square", TERN_ERR_SHAPE,
        "logger_add_confusion_matrix: the matrix is (2, 3), but must be (C, C)",
        tern_logger_add_confusion_matrix(LOG, "a", f->x, NULL, 0))
REFUSES(tern_logger_add_confusion_matrix, "a name that is NULL", TERN_ERR_NULL,
        "logger_add_confusion_matrix: a name of class_names is NULL",
        tern_logger_add_confusion_matrix(LOG, "a", square(), (const char *[]){"a", NULL}, 0))
REFUSES(tern_logger_add_confusion_matrix, "a name that is no UTF-8", TERN_ERR_ARG,
        "logger_add_confusion_matrix: the name of class 1 is not UTF-8",
        tern_logger_add_confusion_matrix(LOG, "a", square(), (const char *[]){"a", "\xff"}, 0))
NO_LOGGER(tern_logger_add_confusion_matrix,
          tern_logger_add_confusion_matrix(NULL, "a", f->x, NULL, 0))

#define CURVE(...) tern_logger_add_pr_curve(LOG, __VA_ARGS__)
TAG_AND_STEP(tern_logger_add_pr_curve_with, "logger_add_pr_curve", CURVE(NULL, f->x, f->x, 0),
             CURVE("", f->x, f->x, 0), CURVE("a", f->x, f->x, -1))
REFUSES(tern_logger_add_pr_curve_with, "options that are NULL", TERN_ERR_NULL,
        "logger_add_pr_curve: options is NULL", tern_logger_add_pr_curve_with(NULL))
NULL_AND_DEAD(tern_logger_add_pr_curve_with, "logger_add_pr_curve", "labels",
              CURVE("a", (tern_tensor *)NULL, f->x, 0), CURVE("a", f->dead, f->x, 0))
NULL_AND_DEAD(tern_logger_add_pr_curve_with, "logger_add_pr_curve", "predictions",
              CURVE("a", f->x, (tern_tensor *)NULL, 0), CURVE("a", f->x, f->dead, 0))
REFUSES(tern_logger_add_pr_curve_with, "other numbers of elements", TERN_ERR_SHAPE,
        "logger_add_pr_curve: labels are (2,), predictions (3,)",
        CURVE("a", f->labels, f->vector, 0))
REFUSES(tern_logger_add_pr_curve_with, "one threshold", TERN_ERR_ARG,
        "logger_add_pr_curve: .num_thresholds is 1, not 2 to 127",
        CURVE("a", f->x, f->x, 0, .num_thresholds = 1))
NO_LOGGER(tern_logger_add_pr_curve_with,
          tern_logger_add_pr_curve((tern_logger *)NULL, "a", f->x, f->x, 0))

// ---- the run ------------------------------------------------------------------------------------

static const tern_setting lr = {"lr", TERN_SETTING_INT, .integer = 1};

REFUSES(tern_logger_add_settings, "settings that are NULL", TERN_ERR_NULL,
        "logger_add_settings: settings is NULL", tern_logger_add_settings(LOG, NULL, 1))
REFUSES(tern_logger_add_settings, "less than none", TERN_ERR_ARG,
        "logger_add_settings: count is -1, not 0 to 10000", tern_logger_add_settings(LOG, &lr, -1))
REFUSES(tern_logger_add_settings, "a name that is NULL", TERN_ERR_NULL,
        "logger_add_settings: name is NULL",
        tern_logger_add_settings(LOG, &(tern_setting){NULL, TERN_SETTING_INT, .integer = 1}, 1))
REFUSES(tern_logger_add_settings, "a name that is empty", TERN_ERR_ARG,
        "logger_add_settings: the name is empty",
        tern_logger_add_settings(LOG, &(tern_setting){"", TERN_SETTING_INT, .integer = 1}, 1))
REFUSES(tern_logger_add_settings, "a value of no type", TERN_ERR_ARG,
        "logger_add_settings: \"a\" has no type 0",
        tern_logger_add_settings(LOG, &(tern_setting){.name = "a"}, 1))
REFUSES(tern_logger_add_settings, "a text that is NULL", TERN_ERR_NULL,
        "logger_add_settings: text is NULL",
        tern_logger_add_settings(LOG, &(tern_setting){"a", TERN_SETTING_TEXT, .text = NULL}, 1))
REFUSES(tern_logger_add_settings, "a text that is no UTF-8", TERN_ERR_ARG,
        "logger_add_settings: the text of \"a\" is not UTF-8",
        tern_logger_add_settings(LOG, &(tern_setting){"a", TERN_SETTING_TEXT, .text = "\xff"}, 1))
REFUSES(tern_logger_add_settings, "one twice", TERN_ERR_ARG,
        "logger_add_settings: there are two settings \"lr\"",
        tern_logger_add_settings(LOG, (tern_setting[]){lr, lr}, 2))
NO_LOGGER(tern_logger_add_settings, tern_logger_add_settings(NULL, &lr, 1))

REFUSES(tern_logger_add_page, "a logger that was freed", TERN_ERR_STATE,
        "logger_add_page: this logger was freed already", tern_logger_add_page(freed(f)))
TAKES(tern_logger_add_page, "a logger that writes nothing", tern_logger_add_page(LOG) == TERN_OK)
NO_LOGGER(tern_logger_add_page, tern_logger_add_page(NULL))
