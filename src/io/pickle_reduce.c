// SPDX-License-Identifier: Apache-2.0
// What a pickle may name, and the values that are made of it: dictionaries, storages and tensors.
// What it names beyond that makes an object that has no value, but leaves the others readable.
#include <stdio.h>
#include <string.h>
#include "io/pickle.h"

static const struct {
    const char *module, *name;
} globals[] = {
    [TERN_GLOBAL_ORDERED_DICT] = {"collections", "OrderedDict"},
    [TERN_GLOBAL_COUNTER] = {"collections", "Counter"},
    [TERN_GLOBAL_TENSOR_V2] = {"torch._utils", "_rebuild_tensor_v2"},
    [TERN_GLOBAL_TENSOR_V3] = {"torch._utils", "_rebuild_tensor_v3"},
    [TERN_GLOBAL_PARAMETER] = {"torch._utils", "_rebuild_parameter"},
    [TERN_GLOBAL_SIZE] = {"torch", "Size"},
    [TERN_GLOBAL_DEVICE] = {"torch", "device"},
    [TERN_GLOBAL_TENSOR_V1] = {"torch._utils", "_rebuild_tensor"},
    [TERN_GLOBAL_PARAMETER_WITH_STATE] = {"torch._utils", "_rebuild_parameter_with_state"},
    [TERN_GLOBAL_FROM_TYPE] = {"torch._tensor", "_rebuild_from_type_v2"},
    [TERN_GLOBAL_TENSOR_CLASS] = {"torch", "Tensor"},
    [TERN_GLOBAL_PARAMETER_CLASS] = {"torch.nn.parameter", "Parameter"},
    [TERN_GLOBAL_LAYOUT] = {"torch.serialization", "_get_layout"},
    [TERN_GLOBAL_ENCODE] = {"_codecs", "encode"},
    [TERN_GLOBAL_BYTES] = {"builtins", "bytes"},
    [TERN_GLOBAL_BYTEARRAY] = {"builtins", "bytearray"},
    [TERN_GLOBAL_SET] = {"builtins", "set"},
    [TERN_GLOBAL_COMPLEX] = {"builtins", "complex"},
};

// Modules of which torch.load takes nothing either: such a file was made to do harm.
static const char *const blocked[] = {"os", "posix", "nt", "sys"};

static bool is_storage_class(const tern_torch_dtype *dtype, const char *module, const char *name)
{
    return dtype->storage && strcmp(name, dtype->storage) == 0 &&
           strcmp(module, dtype->name ? "torch" : "torch.storage") == 0;
}

// Neither imported nor called: a name.
static tern_pickle_ref object_of(tern_pickle *p, const char *module, const char *name)
{
    char whole[300];
    const int length = snprintf(whole, sizeof whole, "%s.%s", module, name);
    for (unsigned i = 0; i < sizeof blocked / sizeof *blocked; i++)
        if (strcmp(module, blocked[i]) == 0) {
            tern_pickle_bad(p, "uses %s: only state dicts can be read; save net.state_dict()",
                            whole);
            return TERN_PICKLE_NO_VALUE;
        }
    return tern_pickle_new_text(p, TERN_PICKLE_OBJECT, whole, (size_t)length);
}

tern_pickle_ref tern_pickle_find_global(tern_pickle *p, const char *module, const char *name)
{
    if (strcmp(module, "__builtin__") == 0) // its name in Python 2, whose protocol this is
        module = "builtins";
    for (unsigned i = 0; i < sizeof globals / sizeof *globals; i++)
        if (strcmp(module, globals[i].module) == 0 && strcmp(name, globals[i].name) == 0)
            return TERN_PICKLE_GLOBALS + i;
    for (unsigned i = 0; i < (unsigned)tern_torch_dtype_count; i++) {
        const tern_torch_dtype *dtype = &tern_torch_dtypes[i];
        if (is_storage_class(dtype, module, name))
            return TERN_PICKLE_STORAGES + i;
        if (dtype->name && strcmp(module, "torch") == 0 && strcmp(name, dtype->name) == 0)
            return TERN_PICKLE_DTYPES + i;
    }
    return object_of(p, module, name);
}

