// SPDX-License-Identifier: Apache-2.0
// The parts of a checkpoint: what is done with each kind, and adding them.
#include <string.h>
#include "base/mem.h"
#include "data/loader/loader.h"
#include "optim/optim.h"
#include "optim/sched/sched.h"
#include "tensor/header.h"
#include "tensor/liveness.h"
#include "train/checkpoint.h"
#include "train/metric/metric.h"

// ---- kinds of parts -----------------------------------------------------------------------------

static tern_status check_gradient(const char *function, const tern_tensor *t, const char *name)
{
    TERN_CHECK(t->grad_state != TERN_GRAD_UNUSABLE, TERN_ERR_STATE,
               "%s: the gradient of %s was left unusable by a failed backward or step; call "
               "zero_grad and make the step again before",
               function, name);
    return TERN_OK;
}

static tern_status visit_module(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    return tern_visit_module(visitor, name, part->object);
}

static tern_status check_entry(const tern_module_entry *entry, void *function)
{
    return check_gradient(function, entry->tensor, entry->name);
}

static tern_status check_module(const char *function, const tern_checkpoint_part *part)
{
    return tern_module_each_parameter(part->object, check_entry, (void *)(uintptr_t)function);
}

static void release_module(void *module)
{
    tern_module_free(module);
}

static tern_status visit_optim(tern_state_visitor *visitor, const char *name,
                               tern_checkpoint_part *part)
{
    return tern_visit_optim(visitor, name, part->object);
}

static tern_status check_optim(const char *function, const tern_checkpoint_part *part)
{
    const tern_optim *optim = part->object;
    TERN_TRY(tern_check_optim(function, optim));
    for (int64_t i = 0; i < optim->entry_count; i++)
        TERN_TRY(check_gradient(function, optim->entries[i].param, optim->entries[i].name));
    return TERN_OK;
}

static void release_optim(void *optim)
{
    tern_optim_free(optim);
}

static tern_status visit_sched(tern_state_visitor *visitor, const char *name,
                               tern_checkpoint_part *part)
{
    return tern_visit_sched(visitor, name, part->object);
}

static void release_sched(void *sched)
{
    tern_sched_free(sched);
}

static tern_status visit_loader(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    return tern_visit_loader(visitor, name, part->object);
}

static tern_status visit_generator(tern_state_visitor *visitor, const char *name,
                                   tern_checkpoint_part *part)
{
    return tern_visit_generator(visitor, name, part->object);
}

static tern_status visit_number(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    return tern_visit_double(visitor, name, part->object);
}

static tern_status visit_int(tern_state_visitor *visitor, const char *name,
                             tern_checkpoint_part *part)
{
    return tern_visit_int(visitor, name, part->object);
}

static tern_status visit_tensor(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    tern_tensor *tensor = part->object;
    return tern_visit_tensor(visitor, name, &tensor);
}

static tern_status check_tensor(const char *function, const tern_checkpoint_part *part)
{
    TERN_TRY(tern_check_tensor(function, "a tensor of the checkpoint", part->object));
    return check_gradient(function, part->object, tern_tensor_string(part->object));
}

static void release_tensor(void *tensor)
{
    tern_tensor_release_as(tensor, TERN_STAMP_HOLDER);
}

static tern_status visit_metric(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    return tern_visit_metric(visitor, name, part->object);
}

static void release_metric(void *metric)
{
    tern_metric_free(metric);
}

static tern_status visit_object(tern_state_visitor *visitor, const char *name,
                                tern_checkpoint_part *part)
{
    return tern_visit_part(visitor, name, part->visit, part->object);
}

static const tern_checkpoint_kind module_kind = {visit_module, check_module, release_module};
static const tern_checkpoint_kind optim_kind = {visit_optim, check_optim, release_optim};
static const tern_checkpoint_kind sched_kind = {.visit = visit_sched, .release = release_sched};
static const tern_checkpoint_kind loader_kind = {.visit = visit_loader};
static const tern_checkpoint_kind generator_kind = {.visit = visit_generator};
static const tern_checkpoint_kind number_kind = {.visit = visit_number};
static const tern_checkpoint_kind int_kind = {.visit = visit_int};
static const tern_checkpoint_kind tensor_kind = {visit_tensor, check_tensor, release_tensor};
static const tern_checkpoint_kind metric_kind = {.visit = visit_metric, .release = release_metric};
static const tern_checkpoint_kind object_kind = {.visit = visit_object};

// ---- adding parts -------------------------------------------------------------------------------

// "generators" is the library's, and so are the names below it.
static bool is_reserved(const char *name, const char *own)
{
    const size_t length = strlen(own);
    return strncmp(name, own, length) == 0 && (name[length] == 0 || name[length] == '.');
}

static tern_status check_name(const char *function, const tern_checkpoint *checkpoint,
                              const char *name)
{
    TERN_TRY(tern_check_checkpoint(function, checkpoint));
    if (!name)
        return tern_null_error(function, "name");
    TERN_CHECK(!is_reserved(name, "checkpoint") && !is_reserved(name, "generators"), TERN_ERR_ARG,
               "%s: \"%.64s\" is a name of the checkpoint's own", function, name);
    TERN_CHECK(!tern_state_find(checkpoint->names, name), TERN_ERR_ARG,
               "%s: there is a part \"%.64s\" already", function, name);
    return TERN_OK;
}

