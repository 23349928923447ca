// SPDX-License-Identifier: Apache-2.0
// Saving an optimizer as PyTorch does: {"state": {0: {..}, ..}, "param_groups": [{..}, ..]}, with
// parameters by their place over all groups.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tern/checkpoint.h>

#include "base/cancel.h"
#include "base/mem.h"
#include "device/capture.h"
#include "io/pickle_write.h"
#include "io/archive_entries.h"
#include "optim/optim.h"

static const char op[] = "optim_save_torch";

typedef struct saving {
    const tern_optim *optim;
    const tern_state *state;      // tern_optim_state_dict's
    tern_archive_entries entries; // of it
    float *steps;                 // of each parameter
    tern_torch_writer to;
} saving;

// ---- state --------------------------------------------------------------------------------------

// The value "<parameter>.<key>" of the state; NULL: there is none.
static const tern_archive_entry *find(const saving *s, const char *parameter, const char *key)
{
    char name[TERN_STATE_NAME_SIZE + 64];
    snprintf(name, sizeof name, "%s.%s", parameter, key);
    const tern_state_entry *entry = tern_state_find(s->state, name);
    return entry ? &s->entries.at[entry - s->state->at] : NULL;
}

// A tensor of no dimensions, whose memory is there until all is written.
static void write_scalar(saving *s, const float *value)
{
    const tern_body body = {.data = value, .nbytes = sizeof *value};
    tern_torch_write_tensor(&s->to, tern_torch_write_storage(&s->to, body), TERN_FLOAT32,
                            tern_dims());
}

// PyTorch has a float32, which is exact up to 2^24; above, an integer, which it takes as well.
static void write_step(saving *s, int64_t index)
{
    const int64_t step = s->optim->entries[index].step;
    s->steps[index] = (float)step;
    tern_torch_write_text(&s->to, "step");
    if ((int64_t)s->steps[index] != step)
        tern_torch_write_int(&s->to, step);
    else
        write_scalar(s, &s->steps[index]);
}

static void write_tensor(saving *s, const tern_archive_entry *v)
{
    tern_torch_write_tensor(&s->to, tern_torch_write_storage(&s->to, v->body), v->tensor->dtype,
                            tern_shape_get(v->tensor));
}

static void write_slot(saving *s, const char *parameter, const char *name)
{
    const tern_archive_entry *v = find(s, parameter, name);
    if (!v)
        return;
    tern_torch_write_text(&s->to, name);
    write_tensor(s, v);
}

static void write_entry(saving *s, int64_t index)
{
    char name[TERN_STATE_NAME_SIZE];
    const tern_optim_class *klass = s->optim->klass;
    bool any = false;
    tern_optim_name_entry(s->optim, index, name, sizeof name);
    for (int i = 0; i < klass->slot_count; i++)
        any |= find(s, name, klass->slots[i].name) != NULL;
    if (!any)
        return;
    tern_torch_write_int(&s->to, index);
    const int64_t begin = tern_torch_write_dict(&s->to, false);
    if (tern_optim_counts_step(s->optim, &s->optim->entries[index]))
        write_step(s, index);
    for (int i = 0; i < klass->scalar_count; i++)
        if (!isnan(s->optim->entries[index].scalar[i])) {
            tern_torch_write_text(&s->to, klass->scalars[i]);
            write_scalar(s, &s->optim->entries[index].scalar[i]);
        }
    for (int i = 0; i < klass->slot_count; i++)
        write_slot(s, name, klass->slots[i].name);
    tern_torch_write_dict_end(&s->to, begin);
}

// ---- LBFGS's state, which the first parameter has for all ---------------------------------------

static void write_value(saving *s, const tern_archive_entry *v)
{
    if (v->tensor)
        write_tensor(s, v);
    else if (v->value->type == TERN_STATE_INT)
        tern_torch_write_int(&s->to, v->value->integer);
    else
        tern_torch_write_double(&s->to, v->value->number);
}

