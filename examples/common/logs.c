// SPDX-License-Identifier: Apache-2.0
#include "logs.h"

#include <string.h>

#include "training.h"

#define MOST_WORST 12

// The files of MNIST and of Fashion-MNIST have no names of classes.
static const char *const *class_names(const training *t)
{
    static const char *const digits[CLASSES] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    static const char *const clothes[CLASSES] = {"T-shirt", "Trouser",   "Pullover", "Dress",
                                                 "Coat",    "Sandal",    "Shirt",    "Sneaker",
                                                 "Bag",     "Ankle boot"};
    return strstr(t->options.data, "fashion") ? clothes : digits;
}

tern_status logs_open(training *t)
{
    const options *o = &t->options;
    logs *l = &t->logs;
    if (!o->log)
        return TERN_OK;
    l->logger = tern_logger_new(o->log, .resume_step = o->resume ? t->steps : -1);
    l->worst = worst_mistakes(MOST_WORST);
    return tern_logger_add_settings(l->logger, o->settings, o->setting_count);
}

tern_status logs_begin_epoch(training *t)
{
    t->logs.samples = t->sums.samples;
    return t->logs.logger ? tern_resources_read(&t->logs.resources) : TERN_OK;
}

// Nothing waits for the device: the loss is read by the logger's thread.
tern_status logs_step(training *t, tern_tensor *loss)
{
    tern_logger *logger = t->logs.logger;
    if (!logger)
        return TERN_OK;
    const double lr = tern_optim_lr(t->optim, 0);
    return tern_logger_add_tensor_scalar(logger, "train/loss", loss, t->steps)
               ? tern_error_code()
               : tern_logger_add_scalar(logger, "lr", lr, t->steps);
}

static tern_status add_reading(const training *t, const char *tag, tern_reading reading)
{
    return reading.known ? tern_logger_add_scalar(t->logs.logger, tag, reading.value, t->steps)
                         : TERN_OK;
}

// Not known where the training is on the CPU.
static tern_reading device_bytes(const training *t)
{
    const tern_resources *r = &t->logs.resources;
    for (int i = 0; i < r->device_count; i++)
        if (t->device.type == TERN_CUDA && tern_device_equal(r->devices[i].device, t->device))
            return r->devices[i].allocated;
    return (tern_reading){.known = false};
}

tern_status logs_end_steps(training *t)
{
    logs *l = &t->logs;
    tern_resources *r = &l->resources;
    if (!l->logger || tern_resources_read(r))
        return tern_error_code();
    const double samples = (double)(t->sums.samples - l->samples);
    const tern_reading rate = {.value = samples / r->seconds.value,
                               .known = r->seconds.known && r->seconds.value > 0};
    const tern_reading waiting = {tern_loader_wait_share(t->train_loader), true};
    if (add_reading(t, "resources/samples_per_second", rate) ||
        add_reading(t, "resources/wait_share", waiting) ||
        add_reading(t, "resources/cpu_share", r->cpu_share) ||
        add_reading(t, "resources/resident_bytes", r->resident_bytes) ||
        add_reading(t, "resources/device_bytes", device_bytes(t)))
        return tern_error_code();
    return add_reading(t, "resources/joules", r->joules);
}

static tern_status add_mistake(training *t, int place, const mistake *m)
{
    char tag[32], caption[128];
    tern_sample sample;
    if (tern_dataset_item(t->test_data, m->index, &sample))
        return tern_error_code();
    snprintf(tag, sizeof tag, "valid/mistakes/%02d", place);
    snprintf(caption, sizeof caption, "%s, taken for %s (%.1f %%)", class_names(t)[m->label],
             class_names(t)[m->predicted], 100 * m->probability);
    return tern_logger_add_image(t->logs.logger, tag, sample.x, t->steps, .caption = caption);
}

static tern_status add_mistakes(training *t)
{
    mistake mistakes[MOST_WORST];
    const int64_t count = worst_read(t->logs.worst, mistakes);
    tern_with_scope
        for (int i = 0; i < count; i++)
            if (add_mistake(t, i + 1, &mistakes[i]))
                break;
    return tern_error_code();
}

static tern_status add_confusion(const training *t)
{
    const tern_shape shape = tern_dims(CLASSES, CLASSES);
    tern_with_scope {
        tern_tensor *matrix = tern_from_data_with(&(tern_from_data_options){
            .dtype = TERN_INT64, .shape = shape, .data = t->evaluation.confusion});
        (void)!tern_logger_add_confusion_matrix(t->logs.logger, "valid/confusion", matrix,
                                                class_names(t), t->steps);
    }
    return tern_error_code();
}

tern_status logs_end_epoch(training *t)
{
    tern_logger *logger = t->logs.logger;
    const evaluation *e = &t->evaluation;
    const double right = logger ? tern_item(t->sums.correct) / (double)t->sums.samples : 0;
    if (!logger || tern_logger_add_scalar(logger, "train/accuracy", right, t->steps) ||
        tern_logger_add_scalar(logger, "valid/accuracy", e->accuracy, t->steps) ||
        tern_logger_add_scalar(logger, "valid/loss", e->loss, t->steps) ||
        tern_logger_add_module_histograms(logger, t->net, t->steps) || add_confusion(t) ||
        add_mistakes(t))
        return tern_error_code();
    return tern_logger_add_page(logger);
}

void logs_close(training *t)
{
    if (t->logs.logger && tern_interrupted())
        (void)!tern_logger_set_status(t->logs.logger, TERN_RUN_STOPPED);
    tern_logger_free(t->logs.logger);
    tern_metric_free(t->logs.worst);
}
