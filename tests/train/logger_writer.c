// SPDX-License-Identifier: Apache-2.0
// A run that logs, for logger_chaos.py and others: logger_writer FOLDER RESUME_STEP FIRST LAST.
// Points of the curve "a" have their step as value. After each flush it says which step is in the
// files.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tern/tern.h>

typedef struct values {
    tern_tensor *weights, *image, *matrix, *labels, *predictions;
} values;

static values make_values(void)
{
    return (values){
        .weights = tern_div_scalar(tern_arange(-1000, 1048, 1, .dtype = TERN_FLOAT32), 8),
        .image = tern_reshape(tern_arange(0, 144, 1, .dtype = TERN_UINT8), tern_dims(3, 8, 6)),
        .matrix = tern_from_data(tern_dims(3, 3), (int64_t[]){5, 1, 0, 2, 7, 1, 0, 0, 9}),
        .labels = tern_from_data(tern_dims(4), (int64_t[]){0, 1, 1, 0}),
        .predictions = tern_from_data(tern_dims(4), (float[]){0.125f, 0.75f, 0.5f, 0.625f}),
    };
}

static void log_settings(tern_logger *log)
{
    const tern_setting settings[] = {
        {"lr", TERN_SETTING_DOUBLE, .number = 0.125},
        {"optimizer", TERN_SETTING_TEXT, .text = "adam"},
        {"epochs", TERN_SETTING_INT, .integer = 5},
        {"augment", TERN_SETTING_BOOL, .truth = true},
    };
    tern_logger_add_settings(log, settings, 4);
}

static void log_large(tern_logger *log, const values *v, int64_t step)
{
    static const char *const names[] = {"T-shirt", "<script>", "a|b"};
    char text[64];
    (void)snprintf(text, sizeof text, "# Step %lld\n<script>", (long long)step);
    tern_logger_add_histogram(log, "weights", v->weights, step);
    tern_logger_add_image(log, "image", v->image, step);
    tern_logger_add_text(log, "text", text, step);
    tern_logger_add_confusion_matrix(log, "matrix", v->matrix, names, step);
    tern_logger_add_pr_curve(log, "curve", v->labels, v->predictions, step);
}

static void log_step(tern_logger *log, const values *v, int64_t step)
{
    tern_logger_add_scalar(log, "a", (double)step, step);
    tern_logger_add_scalar(log, "b, \"quoted\"", step % 7 ? 1.0 / (double)(step + 1) : NAN, step);
    if (step % 10 == 0)
        log_large(log, v, step);
    if (step % 5 != 0)
        return;
    if (!tern_logger_flush(log))
        printf("%lld\n", (long long)step);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const int64_t first = atoll(argv[3]), last = atoll(argv[4]);
    tern_logger *log = tern_logger_new(argv[1], .csv = true, .resume_step = atoll(argv[2]));
    if (!log)
        return tern_error_print(stderr);
    const values v = make_values();
    log_settings(log);
    for (int64_t step = first; step <= last; step++)
        log_step(log, &v, step);
    printf("dropped %lld\n", (long long)tern_logger_dropped(log));
    tern_logger_free(log);
    return tern_error_print(stderr);
}
