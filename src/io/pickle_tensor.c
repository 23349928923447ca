// SPDX-License-Identifier: Apache-2.0
// Storages and tensors of a pickle.
#include <stdio.h>
#include <string.h>
#include "io/pickle.h"

// ---- storages -----------------------------------------------------------------------------------
// Words: the persistent id, which is checked; the storage before it.

// Digits of an integer, without zeros before it; false where it is none.
static bool read_key(const tern_pickle *p, tern_pickle_ref text, uint64_t *key)
{
    char digits[24], again[24];
    if (tern_pickle_type_of(p, text) != TERN_PICKLE_TEXT || tern_pickle_length(p, text) > 19)
        return false;
    tern_pickle_text(p, text, digits, sizeof digits);
    *key = 0;
    for (const char *at = digits; *at >= '0' && *at <= '9'; at++)
        *key = *key * 10 + (uint64_t)(*at - '0');
    snprintf(again, sizeof again, "%llu", (unsigned long long)*key);
    return strcmp(digits, again) == 0;
}

static tern_status check_storage(const tern_pickle *p, const tern_pickle_ref *item,
                                 const tern_torch_dtype *dtype, uint64_t *key)
{
    int64_t nbytes;
    if (!tern_pickle_text_is(p, item[0], "storage") || !dtype)
        return tern_pickle_bad(p, "has a persistent id that is no storage");
    if (!read_key(p, item[2], key))
        return tern_pickle_bad(p, "has a storage whose key is no number");
    if (tern_pickle_type_of(p, item[3]) != TERN_PICKLE_TEXT)
        return tern_pickle_bad(p, "has storage %llu with a location that is no text",
                               (unsigned long long)*key);
    if (tern_pickle_type_of(p, item[4]) != TERN_PICKLE_INT || tern_pickle_int(p, item[4]) < 0 ||
        __builtin_mul_overflow(tern_pickle_int(p, item[4]), dtype->size, &nbytes))
        return tern_pickle_bad(p, "has storage %llu with a number of elements that cannot be",
                               (unsigned long long)*key);
    if (p->storage_items == 6 && item[5] != TERN_PICKLE_NONE_REF)
        return tern_pickle_bad(p,
                               "has storage %llu as a view of another: save it anew with a "
                               "later PyTorch",
                               (unsigned long long)*key);
    return TERN_OK;
}

// ('module', class, ..): a whole module, as PyTorch before 1.6 has it.
static bool is_module(const tern_pickle *p, tern_pickle_ref id)
{
    return tern_pickle_type_of(p, id) == TERN_PICKLE_TUPLE && tern_pickle_length(p, id) == 4 &&
           tern_pickle_text_is(p, tern_pickle_item(p, id, 0), "module") &&
           tern_pickle_type_of(p, tern_pickle_item(p, id, 1)) == TERN_PICKLE_OBJECT;
}

tern_pickle_ref tern_pickle_persistent(tern_pickle *p, tern_pickle_ref id)
{
    tern_pickle_ref item[6];
    const uint32_t count = (uint32_t)p->storage_items;
    if (is_module(p, id))
        return tern_pickle_item(p, id, 1);
    if (tern_pickle_type_of(p, id) != TERN_PICKLE_TUPLE || tern_pickle_length(p, id) != count) {
        tern_pickle_bad(p, "has a persistent id that is no tuple of %d", p->storage_items);
        return TERN_PICKLE_NO_VALUE;
    }
    for (uint32_t i = 0; i < count; i++)
        item[i] = tern_pickle_item(p, id, i);
    uint64_t key = 0;
    if (tern_pickle_type_of(p, item[1]) == TERN_PICKLE_OBJECT) // torch.QUInt8Storage
        return item[1];
    const tern_torch_dtype *dtype = tern_pickle_storage_class(item[1]);
    if (check_storage(p, item, dtype, &key))
        return TERN_PICKLE_NO_VALUE;
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_STORAGE, 0, 2);
    if (!ref)
        return ref;
    *tern_pickle_word(p, ref + 1) = id;
    *tern_pickle_word(p, ref + 2) = p->last_storage;
    p->last_storage = ref;
    p->storages++;
    return ref;
}

tern_pickle_storage tern_pickle_storage_of(const tern_pickle *p, tern_pickle_ref ref)
{
    const tern_pickle_ref id = *tern_pickle_word(p, ref + 1);
    tern_pickle_storage storage = {
        .dtype = tern_pickle_storage_class(tern_pickle_item(p, id, 1)),
        .location = tern_pickle_item(p, id, 3),
        .numel = tern_pickle_int(p, tern_pickle_item(p, id, 4)),
        .before = *tern_pickle_word(p, ref + 2),
    };
    (void)read_key(p, tern_pickle_item(p, id, 2), &storage.key);
    return storage;
}

// ---- tensors ------------------------------------------------------------------------------------
// Word: the arguments, which are checked.

tern_pickle_tensor tern_pickle_tensor_of(const tern_pickle *p, tern_pickle_ref ref)
{
    const tern_pickle_ref args = *tern_pickle_word(p, ref + 1);
    tern_pickle_tensor t = {
        .storage = tern_pickle_item(p, args, 0),
        .offset = tern_pickle_int(p, tern_pickle_item(p, args, 1)),
        .size = tern_pickle_item(p, args, 2),
        .stride = tern_pickle_item(p, args, 3),
    };
    t.dtype = tern_pickle_storage_of(p, t.storage).dtype;
    if (!t.dtype->name)
        t.dtype = tern_pickle_dtype(tern_pickle_item(p, args, 6));
    return t;
}