static void write_list(saving *s, const char *parameter, const char *list)
{
    char key[32];
    const tern_archive_entry *v;
    tern_torch_write_text(&s->to, list);
    const int64_t begin = tern_torch_write_list(&s->to);
    for (int64_t i = 0;; i++) {
        snprintf(key, sizeof key, "%s.%lld", list, (long long)i);
        if (!(v = find(s, parameter, key)))
            break;
        write_value(s, v);
    }
    tern_torch_write_list_end(&s->to, begin);
}

// Without "al", which is computed anew in each iteration. What there is before the first iteration
// are the counts, and before the first step nothing.
static void write_lbfgs(saving *s)
{
    static const char *const keys[] = {"func_evals", "n_iter",         "d",        "t",
                                       "H_diag",     "prev_flat_grad", "prev_loss"};
    static const char *const lists[] = {"old_dirs", "old_stps", "ro"};
    char name[TERN_STATE_NAME_SIZE];
    tern_optim_name_entry(s->optim, 0, name, sizeof name);
    const bool begun = find(s, name, "n_iter")->value->integer > 0;
    const size_t key_count = begun ? sizeof keys / sizeof *keys : 2;
    const size_t list_count = begun ? sizeof lists / sizeof *lists : 0;
    if (find(s, name, "func_evals")->value->integer == 0)
        return;
    tern_torch_write_int(&s->to, 0);
    const int64_t begin = tern_torch_write_dict(&s->to, false);
    for (size_t i = 0; i < key_count; i++) {
        tern_torch_write_text(&s->to, keys[i]);
        write_value(s, find(s, name, keys[i]));
    }
    for (size_t i = 0; i < list_count; i++)
        write_list(s, name, lists[i]);
    tern_torch_write_dict_end(&s->to, begin);
}

// ---- groups -------------------------------------------------------------------------------------

static void write_number(tern_torch_writer *to, const tern_optim_number *number, double value)
{
    const char *word = number->words && value != 0 ? number->words[(int)value] : NULL;
    if (word)
        tern_torch_write_text(to, word);
    else if (number->words || (number->may_be_none && value == -1))
        tern_torch_write_none(to);
    else if (number->range == TERN_RANGE_FLAG)
        tern_torch_write_bool(to, value != 0);
    else if (number->range == TERN_RANGE_COUNT || number->range == TERN_RANGE_WHOLE)
        tern_torch_write_int(to, (int64_t)value);
    else
        tern_torch_write_double(to, value);
}

// How many numbers from this one on are of one tuple, "betas[0]" and "betas[1]".
static int count_tuple(const tern_optim_class *klass, int first)
{
    const char *name = klass->numbers[first].name, *bracket = strchr(name, '[');
    int count = 1;
    while (bracket && first + count < klass->number_count &&
           strncmp(klass->numbers[first + count].name, name, (size_t)(bracket - name) + 1) == 0)
        count++;
    return count;
}

static void write_option(saving *s, const double *values, int first, int count)
{
    const tern_optim_number *number = &s->optim->klass->numbers[first];
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(number->name, "["), number->name);
    tern_torch_write_text(&s->to, text);
    for (int i = 0; i < count; i++)
        write_number(&s->to, &number[i], values[first + i]);
    if (count > 1)
        tern_torch_write_tuple(&s->to, count);
}

static void write_numbers(saving *s, const tern_optim_group *group)
{
    const tern_optim_class *klass = s->optim->klass;
    for (int i = 0, count; i < klass->number_count; i += count) {
        count = count_tuple(klass, i);
        if (!klass->numbers[i].is_own)
            write_option(s, group->number, i, count);
    }
    if (isnan(group->initial_lr))
        return;
    tern_torch_write_text(&s->to, "initial_lr");
    tern_torch_write_double(&s->to, group->initial_lr);
}