// The name last: it cannot be taken back.
static tern_status add(const char *function, tern_checkpoint *checkpoint, const char *name,
                       tern_checkpoint_part part)
{
    TERN_TRY(tern_mem_grow((void **)&checkpoint->parts, &checkpoint->part_capacity,
                           checkpoint->part_count + 1, sizeof *checkpoint->parts));
    TERN_TRY(tern_state_put(function, checkpoint->names, name,
                            (tern_state_value){TERN_STATE_INT, .integer = 0}));
    checkpoint->parts[checkpoint->part_count++] = part;
    return TERN_OK;
}

tern_status tern_checkpoint_module(tern_checkpoint *checkpoint, const char *name,
                                   tern_module *module)
{
    static const char function[] = "checkpoint_module";
    TERN_TRY(check_name(function, checkpoint, name));
    if (!module)
        return tern_null_error(function, "module");
    if (!tern_module_retain(module))
        return tern_error_code();
    tern_status status =
        add(function, checkpoint, name, (tern_checkpoint_part){&module_kind, module, NULL});
    if (status)
        tern_module_free(module);
    return status;
}

tern_status tern_checkpoint_optim(tern_checkpoint *checkpoint, const char *name, tern_optim *optim)
{
    static const char function[] = "checkpoint_optim";
    TERN_TRY(check_name(function, checkpoint, name));
    TERN_TRY(tern_check_optim(function, optim));
    TERN_TRY(add(function, checkpoint, name, (tern_checkpoint_part){&optim_kind, optim, NULL}));
    tern_optim_retain(optim);
    return TERN_OK;
}

tern_status tern_checkpoint_sched(tern_checkpoint *checkpoint, const char *name, tern_sched *sched)
{
    static const char function[] = "checkpoint_sched";
    TERN_TRY(check_name(function, checkpoint, name));
    TERN_TRY(tern_check_sched(function, sched));
    TERN_TRY(add(function, checkpoint, name, (tern_checkpoint_part){&sched_kind, sched, NULL}));
    tern_sched_retain(sched);
    return TERN_OK;
}

tern_status tern_checkpoint_tensor(tern_checkpoint *checkpoint, const char *name,
                                   tern_tensor *tensor)
{
    static const char function[] = "checkpoint_tensor";
    TERN_TRY(check_name(function, checkpoint, name));
    TERN_TRY(tern_check_tensor(function, "tensor", tensor));
    TERN_TRY(add(function, checkpoint, name, (tern_checkpoint_part){&tensor_kind, tensor, NULL}));
    tern_tensor_retain(tensor);
    return TERN_OK;
}

tern_status tern_checkpoint_metric(tern_checkpoint *checkpoint, const char *name,
                                   tern_metric *metric)
{
    static const char function[] = "checkpoint_metric";
    TERN_TRY(check_name(function, checkpoint, name));
    TERN_TRY(tern_check_metric(function, metric));
    TERN_TRY(add(function, checkpoint, name, (tern_checkpoint_part){&metric_kind, metric, NULL}));
    tern_metric_retain(metric);
    return TERN_OK;
}

static tern_status add_borrowed(const char *function, tern_checkpoint *checkpoint, const char *name,
                                const char *what, tern_checkpoint_part part)
{
    TERN_TRY(check_name(function, checkpoint, name));
    if (!part.object)
        return tern_null_error(function, what);
    return add(function, checkpoint, name, part);
}

tern_status tern_checkpoint_loader(tern_checkpoint *checkpoint, const char *name,
                                   tern_loader *loader)
{
    static const char function[] = "checkpoint_loader";
    TERN_TRY(check_name(function, checkpoint, name));
    TERN_TRY(tern_check_loader(function, loader));
    return add(function, checkpoint, name, (tern_checkpoint_part){&loader_kind, loader, NULL});
}

tern_status tern_checkpoint_generator(tern_checkpoint *checkpoint, const char *name,
                                      tern_generator *generator)
{
    return add_borrowed("checkpoint_generator", checkpoint, name, "generator",
                        (tern_checkpoint_part){&generator_kind, generator, NULL});
}

tern_status tern_checkpoint_number(tern_checkpoint *checkpoint, const char *name, double *number)
{
    return add_borrowed("checkpoint_number", checkpoint, name, "number",
                        (tern_checkpoint_part){&number_kind, number, NULL});
}

tern_status tern_checkpoint_int(tern_checkpoint *checkpoint, const char *name, int64_t *integer)
{
    return add_borrowed("checkpoint_int", checkpoint, name, "integer",
                        (tern_checkpoint_part){&int_kind, integer, NULL});
}

tern_status tern_checkpoint_add(tern_checkpoint *checkpoint, const char *name, tern_visit_fn *visit,
                                void *object)
{
    static const char function[] = "checkpoint_add";
    TERN_TRY(check_name(function, checkpoint, name));
    if (!visit)
        return tern_null_error(function, "visit");
    return add(function, checkpoint, name, (tern_checkpoint_part){&object_kind, object, visit});
}