// ---- dictionaries, tensors ----------------------------------------------------------------------

static tern_pickle_ref wrong(const tern_pickle *p, const char *what)
{
    tern_pickle_bad(p, "has %s of other arguments than torch.save writes", what);
    return TERN_PICKLE_NO_VALUE;
}

static bool is_pair(const tern_pickle *p, tern_pickle_ref ref)
{
    const tern_pickle_type type = tern_pickle_type_of(p, ref);
    return (type == TERN_PICKLE_TUPLE || type == TERN_PICKLE_LIST) &&
           tern_pickle_length(p, ref) == 2;
}

// The two of a tuple or list.
static void take_pair(const tern_pickle *p, tern_pickle_ref ref, tern_pickle_ref *pair)
{
    tern_pickle_ref none;
    tern_pickle_cursor cursor = tern_pickle_items(p, ref);
    (void)tern_pickle_next(&cursor, &none, &pair[0]);
    (void)tern_pickle_next(&cursor, &none, &pair[1]);
}

static tern_pickle_ref make_ordered_dict(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    const tern_pickle_ref list = count ? tern_pickle_item(p, args, 0) : TERN_PICKLE_NO_VALUE;
    if (count > 1 || (list && tern_pickle_type_of(p, list) != TERN_PICKLE_LIST))
        return wrong(p, "an OrderedDict");
    const tern_pickle_ref dict = tern_pickle_new_container(p, TERN_PICKLE_ORDERED_DICT);
    if (!dict || !list)
        return dict;
    tern_pickle_cursor cursor = tern_pickle_items(p, list);
    for (tern_pickle_ref none, item, pair[2]; tern_pickle_next(&cursor, &none, &item);) {
        if (!is_pair(p, item))
            return wrong(p, "an OrderedDict");
        take_pair(p, item, pair);
        if (tern_pickle_extend(p, dict, pair, 2))
            return TERN_PICKLE_NO_VALUE;
    }
    return dict;
}

static tern_pickle_ref make_counter(tern_pickle *p, tern_pickle_ref args)
{
    if (tern_pickle_length(p, args) == 0)
        return tern_pickle_new_container(p, TERN_PICKLE_DICT);
    const tern_pickle_ref dict = tern_pickle_item(p, args, 0);
    if (tern_pickle_length(p, args) > 1 || tern_pickle_type_of(p, dict) != TERN_PICKLE_DICT)
        return wrong(p, "a Counter");
    return dict;
}

static bool is_unknown(const tern_pickle *p, tern_pickle_ref ref)
{
    const tern_pickle_type type = tern_pickle_type_of(p, ref);
    return type == TERN_PICKLE_OBJECT || type == TERN_PICKLE_UNREADABLE;
}

// Arguments: tensor, requires_grad, hooks.
static tern_pickle_ref make_parameter(tern_pickle *p, tern_pickle_ref args, uint32_t count)
{
    const tern_pickle_ref tensor =
        tern_pickle_length(p, args) == count ? tern_pickle_item(p, args, 0) : TERN_PICKLE_NONE_REF;
    if (tern_pickle_type_of(p, tensor) != TERN_PICKLE_TENSOR && !is_unknown(p, tensor))
        return wrong(p, "a Parameter");
    return tensor;
}

// Attributes are no values of a state: they are counted.
static void leave_out(tern_pickle *p, tern_pickle_ref attributes)
{
    const bool is_dict = tern_pickle_type_of(p, attributes) == TERN_PICKLE_DICT;
    p->attributes += is_dict ? tern_pickle_length(p, attributes) : 1;
}

// Arguments: tensor, requires_grad, hooks, attributes.
static tern_pickle_ref make_parameter_with_state(tern_pickle *p, tern_pickle_ref args)
{
    const tern_pickle_ref tensor = make_parameter(p, args, 4);
    if (tensor)
        leave_out(p, tern_pickle_item(p, args, 3));
    return tensor;
}

