// SPDX-License-Identifier: Apache-2.0
// state.h, and what module.h has of states
#include "errors.h"

#define NO_STATE(function, op, ...)                                                                \
    REFUSES(function, "a state that is NULL", TERN_ERR_NULL, op ": state is NULL", __VA_ARGS__)
#define NO_NAME(function, op, ...)                                                                 \
    REFUSES(function, "a name that is NULL", TERN_ERR_NULL, op ": name is NULL", __VA_ARGS__)

// ---- making and copying -------------------------------------------------------------------------

static bool made_and_freed(tern_state *state)
{
    tern_state_free(state);
    return state != NULL;
}

CANNOT_FAIL(tern_state_new, "only without memory, which the suite reliability looks at",
            made_and_freed(tern_state_new()))
CANNOT_FAIL(tern_state_free, "NULL is fine", (tern_state_free(NULL), 1))
TAKES(tern_state_free, "NULL", (tern_state_free(NULL), 1))
NO_STATE(tern_state_copy_with, "state_copy", tern_state_copy(NULL))
REFUSES(tern_state_copy_with, "options that are NULL", TERN_ERR_NULL, "state_copy: options is NULL",
        tern_state_copy_with(NULL))
REFUSES(tern_state_copy_with, "a device that does not exist", TERN_ERR_DEVICE, "state_copy: |cpu:2",
        tern_state_copy(f->state, .device = tern_cpu(2)))

// A freed one is found while its memory is kept.
static int64_t count_freed(void)
{
    tern_state *state = tern_state_new();
    tern_state_free(state);
    return tern_state_count(state);
}

REFUSES(tern_state_count, "a state that was freed", TERN_ERR_STATE,
        "state_count: this state was freed already", count_freed() == -1)

// ---- values -------------------------------------------------------------------------------------

NULL_AND_DEAD(tern_state_set_tensor, "state_set_tensor", "tensor",
              tern_state_set_tensor(f->state, "t", NULL),
              tern_state_set_tensor(f->state, "t", f->dead))
NO_STATE(tern_state_set_tensor, "state_set_tensor", tern_state_set_tensor(NULL, "t", f->x))
NO_STATE(tern_state_set_int, "state_set_int", tern_state_set_int(NULL, "n", 1))
NO_STATE(tern_state_set_double, "state_set_double", tern_state_set_double(NULL, "n", 1))
NO_STATE(tern_state_set_text, "state_set_text", tern_state_set_text(NULL, "n", "t"))
NO_STATE(tern_state_set_bytes, "state_set_bytes", tern_state_set_bytes(NULL, "n", "t", 1))
NO_NAME(tern_state_set_int, "state_set_int", tern_state_set_int(f->state, NULL, 1))
REFUSES(tern_state_set_double, "an empty name", TERN_ERR_ARG,
        "state_set_double: \"\" cannot be a name: it has 0 bytes, not 1 to 1024",
        tern_state_set_double(f->state, "", 1))
REFUSES(tern_state_set_int, "a name with a control character", TERN_ERR_ARG,
        "state_set_int: |cannot be a name: it has a control character",
        tern_state_set_int(f->state, "a\tb", 1))
REFUSES(tern_state_set_text, "a text that is NULL", TERN_ERR_NULL, "state_set_text: text is NULL",
        tern_state_set_text(f->state, "t", NULL))
REFUSES(tern_state_set_bytes, "bytes that are NULL", TERN_ERR_NULL,
        "state_set_bytes: bytes is NULL", tern_state_set_bytes(f->state, "t", NULL, 1))

static size_t size;
static double number;