// A tuple of at most TERN_MAX_RANK integers, none negative.
static bool is_sizes(const tern_pickle *p, tern_pickle_ref tuple)
{
    if (tern_pickle_type_of(p, tuple) != TERN_PICKLE_TUPLE ||
        tern_pickle_length(p, tuple) > TERN_MAX_RANK)
        return false;
    for (uint32_t i = 0; i < tern_pickle_length(p, tuple); i++) {
        const tern_pickle_ref item = tern_pickle_item(p, tuple, i);
        if (tern_pickle_type_of(p, item) != TERN_PICKLE_INT || tern_pickle_int(p, item) < 0)
            return false;
    }
    return true;
}

// Whether all elements lie in the storage.
static bool is_inside(const tern_pickle *p, const tern_pickle_tensor *t)
{
    const tern_pickle_storage storage = tern_pickle_storage_of(p, t->storage);
    const int64_t numel = storage.numel / (storage.dtype->name ? 1 : t->dtype->size);
    int64_t count = 1, last = t->offset, step;
    bool over = false;
    for (uint32_t i = 0; i < tern_pickle_length(p, t->size); i++) {
        const int64_t size = tern_pickle_int(p, tern_pickle_item(p, t->size, i));
        if (size == 0)
            return true;
        const int64_t stride = tern_pickle_int(p, tern_pickle_item(p, t->stride, i));
        over |= __builtin_mul_overflow(size - 1, stride, &step) |
                __builtin_add_overflow(last, step, &last) |
                __builtin_mul_overflow(count, size, &count) | (count > INT64_MAX / 16); // bytes
    }
    return !over && last < numel;
}

static tern_status check_tensor(const tern_pickle *p, const tern_pickle_ref *arg)
{
    if (tern_pickle_type_of(p, arg[0]) != TERN_PICKLE_STORAGE)
        return tern_pickle_bad(p, "has a tensor without a storage");
    if (tern_pickle_type_of(p, arg[1]) != TERN_PICKLE_INT || tern_pickle_int(p, arg[1]) < 0)
        return tern_pickle_bad(p, "has a tensor whose offset is not 0 or more");
    if (!is_sizes(p, arg[2]) || !is_sizes(p, arg[3]) ||
        tern_pickle_length(p, arg[2]) != tern_pickle_length(p, arg[3]))
        return tern_pickle_bad(p,
                               "has a tensor whose sizes and strides are not up to %d each, "
                               "0 or more",
                               TERN_MAX_RANK);
    return TERN_OK;
}

static tern_status check_hooks(const tern_pickle *p, const tern_pickle_ref *arg)
{
    if (tern_pickle_type_of(p, arg[4]) != TERN_PICKLE_BOOL ||
        tern_pickle_type_of(p, arg[5]) != TERN_PICKLE_ORDERED_DICT ||
        tern_pickle_length(p, arg[5]) > 0)
        return tern_pickle_bad(p, "has a tensor with hooks, or whose requires_grad is no bool");
    return TERN_OK;
}

// What stands in the metadata changes the elements.
static bool is_plain(const tern_pickle *p, tern_pickle_ref metadata)
{
    return metadata == TERN_PICKLE_NONE_REF ||
           (tern_pickle_type_of(p, metadata) == TERN_PICKLE_DICT &&
            tern_pickle_length(p, metadata) == 0);
}

// Arguments: storage, offset, size, stride, [requires_grad, hooks, [dtype,] [metadata]].
tern_pickle_ref tern_pickle_make_tensor(tern_pickle *p, tern_pickle_ref args,
                                        tern_pickle_global function)
{
    const bool typed = function == TERN_GLOBAL_TENSOR_V3, first = function == TERN_GLOBAL_TENSOR_V1;
    const uint32_t count = tern_pickle_length(p, args), min = first ? 4 : typed ? 7 : 6;
    if (count < min || count > min + !first) {
        tern_pickle_bad(p, "has a tensor of %u arguments", count);
        return TERN_PICKLE_NO_VALUE;
    }
    tern_pickle_ref arg[8];
    for (uint32_t i = 0; i < count; i++)
        arg[i] = tern_pickle_item(p, args, i);
    if (tern_pickle_type_of(p, arg[0]) == TERN_PICKLE_OBJECT)
        return arg[0];
    if (tern_pickle_type_of(p, arg[2]) == TERN_PICKLE_TUPLE &&
        tern_pickle_length(p, arg[2]) > TERN_MAX_RANK)
        return tern_pickle_unreadable(p, "a tensor of more than 8 dimensions");
    if (check_tensor(p, arg) || (!first && check_hooks(p, arg)))
        return TERN_PICKLE_NO_VALUE;
    if (count > min && !is_plain(p, arg[min]))
        return tern_pickle_unreadable(p, "a tensor that is the negative or the conjugate of what "
                                         "is stored (save tensor.resolve_neg().resolve_conj())");
    const bool untyped = !tern_pickle_storage_of(p, arg[0]).dtype->name;
    if (typed != untyped || (typed && !tern_pickle_dtype(arg[6]))) {
        tern_pickle_bad(p, "has a tensor of no dtype, or of two");
        return TERN_PICKLE_NO_VALUE;
    }
    const tern_pickle_ref ref = tern_pickle_new(p, TERN_PICKLE_TENSOR, 0, 1);
    if (!ref)
        return ref;
    *tern_pickle_word(p, ref + 1) = args;
    const tern_pickle_tensor t = tern_pickle_tensor_of(p, ref);
    if (!is_inside(p, &t)) {
        tern_pickle_bad(p, "has a tensor that goes beyond its storage %llu",
                        (unsigned long long)tern_pickle_storage_of(p, arg[0]).key);
        return TERN_PICKLE_NO_VALUE;
    }
    return ref;
}
