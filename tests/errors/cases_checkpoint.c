// SPDX-License-Identifier: Apache-2.0
// checkpoint.h
#include "errors.h"

#define CK f->checkpoint
#define NO_CHECKPOINT(function, op, ...)                                                           \
    REFUSES(function, "a checkpoint that is NULL", TERN_ERR_NULL, op ": checkpoint is NULL",       \
            __VA_ARGS__)

// ---- making -------------------------------------------------------------------------------------

REFUSES(tern_checkpoint_new_with, "options that are NULL", TERN_ERR_NULL,
        "checkpoint_new: options is NULL", tern_checkpoint_new_with(NULL))
REFUSES(tern_checkpoint_new_with, "a folder that is NULL", TERN_ERR_NULL,
        "checkpoint_new: folder is NULL", tern_checkpoint_new(NULL))
REFUSES(tern_checkpoint_new_with, "a folder without a name", TERN_ERR_ARG,
        "checkpoint_new: the name of the folder is empty", tern_checkpoint_new(""))
REFUSES(tern_checkpoint_new_with, "a folder that cannot be made", TERN_ERR_IO,
        "checkpoint_new: cannot make the folder /proc/a: No such file",
        tern_checkpoint_new("/proc/a"))
REFUSES(tern_checkpoint_new_with, "a file", TERN_ERR_IO,
        "checkpoint_new: /dev/null is a file, not a folder", tern_checkpoint_new("/dev/null"))
REFUSES(tern_checkpoint_new_with, "a negative keep_last", TERN_ERR_ARG,
        "checkpoint_new: keep_last is -1, not 0 or more",
        tern_checkpoint_new("/proc", .keep_last = -1))
REFUSES(tern_checkpoint_new_with, "a best one without a mode", TERN_ERR_ARG,
        "checkpoint_new: keep_best and mode go together",
        tern_checkpoint_new("/proc", .keep_best = "loss"))
REFUSES(tern_checkpoint_new_with, "a mode without a best one", TERN_ERR_ARG,
        "checkpoint_new: keep_best and mode go together",
        tern_checkpoint_new("/proc", .mode = TERN_MIN))
REFUSES(tern_checkpoint_new_with, "a mode that is none", TERN_ERR_ARG,
        "checkpoint_new: there is no mode 3",
        tern_checkpoint_new("/proc", .keep_best = "loss", .mode = (tern_metric_mode)3))
CANNOT_FAIL(tern_checkpoint_free, "NULL is fine", (tern_checkpoint_free(NULL), 1))
TAKES(tern_checkpoint_free, "NULL", (tern_checkpoint_free(NULL), 1))

// A freed one is found while its memory is kept.
static int64_t count_freed(void)
{
    tern_checkpoint *checkpoint = tern_checkpoint_new("/proc");
    tern_checkpoint_free(checkpoint);
    return tern_checkpoint_passed_over(checkpoint);
}

REFUSES(tern_checkpoint_passed_over, "a checkpoint that was freed", TERN_ERR_STATE,
        "checkpoint_passed_over: this checkpoint was freed already", count_freed() == -1)

// ---- parts --------------------------------------------------------------------------------------

static double number;

static tern_status visit_nothing(void *object, tern_state_visitor *visitor)
{
    (void)object;
    (void)visitor;
    return TERN_OK;
}

NO_CHECKPOINT(tern_checkpoint_module, "checkpoint_module",
              tern_checkpoint_module(NULL, "a", f->net))
NO_CHECKPOINT(tern_checkpoint_optim, "checkpoint_optim", tern_checkpoint_optim(NULL, "a", f->optim))
NO_CHECKPOINT(tern_checkpoint_sched, "checkpoint_sched", tern_checkpoint_sched(NULL, "a", f->sched))
NO_CHECKPOINT(tern_checkpoint_loader, "checkpoint_loader",
              tern_checkpoint_loader(NULL, "a", f->loader))
NO_CHECKPOINT(tern_checkpoint_generator, "checkpoint_generator",
              tern_checkpoint_generator(NULL, "a", f->generator))
NO_CHECKPOINT(tern_checkpoint_number, "checkpoint_number",
              tern_checkpoint_number(NULL, "a", &number))
NO_CHECKPOINT(tern_checkpoint_int, "checkpoint_int", tern_checkpoint_int(NULL, "a", &f->count))
NO_CHECKPOINT(tern_checkpoint_tensor, "checkpoint_tensor", tern_checkpoint_tensor(NULL, "a", f->x))
NO_CHECKPOINT(tern_checkpoint_add, "checkpoint_add",
              tern_checkpoint_add(NULL, "a", visit_nothing, NULL))
REFUSES(tern_checkpoint_module, "a module that is NULL", TERN_ERR_NULL,
        "checkpoint_module: module is NULL", tern_checkpoint_module(CK, "a", NULL))
REFUSES(tern_checkpoint_optim, "an optimizer that is NULL", TERN_ERR_NULL,
        "checkpoint_optim: optim is NULL", tern_checkpoint_optim(CK, "a", NULL))
