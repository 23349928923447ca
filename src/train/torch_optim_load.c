// SPDX-License-Identifier: Apache-2.0
// Loading what torch.save wrote of an optimizer: it becomes a state of tern's own form, by names,
// which is loaded as any other.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tern/checkpoint.h>

#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/capture.h"
#include "io/locations.h"
#include "state/visitor.h"
#include "train/torch_optim_lbfgs.h"

// ---- the kind -----------------------------------------------------------------------------------

// Which options tell PyTorch's kinds of optimizers apart, also those that are not here; the first
// that is there counts.
static const struct {
    const char *option, *kind;
} kinds[] = {
    {"silent_sgd_phase", "RAdamScheduleFree"},
    {"weight_lr_power", "AdamWScheduleFree"},
    {"momentum_decay", "NAdam"},
    {"lambd", "ASGD"},
    {"rho", "Adadelta"},
    {"etas.0", "Rprop"},
    {"ns_steps", "Muon"},
    {"beta2_decay", "Adafactor"},
    {"history_size", "LBFGS"},
    {"dampening", "SGD"},
    {"alpha", "RMSprop"},
    {"lr_decay", "Adagrad"},
    {"amsgrad", "Adam"},
    {"decoupled_weight_decay", "RAdam"},
    {"eps", "Adamax"},
    {"betas.0", "Lion"},
};

// The kind whose state the file is; NULL: none that is known.
static const char *kind_of(const tern_torch_loading *l)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!tern_torch_look(l, "param_groups.0.%s", kinds[i].option))
            continue;
        const tern_state_value *decoupled =
            tern_torch_look(l, "param_groups.0.decoupled_weight_decay");
        if (strcmp(kinds[i].option, "amsgrad") != 0)
            return kinds[i].kind;
        // A file from before Adam and AdamW were one class does not say which of the two it is.
        if (!decoupled && tern_optim_number_of(l->optim->klass, "amsgrad") >= 0)
            return l->optim->klass->name;
        return decoupled && decoupled->integer ? "AdamW" : "Adam";
    }
    return NULL;
}

static tern_status check_kind(const tern_torch_loading *l)
{
    const char *kind = kind_of(l), *own = l->optim->klass->name;
    if (!tern_torch_look(l, "param_groups.0.lr") && !kind)
        return tern_torch_wrong(
            l, "there is no \"%sparam_groups\": it holds no optimizer's state there", l->prefix);
    if (!kind || strcmp(kind, own) != 0)
        return tern_torch_wrong(l, "it holds the state of %s, and the optimizer is %s",
                                kind ? kind : "another kind of optimizer", own);
    return TERN_OK;
}

// ---- groups -------------------------------------------------------------------------------------

// PyTorch's name of a number: "betas.0" for "betas[0]".
static void name_number(const char *number, char *name, size_t size)
{
    snprintf(name, size, "%s", number);
    char *bracket = strchr(name, '[');
    if (bracket) {
        *bracket = '.';
        bracket[2] = 0;
    }
}

// What stands for a value that is not there: flags that came later are off, and None is left out.
static bool is_optional(const tern_optim_number *number, double *value)
{
    const bool decoupled = strcmp(number->name, "decoupled_weight_decay") == 0;
    const bool logged = strcmp(number->name, "scheduled_lr") == 0; // by newer versions
    if (number->is_own || decoupled || logged)                     // stays
        return true;
    *value = number->may_be_none ? -1 : 0;
    return number->may_be_none || number->words || number->range == TERN_RANGE_FLAG;
}

static bool find_word(const tern_optim_number *number, const tern_state_value *saved, double *value)
{
    for (int i = 0; saved->type == TERN_STATE_TEXT && i < number->word_count; i++)
        if (number->words[i] && strcmp(saved->bytes.data, number->words[i]) == 0) {
            *value = i;
            return true;
        }
    return false;
}

static tern_status load_number(const tern_torch_loading *l, int group, int index)
{
    const tern_optim_number *number = &l->optim->klass->numbers[index];
    char name[64], path[64];
    double value = l->optim->groups[group].number[index];
    name_number(number->name, name, sizeof name);
    snprintf(path, sizeof path, "param_groups.%d", group);
    const tern_state_value *saved = number->is_own ? NULL : tern_torch_look(l, "%s.%s", path, name);
    if ((l->numbers || number->is_state) && !saved && !is_optional(number, &value))
        return tern_torch_wrong(l, "there is no \"%s%s.%s\"", l->prefix, path, name);
    if ((l->numbers || number->is_state) && saved && number->words &&
        !find_word(number, saved, &value))
        return tern_torch_wrong(l, "\"%s%s.%s\" is none that %s has", l->prefix, path, name,
                                l->optim->klass->name);
    if ((l->numbers || number->is_state) && saved && !number->words &&
        !tern_torch_to_double(saved, &value))
        return tern_torch_wrong(l, "\"%s%s.%s\" is no number", l->prefix, path, name);
    return tern_torch_put_double(l, path, number->name, value);
}