// Arguments: function, type, its arguments, attributes. What is of another type than a tensor or
// parameter is an object.
static tern_pickle_ref make_from_type(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    const tern_pickle_ref function = count == 4 ? tern_pickle_item(p, args, 0) : 0;
    const tern_pickle_ref type = count == 4 ? tern_pickle_item(p, args, 1) : 0;
    if (function && is_unknown(p, function))
        return function;
    if (type && is_unknown(p, type))
        return type;
    if ((function != TERN_PICKLE_GLOBALS + TERN_GLOBAL_TENSOR_V2 &&
         function != TERN_PICKLE_GLOBALS + TERN_GLOBAL_TENSOR_V3) ||
        (type != TERN_PICKLE_GLOBALS + TERN_GLOBAL_TENSOR_CLASS &&
         type != TERN_PICKLE_GLOBALS + TERN_GLOBAL_PARAMETER_CLASS))
        return wrong(p, "a tensor");
    leave_out(p, tern_pickle_item(p, args, 3));
    return tern_pickle_reduce(p, function, tern_pickle_item(p, args, 2));
}

// ---- bytes, sets --------------------------------------------------------------------------------

// The bytes that a text is in Latin-1, as protocol 2 has them: each is a character up to U+00FF.
static tern_pickle_ref encode(tern_pickle *p, tern_pickle_ref args)
{
    const bool two = tern_pickle_length(p, args) == 2;
    const tern_pickle_ref text = two ? tern_pickle_item(p, args, 0) : TERN_PICKLE_NONE_REF;
    if (!two || tern_pickle_type_of(p, text) != TERN_PICKLE_TEXT ||
        (!tern_pickle_text_is(p, tern_pickle_item(p, args, 1), "latin1") &&
         !tern_pickle_text_is(p, tern_pickle_item(p, args, 1), "latin-1")))
        return wrong(p, "bytes");
    const tern_pickle_ref bytes = tern_pickle_new_latin1(p, text);
    if (!bytes && !tern_error_pending())
        return wrong(p, "bytes");
    return bytes;
}

static tern_pickle_ref make_bytes(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    if (count == 0)
        return tern_pickle_new_text(p, TERN_PICKLE_BYTES, "", 0);
    const tern_pickle_ref only = tern_pickle_item(p, args, 0);
    if (count == 1 && tern_pickle_type_of(p, only) == TERN_PICKLE_BYTES)
        return only;
    return encode(p, args);
}

// The list of its items, which become names by their place.
static tern_pickle_ref make_set(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    if (count == 0)
        return tern_pickle_new_container(p, TERN_PICKLE_LIST);
    const tern_pickle_ref list = tern_pickle_item(p, args, 0);
    if (count != 1 || tern_pickle_type_of(p, list) != TERN_PICKLE_LIST)
        return wrong(p, "a set");
    return list;
}

static tern_pickle_ref make_layout(tern_pickle *p, tern_pickle_ref args)
{
    if (tern_pickle_length(p, args) != 1 ||
        tern_pickle_type_of(p, tern_pickle_item(p, args, 0)) != TERN_PICKLE_TEXT)
        return wrong(p, "a layout");
    return tern_pickle_item(p, args, 0);
}

// ---- other calls --------------------------------------------------------------------------------

static tern_pickle_ref make_size(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    if (count != 1 || tern_pickle_type_of(p, tern_pickle_item(p, args, 0)) != TERN_PICKLE_TUPLE)
        return wrong(p, "a Size");
    return tern_pickle_item(p, args, 0);
}

