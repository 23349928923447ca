// SPDX-License-Identifier: Apache-2.0
// The forward in training mode, for the memory of the activations.
#include <stdarg.h>
#include "base/saved_error.h"
#include "device/capture.h"
#include "train/summary/before.h"

static void module_ended(tern_module *module, const tern_tensors *out, void *user)
{
    (void)module, (void)out, (void)user;
}

// As the module is set up, where it trains; all of it, where it is being evaluated.
static tern_status train(summary_table *t, tern_module *module, tern_tensor *x)
{
    const tern_forward_observer rest = {module_ended, NULL};
    tern_tensors out = {0};
    int64_t nbytes = -1;
    const bool recorded = tern_set_grad_enabled(true);
    if (!t->rows[0].training)
        tern_summary_set_training(t, true);
    tern_status status = tern_summary_forward(module, x, &out, &rest, NULL);
    tern_summary_restore_modes(t);
    (void)tern_set_grad_enabled(recorded);
    if (!status)
        status = tern_summary_saved_bytes(t, &out, &nbytes);
    t->memory.activations = status ? -1 : nbytes;
    return status;
}

static tern_status run(summary_before *b, summary_table *t, tern_module *module, tern_tensor *x)
{
    TERN_TRY(tern_capture_refuse("module_summary_print", "random generators would not come back"));
    TERN_TRY(tern_summary_save(b, t));
    return train(t, module, x);
}

static void record_reason(summary_table *t, const char *format, ...) TERN_PRINTF_(2, 3);
static void record_reason(summary_table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tern_text_format(t->memory.why_not_known, sizeof t->memory.why_not_known, format, arguments);
    va_end(arguments);
}

// Memory that there is not is an error; any other one is why the activations are not known.
static tern_status keep_error(summary_table *t, const tern_saved_error *error)
{
    if (error->code == TERN_ERR_NOMEM) {
        tern_error_restore(error);
        return error->code;
    }
    record_reason(t, "%s", error->message);
    return TERN_OK;
}

tern_status tern_summary_train(summary_table *t, tern_module *module, tern_tensor *x)
{
    summary_before before = {0};
    tern_saved_error error;
    if (tern_error_pending()) { // it stays, and would be taken for the forward's
        record_reason(t, "an error is pending");
        return TERN_OK;
    }
    tern_error_delay();
    (void)run(&before, t, module, x);
    tern_error_save(&error);
    tern_error_report();
    tern_status status = tern_summary_restore(&before);
    tern_summary_before_free(&before);
    if (!status && error.code)
        status = keep_error(t, &error);
    return status;
}