NO_STATE(tern_state_tensor, "state_tensor", tern_state_tensor(NULL, "t"))
NO_STATE(tern_state_get_int, "state_get_int", tern_state_get_int(NULL, "n", &f->count))
NO_STATE(tern_state_get_double, "state_get_double", tern_state_get_double(NULL, "n", &number))
NO_STATE(tern_state_text, "state_text", tern_state_text(NULL, "t"))
NO_STATE(tern_state_bytes, "state_bytes", tern_state_bytes(NULL, "t", &size))
NO_NAME(tern_state_tensor, "state_tensor", tern_state_tensor(f->state, NULL))
REFUSES(tern_state_tensor, "a name that is not there", TERN_ERR_ARG,
        "state_tensor: there is no \"y\"", tern_state_tensor(f->state, "y"))
REFUSES(tern_state_tensor, "a value of another type", TERN_ERR_ARG,
        "state_tensor: \"count\" is an integer, not a tensor", tern_state_tensor(f->state, "count"))
REFUSES(tern_state_get_int, "a value that is NULL", TERN_ERR_NULL, "state_get_int: value is NULL",
        tern_state_get_int(f->state, "count", NULL))
REFUSES(tern_state_get_int, "a value of another type", TERN_ERR_ARG,
        "state_get_int: \"x\" is a tensor, not an integer",
        tern_state_get_int(f->state, "x", &f->count))
REFUSES(tern_state_get_double, "a value that is NULL", TERN_ERR_NULL,
        "state_get_double: value is NULL", tern_state_get_double(f->state, "count", NULL))
REFUSES(tern_state_get_double, "a value of another type", TERN_ERR_ARG,
        "state_get_double: \"x\" is a tensor, not a number",
        tern_state_get_double(f->state, "x", &number))
REFUSES(tern_state_text, "a value of another type", TERN_ERR_ARG,
        "state_text: \"x\" is a tensor, not a text", tern_state_text(f->state, "x"))
REFUSES(tern_state_bytes, "a value of another type", TERN_ERR_ARG,
        "state_bytes: \"x\" is a tensor, not bytes", tern_state_bytes(f->state, "x", &size))
REFUSES(tern_state_bytes, "a size that is NULL", TERN_ERR_NULL, "state_bytes: size is NULL",
        tern_state_bytes(f->state, "x", NULL))
NO_STATE(tern_state_count, "state_count", tern_state_count(NULL) == -1)
NO_STATE(tern_state_name_at, "state_name_at", tern_state_name_at(NULL, 0))
REFUSES(tern_state_name_at, "an index past the end", TERN_ERR_INDEX,
        "state_name_at: there is no value 2 of 2", tern_state_name_at(f->state, 2))
NO_STATE(tern_state_type_at, "state_type_at", tern_state_type_at(NULL, 0) == TERN_STATE_UNSPECIFIED)
REFUSES(tern_state_type_at, "a negative index", TERN_ERR_INDEX,
        "state_type_at: there is no value -1 of 2",
        tern_state_type_at(f->state, -1) == TERN_STATE_UNSPECIFIED)
NO_STATE(tern_state_type_of, "state_type_of",
         tern_state_type_of(NULL, "n") == TERN_STATE_UNSPECIFIED)
NO_NAME(tern_state_type_of, "state_type_of",
        tern_state_type_of(f->state, NULL) == TERN_STATE_UNSPECIFIED)
TAKES(tern_state_type_of, "a name that is not there",
      tern_state_type_of(f->state, "y") == TERN_STATE_UNSPECIFIED)
NO_STATE(tern_state_remove, "state_remove", tern_state_remove(NULL, "n"))
NO_NAME(tern_state_remove, "state_remove", tern_state_remove(f->state, NULL))
REFUSES(tern_state_remove, "a name that is not there", TERN_ERR_ARG,
        "state_remove: there is no \"y\"", tern_state_remove(f->state, "y"))

// ---- visiting -----------------------------------------------------------------------------------

#define NO_VISITOR(function, op, ...)                                                              \
    REFUSES(function, "a visitor that is NULL", TERN_ERR_NULL, op ": visitor is NULL", __VA_ARGS__)

static bool flag;
static char text[8];

static tern_status visit_nothing(void *object, tern_state_visitor *v)
{
    (void)object;
    (void)v;
    return TERN_OK;
}

