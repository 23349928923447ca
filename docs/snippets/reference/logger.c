// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/logger.h, for the site.
#include "examples.h"

static void show_logger_new(void)
{
    // [tern_logger_new]
    tern_logger *log = tern_logger_new("logged", .csv = true);
    tern_logger_add_scalar(log, "train/loss", 0.5, 1);
    // [/tern_logger_new]
    expect(!tern_error_pending());
    tern_logger_free(log);
}

static void show_logger_add_image(void)
{
    tern_logger *log = tern_logger_new("logged_image");
    tern_tensor *image = tern_rand(tern_dims(1, 28, 28));
    // [tern_logger_add_image]
    tern_logger_add_image(log, "valid/worst/1", image, 1, .caption = "cat, taken for dog");
    // [/tern_logger_add_image]
    expect(!tern_error_pending());
    tern_logger_free(log);
}

static void show_logger_add_pr_curve(void)
{
    tern_logger *log = tern_logger_new("logged_curve");
    tern_tensor *labels = tern_from_data(tern_dims(3), (int64_t[]){0, 1, 1});
    tern_tensor *scores = tern_from_data(tern_dims(3), (float[]){0.25f, 0.5f, 1});
    // [tern_logger_add_pr_curve]
    tern_logger_add_pr_curve(log, "valid/dog", labels, scores, 1, .num_thresholds = 5);
    // [/tern_logger_add_pr_curve]
    expect(!tern_error_pending());
    tern_logger_free(log);
}

int logger_examples(void)
{
    show_logger_new();
    show_logger_add_image();
    show_logger_add_pr_curve();
    return failures;
}