// How PyTorch is to compute: as it does by itself.
static void write_torch_options(tern_torch_writer *to, const tern_optim_torch *has)
{
    if (!has->no_foreach) {
        tern_torch_write_text(to, "foreach");
        tern_torch_write_none(to);
    }
    if (!has->no_differentiable) {
        tern_torch_write_text(to, "differentiable");
        tern_torch_write_bool(to, false);
    }
    if (has->capturable) {
        tern_torch_write_text(to, "capturable");
        tern_torch_write_bool(to, false);
    }
    if (has->fused) {
        tern_torch_write_text(to, "fused");
        tern_torch_write_none(to);
    }
}

static void write_params(saving *s, int group, bool names)
{
    tern_torch_write_text(&s->to, names ? "param_names" : "params");
    const int64_t begin = tern_torch_write_list(&s->to);
    for (int64_t i = 0; i < s->optim->entry_count; i++) {
        char name[TERN_STATE_NAME_SIZE];
        if (s->optim->entries[i].group != group)
            continue;
        tern_optim_name_entry(s->optim, i, name, sizeof name);
        if (names)
            tern_torch_write_text(&s->to, name);
        else
            tern_torch_write_int(&s->to, i);
    }
    tern_torch_write_list_end(&s->to, begin);
}

static void write_group(saving *s, int group)
{
    const int64_t begin = tern_torch_write_dict(&s->to, false);
    write_numbers(s, &s->optim->groups[group]);
    write_torch_options(&s->to, &s->optim->klass->torch);
    if (tern_optim_has_names(s->optim))
        write_params(s, group, true);
    write_params(s, group, false);
    tern_torch_write_dict_end(&s->to, begin);
}

// ---- the whole ----------------------------------------------------------------------------------

static void write_all(saving *s)
{
    tern_torch_write_begin(&s->to);
    const int64_t begin = tern_torch_write_dict(&s->to, false);
    tern_torch_write_text(&s->to, "state");
    const int64_t states = tern_torch_write_dict(&s->to, false);
    if (!s->optim->klass->update)
        write_lbfgs(s);
    for (int64_t i = 0; s->optim->klass->update && i < s->optim->entry_count; i++)
        write_entry(s, i);
    tern_torch_write_dict_end(&s->to, states);
    tern_torch_write_text(&s->to, "param_groups");
    const int64_t groups = tern_torch_write_list(&s->to);
    for (int i = 0; i < (int)s->optim->group_count; i++)
        write_group(s, i);
    tern_torch_write_list_end(&s->to, groups);
    tern_torch_write_dict_end(&s->to, begin);
}

static tern_status write_file(saving *s, const char *path)
{
    tern_save save;
    TERN_TRY(tern_save_begin(&save, op, path));
    write_all(s);
    tern_status status = tern_torch_write_end(&s->to, &save);
    tern_torch_writer_free(&s->to);
    if (!status)
        return tern_save_commit(&save);
    tern_save_abandon(&save);
    return status;
}

static tern_status save(saving *s, const char *path)
{
    const size_t nbytes = (size_t)s->optim->entry_count * sizeof(float);
    s->steps = tern_mem_alloc(nbytes);
    if (!s->steps)
        return TERN_ERR_NOMEM;
    tern_status status = tern_archive_entries_begin(&s->entries, s->state);
    if (!status) {
        status = write_file(s, path);
        tern_archive_entries_free(&s->entries);
    }
    tern_mem_free(s->steps, nbytes);
    return status;
}

tern_status tern_optim_save_torch(tern_optim *optim, const char *path)
{
    TERN_TRY(tern_check_optim(op, optim));
    if (!path)
        return tern_null_error(op, "path");
    TERN_TRY(tern_capture_refuse(op, "the values would be there after a replay"));
    tern_state *state = tern_optim_state_dict(optim);
    if (!state)
        return tern_error_code();
    saving s = {.optim = optim, .state = state};
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = save(&s, path);
    tern_cancel_restore(cancel_state);
    errno = saved;
    tern_state_free(state);
    return status;
}