NO_VISITOR(tern_visit_tensor, "visit", tern_visit_tensor(NULL, "t", &f->x))
REFUSES(tern_visit_tensor, "a slot that is NULL", TERN_ERR_NULL, "visit_tensor: slot is NULL",
        tern_visit_tensor(NULL, "t", NULL))
REFUSES(tern_visit_tensor, "a tensor that died", TERN_ERR_STATE, "visit_tensor: t (|died when",
        tern_visit_tensor(NULL, "t", &f->dead))
NULL_AND_DEAD(tern_visit_optional_tensor, "visit_optional_tensor", "like",
              tern_visit_optional_tensor(NULL, "t", &f->x, NULL),
              tern_visit_optional_tensor(NULL, "t", &f->x, f->dead))
NO_VISITOR(tern_visit_int, "visit", tern_visit_int(NULL, "n", &f->count))
NO_VISITOR(tern_visit_double, "visit", tern_visit_double(NULL, "n", &number))
NO_VISITOR(tern_visit_bool, "visit", tern_visit_bool(NULL, "n", &flag))
NO_VISITOR(tern_visit_text, "visit", tern_visit_text(NULL, "n", text, sizeof text))
NO_VISITOR(tern_visit_bytes, "visit", tern_visit_bytes(NULL, "n", text, sizeof text))
NO_VISITOR(tern_visit_kind, "visit", tern_visit_kind(NULL, "n", "kind"))
NO_VISITOR(tern_visit_generator, "visit", tern_visit_generator(NULL, "n", f->generator))
NO_VISITOR(tern_visit_part, "visit_part", tern_visit_part(NULL, "n", visit_nothing, NULL))
NO_VISITOR(tern_visit_item, "visit_item", tern_visit_item(NULL, "n", 0, visit_nothing, NULL))
NO_VISITOR(tern_visit_module, "visit_part", tern_visit_module(NULL, "n", f->net))
NO_VISITOR(tern_visit_peek, "visit_peek", tern_visit_peek(NULL, "n") == TERN_STATE_UNSPECIFIED)
NO_VISITOR(tern_visit_peek_int, "visit_peek", !tern_visit_peek_int(NULL, "n", &f->count))
NO_VISITOR(tern_visit_peek_double, "visit_peek", !tern_visit_peek_double(NULL, "n", &number))
NO_VISITOR(tern_visit_peek_text, "visit_peek", tern_visit_peek_text(NULL, "n"))
NO_VISITOR(tern_visit_peek_tensor, "visit_peek", tern_visit_peek_tensor(NULL, "n"))
NO_VISITOR(tern_visit_refuse, "visit_refuse", tern_visit_refuse(NULL, "n", "is odd"))
REFUSES(tern_visit_module, "a module that is NULL", TERN_ERR_NULL, "visit_module: module is NULL",
        tern_visit_module(NULL, "n", NULL))
CANNOT_FAIL(tern_visit_is_loading, "false for NULL", !tern_visit_is_loading(NULL))
CANNOT_FAIL(tern_visit_is_taking, "false for NULL", !tern_visit_is_taking(NULL))

// What a visit does in the cases below.
static tern_status (*inside)(tern_state_visitor *v);

static tern_status visit_inside(void *object, tern_state_visitor *v)
{
    (void)object;
    return inside(v);
}

static tern_state *save(tern_status (*visit)(tern_state_visitor *v))
{
    inside = visit;
    return tern_state_of(visit_inside, NULL);
}

static tern_status refuse(tern_state_visitor *v)
{
    return tern_visit_refuse(v, "n", "is odd");
}

static tern_status visit_null_value(tern_state_visitor *v)
{
    return tern_visit_int(v, "n", NULL);
}

static tern_status visit_null_name(tern_state_visitor *v)
{
    return tern_visit_bool(v, NULL, &flag);
}

static tern_status visit_empty_name(tern_state_visitor *v)
{
    return tern_visit_double(v, "", &number);
}

