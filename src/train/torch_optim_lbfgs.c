// SPDX-License-Identifier: Apache-2.0
// Loading LBFGS's state from PyTorch's files: one for all parameters, which the first one has.
// There numbers may be tensors of one element, and "al" is what a step computes anew.
#include "train/torch_optim_lbfgs.h"

#include <stdio.h>
#include <string.h>

static const char *const counts[] = {"func_evals", "n_iter"};
static const char *const numbers[] = {"t", "H_diag", "prev_loss"};
static const char *const vectors[] = {"d", "prev_flat_grad"};
static const char *const lists[] = {"old_dirs", "old_stps", "ro"};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct lbfgs {
    tern_torch_loading *l;
    const char *name;
    long long id;
} lbfgs;

static const tern_state_value *look(const lbfgs *of, const char *key)
{
    return tern_torch_look(of->l, "state.%lld.%s", of->id, key);
}

static tern_status missing(const lbfgs *of, const char *key)
{
    return tern_torch_wrong(of->l, "%s has a state without \"%s\"", of->name, key);
}

static tern_status load_count(const lbfgs *of, const char *key, int64_t *count)
{
    const tern_state_value *saved = look(of, key);
    if (saved && saved->type != TERN_STATE_INT)
        return tern_torch_wrong(of->l, "the %s of %s is no integer", key, of->name);
    *count = saved ? saved->integer : 0;
    of->l->taken += saved != NULL;
    return tern_torch_put_int(of->l, of->name, key, *count);
}

static tern_status load_number(const lbfgs *of, const char *key)
{
    double value;
    const tern_state_value *saved = look(of, key);
    if (!saved)
        return missing(of, key);
    if (!tern_torch_to_double(saved, &value))
        return tern_torch_wrong(of->l, "the %s of %s is no number", key, of->name);
    of->l->taken++;
    return tern_torch_put_double(of->l, of->name, key, value);
}

static tern_status load_vector(const lbfgs *of, const char *key)
{
    const tern_state_value *saved = look(of, key);
    if (!saved)
        return missing(of, key);
    if (saved->type != TERN_STATE_TENSOR)
        return tern_torch_wrong(of->l, "the %s of %s is no tensor", key, of->name);
    of->l->taken++;
    return tern_torch_put(of->l, of->name, key, saved);
}

static const char *item(char key[32], const char *list, int64_t index)
{
    snprintf(key, 32, "%s.%lld", list, (long long)index);
    return key;
}

static int64_t length_of(const lbfgs *of, const char *list)
{
    int64_t length = 0;
    char key[32];
    while (look(of, item(key, list, length)))
        length++;
    return length;
}

static tern_status load_history(const lbfgs *of)
{
    const int64_t count = length_of(of, lists[0]);
    char key[32];
    for (int i = 1; i < COUNT(lists); i++)
        if (length_of(of, lists[i]) != count)
            return tern_torch_wrong(of->l, "%s has %lld of \"%s\", but %lld of \"%s\"", of->name,
                                    (long long)count, lists[0], (long long)length_of(of, lists[i]),
                                    lists[i]);
    for (int64_t i = 0; i < count; i++) {
        TERN_TRY(load_vector(of, item(key, "old_dirs", i)));
        TERN_TRY(load_vector(of, item(key, "old_stps", i)));
        TERN_TRY(load_number(of, item(key, "ro", i)));
    }
    return TERN_OK;
}

// What PyTorch has not either before the first iteration.
static tern_status load_nothing(const lbfgs *of)
{
    for (int i = 0; i < COUNT(numbers); i++)
        TERN_TRY(tern_torch_put_double(of->l, of->name, numbers[i], 0));
    return TERN_OK;
}

tern_status tern_torch_load_lbfgs(tern_torch_loading *l, const char *name, int64_t id)
{
    const lbfgs of = {l, name, id};
    int64_t iterations = 0;
    for (int i = 0; i < COUNT(counts); i++) // the last is that of iterations
        TERN_TRY(load_count(&of, counts[i], &iterations));
    l->taken += length_of(&of, "al");
    if (iterations == 0)
        return load_nothing(&of);
    for (int i = 0; i < COUNT(numbers); i++)
        TERN_TRY(load_number(&of, numbers[i]));
    for (int i = 0; i < COUNT(vectors); i++)
        TERN_TRY(load_vector(&of, vectors[i]));
    return load_history(&of);
}

static bool is_among(const char *key, const char *const *keys, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static bool is_item(const char *key, const char *list)
{
    const size_t length = strlen(list);
    return strncmp(key, list, length) == 0 && key[length] == '.';
}

bool tern_torch_is_lbfgs_key(const char *key)
{
    bool known = is_among(key, counts, COUNT(counts)) || is_among(key, numbers, COUNT(numbers)) ||
                 is_among(key, vectors, COUNT(vectors)) || is_item(key, "al");
    for (int i = 0; i < COUNT(lists); i++)
        known |= is_item(key, lists[i]);
    return known;
}