// There where a scheduler was made.
static tern_status load_initial_lr(const tern_torch_loading *l, int group)
{
    const tern_state_value *saved = tern_torch_look(l, "param_groups.%d.initial_lr", group);
    char path[64];
    double value;
    if (!l->numbers || !saved)
        return TERN_OK;
    snprintf(path, sizeof path, "param_groups.%d", group);
    if (!tern_torch_to_double(saved, &value))
        return tern_torch_wrong(l, "\"%s%s.initial_lr\" is no number", l->prefix, path);
    return tern_torch_put_double(l, path, "initial_lr", value);
}

static tern_status load_numbers(const tern_torch_loading *l)
{
    for (int g = 0; g < (int)l->optim->group_count; g++) {
        for (int i = 0; i < l->optim->klass->number_count; i++)
            TERN_TRY(load_number(l, g, i));
        TERN_TRY(load_initial_lr(l, g));
    }
    return TERN_OK;
}

static int64_t count_params(const tern_torch_loading *l, int group)
{
    int64_t count = 0;
    while (tern_torch_look(l, "param_groups.%d.params.%lld", group, (long long)count))
        count++;
    return count;
}

static tern_status check_groups(const tern_torch_loading *l)
{
    int count = 0;
    while (tern_torch_look(l, "param_groups.%d.params.0", count))
        count++;
    if (count != (int)l->optim->group_count)
        return tern_torch_wrong(l, "it has %d groups of parameters, and the optimizer %lld", count,
                                (long long)l->optim->group_count);
    for (int g = 0; g < count; g++) {
        int64_t own = 0;
        for (int64_t i = 0; i < l->optim->entry_count; i++)
            own += l->optim->entries[i].group == g;
        if (count_params(l, g) != own)
            return tern_torch_wrong(
                l, "its group %d has %lld parameters, and the optimizer's has %lld", g,
                (long long)count_params(l, g), (long long)own);
    }
    return TERN_OK;
}

// An id that is not the one after the last, as files from before PyTorch 1.5 have them.
static tern_status check_new(tern_torch_loading *l, int64_t id)
{
    l->in_order = false;
    for (int64_t i = 0; i < l->count; i++)
        if (l->ids[i] == id)
            return tern_torch_wrong(l, "two parameters of its groups are %lld", (long long)id);
    return TERN_OK;
}

// Which parameters the groups have: there are as many as the optimizer has.
static tern_status list_parameters(tern_torch_loading *l)
{
    for (int g = 0; g < (int)l->optim->group_count; g++)
        for (int64_t k = 0, n = count_params(l, g); k < n; k++) {
            const tern_state_value *id =
                tern_torch_look(l, "param_groups.%d.params.%lld", g, (long long)k);
            if (id->type != TERN_STATE_INT)
                return tern_torch_wrong(l, "group %d has a parameter that is no index", g);
            if (!l->in_order || id->integer != l->count)
                TERN_TRY(check_new(l, id->integer));
            l->groups[l->count] = g;
            l->ids[l->count++] = id->integer;
        }
    l->named = tern_optim_has_names(l->optim) && tern_torch_look(l, "param_groups.0.param_names.0");
    return TERN_OK;
}

// ---- parameters ---------------------------------------------------------------------------------

static bool has_name(const tern_torch_loading *l, int64_t index, const char *name)
{
    int64_t first = index; // of its group
    while (first > 0 && l->groups[first - 1] == l->groups[index])
        first--;
    const tern_state_value *own = tern_torch_look(l, "param_groups.%d.param_names.%lld",
                                                  l->groups[index], (long long)(index - first));
    return own && own->type == TERN_STATE_TEXT && strcmp(own->bytes.data, name) == 0;
}

// The place among the file's parameters that has this name, most likely `index`; -1: none.
static int64_t find_name(const tern_torch_loading *l, const char *name, int64_t index)
{
    if (has_name(l, index, name))
        return index;
    for (int64_t i = 0; i < l->count; i++)
        if (has_name(l, i, name))
            return i;
    return -1;
}

// The count of updates: 0 where the file has none.
static tern_status load_step(tern_torch_loading *l, const char *name, int64_t id)
{
    double step = 0;
    const tern_state_value *saved = tern_torch_look(l, "state.%lld.step", (long long)id);
    if (saved && (!tern_torch_to_double(saved, &step) ||
                  !(step >= 0 && step <= TERN_OPTIM_MAX_STEPS) || step != (double)(int64_t)step))
        return tern_torch_wrong(l, "the step of %s is %g, which counts no updates", name, step);
    l->taken += saved != NULL;
    return tern_torch_put_int(l, name, "step", (int64_t)step);
}