REFUSES(tern_checkpoint_sched, "a scheduler that is NULL", TERN_ERR_NULL,
        "checkpoint_sched: sched is NULL", tern_checkpoint_sched(CK, "a", NULL))
REFUSES(tern_checkpoint_loader, "a loader that is NULL", TERN_ERR_NULL,
        "checkpoint_loader: loader is NULL", tern_checkpoint_loader(CK, "a", NULL))
REFUSES(tern_checkpoint_generator, "a generator that is NULL", TERN_ERR_NULL,
        "checkpoint_generator: generator is NULL", tern_checkpoint_generator(CK, "a", NULL))
REFUSES(tern_checkpoint_number, "a number that is NULL", TERN_ERR_NULL,
        "checkpoint_number: number is NULL", tern_checkpoint_number(CK, "a", NULL))
REFUSES(tern_checkpoint_int, "an integer that is NULL", TERN_ERR_NULL,
        "checkpoint_int: integer is NULL", tern_checkpoint_int(CK, "a", NULL))
REFUSES(tern_checkpoint_add, "a visit that is NULL", TERN_ERR_NULL, "checkpoint_add: visit is NULL",
        tern_checkpoint_add(CK, "a", NULL, f))
NULL_AND_DEAD(tern_checkpoint_tensor, "checkpoint_tensor", "tensor",
              tern_checkpoint_tensor(CK, "a", NULL), tern_checkpoint_tensor(CK, "a", f->dead))
REFUSES(tern_checkpoint_number, "a name that is NULL", TERN_ERR_NULL,
        "checkpoint_number: name is NULL", tern_checkpoint_number(CK, NULL, &number))
REFUSES(tern_checkpoint_number, "an empty name", TERN_ERR_ARG,
        "checkpoint_number: \"\" cannot be a name", tern_checkpoint_number(CK, "", &number))
REFUSES(tern_checkpoint_module, "a name that is there", TERN_ERR_ARG,
        "checkpoint_module: there is a part \"count\" already",
        tern_checkpoint_module(CK, "count", f->net))
REFUSES(tern_checkpoint_add, "a name of its own", TERN_ERR_ARG,
        "checkpoint_add: \"generators.cpu\" is a name of the checkpoint's own",
        tern_checkpoint_add(CK, "generators.cpu", visit_nothing, f))

// ---- saving and resuming ------------------------------------------------------------------------

static int64_t step;

REFUSES(tern_checkpoint_save_with, "options that are NULL", TERN_ERR_NULL,
        "checkpoint_save: options is NULL", tern_checkpoint_save_with(NULL))
NO_CHECKPOINT(tern_checkpoint_save_with, "checkpoint_save", tern_checkpoint_save(NULL, 1))
REFUSES(tern_checkpoint_save_with, "a negative step", TERN_ERR_ARG,
        "checkpoint_save: step is -1, not 0 or more", tern_checkpoint_save(CK, -1))
REFUSES(tern_checkpoint_save_with, "a folder where no file can be made", TERN_ERR_IO,
        "/proc/step-00000001.safetensors", tern_checkpoint_save(CK, 1))
NO_CHECKPOINT(tern_checkpoint_resume, "checkpoint_resume",
              tern_checkpoint_resume(NULL, &step) == -1)
REFUSES(tern_checkpoint_resume, "a step that is NULL", TERN_ERR_NULL,
        "checkpoint_resume: step is NULL", tern_checkpoint_resume(CK, NULL) == -1)
NO_CHECKPOINT(tern_checkpoint_passed_over, "checkpoint_passed_over",
              tern_checkpoint_passed_over(NULL) == -1)
NO_CHECKPOINT(tern_checkpoint_passed_over_at, "checkpoint_passed_over_at",
              tern_checkpoint_passed_over_at(NULL, 0))
REFUSES(tern_checkpoint_passed_over_at, "an index past the end", TERN_ERR_INDEX,
        "checkpoint_passed_over_at: there is no file 0 of 0", tern_checkpoint_passed_over_at(CK, 0))

// ---- weights alone ------------------------------------------------------------------------------

REFUSES(tern_module_save, "a module that is NULL", TERN_ERR_NULL, "module_save: module is NULL",
        tern_module_save(NULL, "/proc/a.safetensors"))
REFUSES(tern_module_save, "a path that is NULL", TERN_ERR_NULL, "module_save: path is NULL",
        tern_module_save(f->net, NULL))
REFUSES(tern_module_save, "a folder where no file can be made", TERN_ERR_IO, "/proc/a.safetensors",
        tern_module_save(f->net, "/proc/a.safetensors"))
REFUSES(tern_module_load, "a module that is NULL", TERN_ERR_NULL, "module_load: module is NULL",
        tern_module_load(NULL, "/proc/a.safetensors"))
REFUSES(tern_module_load, "a path that is NULL", TERN_ERR_NULL, "module_load: path is NULL",
        tern_module_load(f->net, NULL))
REFUSES(tern_module_load, "a file that is not there", TERN_ERR_IO, "/proc/a.safetensors",
        tern_module_load(f->net, "/proc/a.safetensors"))