// The text that names it, "cuda:1".
static tern_pickle_ref make_device(tern_pickle *p, tern_pickle_ref args)
{
    const uint32_t count = tern_pickle_length(p, args);
    const tern_pickle_ref type = count ? tern_pickle_item(p, args, 0) : TERN_PICKLE_NONE_REF;
    if (count > 2 || tern_pickle_type_of(p, type) != TERN_PICKLE_TEXT ||
        tern_pickle_length(p, type) > 32)
        return wrong(p, "a device");
    if (count == 1)
        return type;
    const tern_pickle_ref index = tern_pickle_item(p, args, 1);
    if (tern_pickle_type_of(p, index) != TERN_PICKLE_INT || tern_pickle_int(p, index) < 0)
        return wrong(p, "a device");
    char name[64], whole[96];
    tern_pickle_text(p, type, name, sizeof name);
    snprintf(whole, sizeof whole, "%s:%lld", name, (long long)tern_pickle_int(p, index));
    return tern_pickle_new_text(p, TERN_PICKLE_TEXT, whole, strlen(whole));
}

tern_pickle_ref tern_pickle_reduce(tern_pickle *p, tern_pickle_ref callable, tern_pickle_ref args)
{
    if (is_unknown(p, callable))
        return callable;
    if (tern_pickle_type_of(p, callable) != TERN_PICKLE_GLOBAL ||
        tern_pickle_type_of(p, args) != TERN_PICKLE_TUPLE)
        return wrong(p, "a call");
    if (callable >= TERN_PICKLE_STORAGES)
        return wrong(p, "a storage or dtype");
    switch ((tern_pickle_global)(callable - TERN_PICKLE_GLOBALS)) {
    case TERN_GLOBAL_ORDERED_DICT:
        return make_ordered_dict(p, args);
    case TERN_GLOBAL_COUNTER:
        return make_counter(p, args);
    case TERN_GLOBAL_TENSOR_V1:
    case TERN_GLOBAL_TENSOR_V2:
    case TERN_GLOBAL_TENSOR_V3:
        return tern_pickle_make_tensor(p, args,
                                       (tern_pickle_global)(callable - TERN_PICKLE_GLOBALS));
    case TERN_GLOBAL_PARAMETER:
        return make_parameter(p, args, 3);
    case TERN_GLOBAL_PARAMETER_WITH_STATE:
        return make_parameter_with_state(p, args);
    case TERN_GLOBAL_PARAMETER_CLASS:
        return make_parameter(p, args, tern_pickle_length(p, args) == 2 ? 2 : 1);
    case TERN_GLOBAL_FROM_TYPE:
        return make_from_type(p, args);
    case TERN_GLOBAL_TENSOR_CLASS:
        return tern_pickle_unreadable(p, "a tensor without elements");
    case TERN_GLOBAL_LAYOUT:
        return make_layout(p, args);
    case TERN_GLOBAL_ENCODE:
        return encode(p, args);
    case TERN_GLOBAL_BYTES:
    case TERN_GLOBAL_BYTEARRAY:
        return make_bytes(p, args);
    case TERN_GLOBAL_SET:
        return make_set(p, args);
    case TERN_GLOBAL_COMPLEX:
        return tern_pickle_unreadable(p, "a complex number");
    case TERN_GLOBAL_SIZE:
        return make_size(p, args);
    case TERN_GLOBAL_DEVICE:
        return make_device(p, args);
    }
    return wrong(p, "a call");
}

// The attributes of a state dict: `_metadata`, the versions of its modules. Others are left out.
tern_status tern_pickle_build(tern_pickle *p, tern_pickle_ref object, tern_pickle_ref state)
{
    if (is_unknown(p, object))
        return TERN_OK;
    if (tern_pickle_type_of(p, object) != TERN_PICKLE_ORDERED_DICT ||
        tern_pickle_type_of(p, state) != TERN_PICKLE_DICT)
        return tern_pickle_bad(p, "sets attributes of what is no state dict");
    tern_pickle_cursor cursor = tern_pickle_items(p, state);
    for (tern_pickle_ref key, item; tern_pickle_next(&cursor, &key, &item);) {
        if (tern_pickle_text_is(p, key, "_metadata") &&
            tern_pickle_type_of(p, item) == TERN_PICKLE_ORDERED_DICT)
            tern_pickle_set_metadata(p, object, item);
        else
            p->attributes++;
    }
    return TERN_OK;
}