// What a parameter that has a state has of them all.
static tern_status load_scalars(tern_torch_loading *l, const char *name, int64_t id)
{
    const tern_optim_class *klass = l->optim->klass;
    for (int i = 0; i < klass->scalar_count && tern_torch_look(l, "state.%lld.step", (long long)id);
         i++) {
        const char *scalar = klass->scalars[i];
        tern_state_value value = {.type = TERN_STATE_DOUBLE};
        const tern_state_value *saved = tern_torch_look(l, "state.%lld.%s", (long long)id, scalar);
        if (!saved || !tern_torch_to_double(saved, &value.number))
            return tern_torch_wrong(l, "%s has a state without a number \"%s\"", name, scalar);
        l->taken++;
        TERN_TRY(tern_torch_put(l, name, scalar, &value));
    }
    return TERN_OK;
}

static tern_status load_slots(tern_torch_loading *l, int64_t index, const char *name, int64_t id,
                              unsigned needed)
{
    const tern_optim_class *klass = l->optim->klass;
    unsigned found = 0;
    for (int i = 0; i < klass->slot_count; i++) {
        const char *slot = klass->slots[i].name;
        const tern_state_value *saved = tern_torch_look(l, "state.%lld.%s", (long long)id, slot);
        if (!saved)
            continue;
        if (saved->type != TERN_STATE_TENSOR)
            return tern_torch_wrong(l, "the %s of %s is no tensor", slot, name);
        found |= 1u << i;
        TERN_TRY(tern_torch_put(l, name, slot, saved));
    }
    l->taken += __builtin_popcount(found);
    const unsigned missing = needed & ~found;
    const bool counted = tern_torch_look(l, "state.%lld.step", (long long)id) != NULL;
    if (found && !counted && tern_optim_counts_step(l->optim, &l->optim->entries[index]))
        return tern_torch_wrong(l, "%s has a state without \"step\"", name);
    if (missing && (found || counted))
        return tern_torch_wrong(l, "%s has a state without \"%s\"", name,
                                klass->slots[__builtin_ctz(missing)].name);
    return TERN_OK;
}

// The slots of an entry that the numbers of a group of the own form ask for.
static unsigned needed_slots(const tern_torch_loading *l, int group, int64_t index)
{
    double number[TERN_OPTIM_NUMBERS] = {0};
    for (int i = 0; i < l->optim->klass->number_count; i++) {
        char name[128];
        snprintf(name, sizeof name, "param_groups.%d.%s", group, l->optim->klass->numbers[i].name);
        number[i] = tern_state_find(l->own, name)->value.number;
    }
    return l->optim->klass->update(number, l->optim->entries[index].param).slots;
}

static tern_status load_entry(tern_torch_loading *l, int64_t index)
{
    char name[TERN_STATE_NAME_SIZE];
    tern_optim_name_entry(l->optim, index, name, sizeof name);
    const int64_t saved = l->named ? find_name(l, name, index) : index;
    if (saved < 0)
        return tern_torch_wrong(l, "none of its parameters has the name \"%.200s\"", name);
    TERN_TRY(tern_torch_put_int(l, name, "group", l->groups[saved]));
    TERN_TRY(load_step(l, name, l->ids[saved]));
    TERN_TRY(load_scalars(l, name, l->ids[saved]));
    if (l->optim->klass->update)
        return load_slots(l, index, name, l->ids[saved], needed_slots(l, l->groups[saved], index));
    if (saved != index)
        return tern_torch_wrong(
            l, "its parameters have another order, in which %s has them as one vector",
            l->optim->klass->name);
    return index == 0 ? tern_torch_load_lbfgs(l, name, l->ids[0]) : TERN_OK;
}

// Whether it is a value of the state that an entry may have: "state.<id>.<key>".
static bool is_known(const tern_torch_loading *l, const char *name)
{
    int length = 0;
    long long id;
    if (sscanf(name, "state.%lld.%n", &id, &length) != 1 || length == 0)
        return false;
    bool listed = l->in_order && id >= 0 && id < l->count;
    bool known = strcmp(name + length, "step") == 0;
    for (int64_t i = 0; i < l->count && !l->in_order && !listed; i++)
        listed = l->ids[i] == id;
    for (int i = 0; i < l->optim->klass->slot_count; i++)
        known |= strcmp(name + length, l->optim->klass->slots[i].name) == 0;
    for (int i = 0; i < l->optim->klass->scalar_count; i++)
        known |= strcmp(name + length, l->optim->klass->scalars[i]) == 0;
    if (!l->optim->klass->update)
        known = id == l->ids[0] && tern_torch_is_lbfgs_key(name + length);
    return listed && known;
}