static tern_status visit_null_part(tern_state_visitor *v)
{
    return tern_visit_part(v, "n", NULL, NULL);
}

static tern_status visit_null_generator(tern_state_visitor *v)
{
    return tern_visit_generator(v, "n", NULL);
}

static tern_status visit_number_for(tern_state_visitor *v)
{
    static double value = 1;
    return tern_visit_double(v, "x", &value);
}

REFUSES(tern_visit_refuse, "a refusal while saving", TERN_ERR_STATE,
        "visit_refuse: \"n\" is refused (is odd) where nothing is loaded", save(refuse))
REFUSES(tern_visit_int, "a value that is NULL", TERN_ERR_NULL, "visit_int: value is NULL",
        save(visit_null_value))
NO_NAME(tern_visit_bool, "visit", save(visit_null_name))
REFUSES(tern_visit_double, "an empty name", TERN_ERR_ARG, "visit: a name below \"\" is empty",
        save(visit_empty_name))
REFUSES(tern_visit_part, "a visit that is NULL", TERN_ERR_NULL, "visit_part: visit is NULL",
        save(visit_null_part))
REFUSES(tern_visit_generator, "a generator that is NULL", TERN_ERR_NULL,
        "visit_generator: generator is NULL", save(visit_null_generator))

// ---- saving and loading -------------------------------------------------------------------------

REFUSES(tern_state_of, "a visit that is NULL", TERN_ERR_NULL, "state_of: visit is NULL",
        tern_state_of(NULL, f))
NO_STATE(tern_state_load_with, "state_load", tern_state_load(NULL, visit_nothing, NULL))
REFUSES(tern_state_load_with, "options that are NULL", TERN_ERR_NULL, "state_load: options is NULL",
        tern_state_load_with(NULL))
REFUSES(tern_state_load_with, "a visit that is NULL", TERN_ERR_NULL, "state_load: visit is NULL",
        tern_state_load(f->state, NULL, NULL))
REFUSES(tern_state_load_with, "a state with more than there is", TERN_ERR_ARG,
        "state_load: unexpected 2: \"x\", \"count\"",
        tern_state_load(f->state, visit_nothing, NULL))
REFUSES(tern_state_load_with, "a tensor for a number", TERN_ERR_ARG,
        "state_load: mismatched 1: \"x\" is a tensor in the state and a number here",
        (inside = visit_number_for, tern_state_load(f->state, visit_inside, NULL, .strict = false)))
REFUSES(tern_state_load_with, "a component that is empty", TERN_ERR_ARG,
        "state_load: .strip_component is \"\"; a component of a name has no dot and is not empty",
        tern_state_load(f->state, visit_nothing, NULL, .strip_component = ""))
REFUSES(tern_state_load_with, "several components", TERN_ERR_ARG,
        "state_load: .strip_component is \"a.b\"; a component of a name has no dot",
        tern_state_load(f->state, visit_nothing, NULL, .strip_component = "a.b"))

static tern_status load_without_module(const tern_state *state,
                                       tern_status (*visit)(tern_state_visitor *v))
{
    inside = visit;
    return tern_state_load(state, visit_inside, NULL, .strict = false, .strip_component = "module");
}

static tern_status visit_count_twice(tern_state_visitor *v)
{
    int64_t count;
    tern_status status = tern_visit_int(v, "count", &count);
    return status ? status : tern_visit_int(v, "module.count", &count);
}

static tern_status visit_n(tern_state_visitor *v)
{
    int64_t n;
    return tern_visit_int(v, "a.n", &n);
}

static tern_status load_two_names(void)
{
    tern_state *state = tern_state_new();
    tern_status status = tern_state_set_int(state, "module.a.n", 1);
    if (!status)
        status = tern_state_set_int(state, "a.module.n", 2);
    if (!status)
        status = load_without_module(state, visit_n);
    tern_state_free(state);
    return status;
}