static tern_status check_all_taken(const tern_torch_loading *l)
{
    const size_t length = strlen(l->prefix);
    const char *unknown = "";
    int64_t count = 0;
    for (int64_t i = 0; i < l->file->count; i++) {
        const char *name = l->file->at[i].name;
        if (strncmp(name, l->prefix, length) != 0 || strncmp(name + length, "state.", 6) != 0)
            continue;
        count++;
        if (!*unknown && !is_known(l, name + length))
            unknown = name;
    }
    if (*unknown)
        return tern_torch_wrong(l,
                                "\"%.200s\" is of no parameter in a group, or nothing that %s has",
                                unknown, l->optim->klass->name);
    if (count != l->taken)
        return tern_torch_wrong(l, "its state has %lld values, of which %lld are of parameters",
                                (long long)count, (long long)l->taken);
    return TERN_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

static tern_status convert(tern_torch_loading *l)
{
    TERN_TRY(check_kind(l));
    TERN_TRY(check_groups(l));
    TERN_TRY(list_parameters(l));
    TERN_TRY(tern_state_set_text(l->own, "optimizer", l->optim->klass->name));
    TERN_TRY(load_numbers(l));
    for (int64_t i = 0; i < l->optim->entry_count; i++)
        TERN_TRY(load_entry(l, i));
    return check_all_taken(l);
}

static tern_status load(tern_torch_loading *l, tern_optim *optim)
{
    const size_t ids = (size_t)optim->entry_count * sizeof *l->ids;
    const size_t groups = (size_t)optim->entry_count * sizeof *l->groups;
    l->own = tern_state_new();
    l->ids = tern_mem_alloc(ids);
    l->groups = tern_mem_alloc(groups);
    tern_status status = l->own && l->ids && l->groups ? convert(l) : TERN_ERR_NOMEM;
    if (!status)
        status = tern_optim_load_as(
            &(tern_load_caller){.function = tern_torch_load_op, .options = TERN_LOAD_NO_OPTIONS},
            &(tern_optim_load_state_dict_options){
                .strict = true,
                .numbers = l->numbers,
                .optim = optim,
                .state = l->own,
            });
    tern_mem_free(l->groups, groups);
    tern_mem_free(l->ids, ids);
    tern_state_free(l->own);
    return status;
}

// A pattern of the names that begin with the prefix.
static void pattern_of(const char *prefix, char *pattern)
{
    for (; *prefix; *pattern++ = *prefix++)
        if (strchr("*?[\\", *prefix))
            *pattern++ = '\\';
    strcpy(pattern, "*");
}

static tern_state *read_archive(tern_file *file, const char *prefix)
{
    char pattern[TERN_TORCH_NAME_SIZE];
    tern_archive archive;
    tern_locations locations = {.count = 0};
    tern_state *state = NULL;
    pattern_of(prefix, pattern);
    if (!tern_archive_read(&archive, file) &&
        !tern_locations_parse(&locations, tern_torch_load_op, "cpu")) {
        if (strncmp(archive.format, "PyTorch", 7) == 0)
            state = tern_archive_load(&archive, &locations, *prefix ? pattern : NULL);
        else
            tern_error_raise(TERN_ERR_FORMAT,
                             "%s: %s is a file of %s, not of PyTorch: tern_state_read, then "
                             "tern_optim_load_state_dict",
                             tern_torch_load_op, file->path, archive.format);
    }
    tern_archive_free(&archive);
    return state;
}

static tern_status read_and_load(const tern_optim_load_torch_options *o)
{
    tern_file file;
    tern_torch_loading l = {.optim = o->optim,
                            .prefix = o->prefix ? o->prefix : "",
                            .numbers = o->numbers,
                            .in_order = true};
    TERN_TRY(tern_file_open(&file, tern_torch_load_op, o->path));
    l.path = file.path;
    l.file = read_archive(&file, l.prefix);
    tern_status status = l.file ? load(&l, o->optim) : tern_error_code();
    tern_state_free(l.file);
    tern_file_close(&file);
    return status;
}

tern_status tern_optim_load_torch_with(const tern_optim_load_torch_options *options)
{
    if (!options)
        return tern_null_error(tern_torch_load_op, "options");
    TERN_TRY(tern_check_optim(tern_torch_load_op, options->optim));
    if (!options->path)
        return tern_null_error(tern_torch_load_op, "path");
    TERN_CHECK(!options->prefix || strlen(options->prefix) < TERN_STATE_NAME_SIZE, TERN_ERR_ARG,
               "%s: .prefix has more than %d bytes", tern_torch_load_op, TERN_STATE_NAME_SIZE - 1);
    TERN_TRY(tern_fork_check());
    TERN_TRY(tern_capture_refuse(tern_torch_load_op, "replays would load the values again"));
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_scope scope = tern_scope_open();
    tern_status status = scope ? read_and_load(options) : TERN_ERR_NOMEM;
    tern_scope_close(scope);
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status;
}