static bool rename_to_nothing(const char *name, char *renamed, size_t nbytes, void *user)
{
    (void)name;
    (void)renamed;
    (void)nbytes;
    (void)user;
    return true;
}

static bool rename_to_user(const char *name, char *renamed, size_t nbytes, void *user)
{
    (void)name;
    snprintf(renamed, nbytes, "%s", (const char *)user);
    return true;
}

static tern_status load_renamed(const tern_state *state, const char *name)
{
    inside = visit_n;
    return tern_state_load(state, visit_inside, NULL, .rename = rename_to_user,
                           .user = (void *)(uintptr_t)name);
}

REFUSES(tern_state_load_with, "a name that becomes an empty one", TERN_ERR_ARG,
        "state_load: .rename gives \"x\" an empty name",
        tern_state_load(f->state, visit_nothing, NULL, .rename = rename_to_nothing))
REFUSES(tern_module_load_state_dict_with, "a name that becomes an empty one", TERN_ERR_ARG,
        "module_load_state_dict: .rename gives \"x\" an empty name",
        tern_module_load_state_dict(f->net, f->state, .rename = rename_to_nothing))
REFUSES(tern_state_load_with, "names that are renamed to one", TERN_ERR_ARG,
        "state_load: \"a.n\" is ambiguous: the state has \"x\" and \"count\" for it",
        load_renamed(f->state, "a.n"))
REFUSES(tern_state_load_with, "two names of the state that become one", TERN_ERR_ARG,
        "state_load: \"a.n\" is ambiguous: the state has \"module.a.n\" and \"a.module.n\" for it",
        load_two_names())
REFUSES(tern_state_load_with, "two names of the object that become one", TERN_ERR_ARG,
        "state_load: \"count\" is ambiguous without the component \"module\": the object has "
        "\"count\" and \"module.count\"",
        load_without_module(f->state, visit_count_twice))
CANNOT_FAIL(tern_load_report_free, "NULL is fine", (tern_load_report_free(NULL), 1))
CANNOT_FAIL(tern_random_state_dict, "only without memory, which the suite reliability looks at",
            made_and_freed(tern_random_state_dict()))
NO_STATE(tern_random_load_state_dict_with, "random_load_state_dict",
         tern_random_load_state_dict(NULL))
REFUSES(tern_random_load_state_dict_with, "options that are NULL", TERN_ERR_NULL,
        "random_load_state_dict: options is NULL", tern_random_load_state_dict_with(NULL))
REFUSES(tern_random_load_state_dict_with, "a state of something else", TERN_ERR_ARG,
        "random_load_state_dict: missing |generators.cpu|unexpected 2: \"x\", \"count\"",
        tern_random_load_state_dict(f->state))

// ---- modules ------------------------------------------------------------------------------------

REFUSES(tern_module_state_dict, "a module that is NULL", TERN_ERR_NULL,
        "module_state_dict: module is NULL", tern_module_state_dict(NULL))
REFUSES(tern_module_load_state_dict_with, "a module that is NULL", TERN_ERR_NULL,
        "module_load_state_dict: module is NULL", tern_module_load_state_dict(NULL, f->state))
REFUSES(tern_module_load_state_dict_with, "options that are NULL", TERN_ERR_NULL,
        "module_load_state_dict: options is NULL", tern_module_load_state_dict_with(NULL))
NO_STATE(tern_module_load_state_dict_with, "module_load_state_dict",
         tern_module_load_state_dict(f->net, NULL))
REFUSES(tern_module_load_state_dict_with, "a state of another module", TERN_ERR_ARG,
        "module_load_state_dict: missing 2: \"0.weight\", \"0.bias\"; unexpected 2: \"x\", "
        "\"count\"",
        tern_module_load_state_dict(f->net, f->state))
REFUSES(tern_module_load_state_dict_with, "several components", TERN_ERR_ARG,
        "module_load_state_dict: .strip_component is \"module.\"; a component of a name has no dot",
        tern_module_load_state_dict(f->net, f->state, .strip_component = "module."))
