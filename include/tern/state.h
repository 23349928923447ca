// SPDX-License-Identifier: Apache-2.0
/// @file
/// States: ordered named values (tensors, numbers, texts, bytes), what is saved of an object and
/// loaded into one.
///
///     tern_state *state = tern_module_state_dict(net);   // module.h: PyTorch's names
///     tern_state *best = tern_state_copy(state);         // the values as they are now
///     if (tern_module_load_state_dict(net, best))
///         tern_error_print(stderr);
///     tern_state_free(best);
///     tern_state_free(state);
///
/// A state is the caller's: free it with tern_state_free. It holds a reference to each tensor in
/// it; the tensors of a state dict are the object's own, so they go on changing with the object,
/// as PyTorch's do, and tern_state_copy keeps their values. Numbers, texts and bytes are copies.
/// Failed calls return NULL, a status, -1 or false, with an error pending: TERN_ERR_ARG for a name
/// that is not there, and for a value of another type. Threads: several may read a state; who
/// changes it is alone with it.
#ifndef TERN_STATE_H
#define TERN_STATE_H

#include <tern/options.h>
#include <tern/device.h>
#include <tern/error.h>
#include <tern/generator.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// Ordered names with a value each.
typedef struct tern_state tern_state;
TERN_REQUIRED_TYPE_(state, const tern_state *)

/// Bytes of a name in a state, the final 0 included.
#define TERN_STATE_NAME_SIZE 1025

/// What a value is.
typedef enum tern_state_type {
    TERN_STATE_UNSPECIFIED = 0, ///< there is no value of that name
    TERN_STATE_TENSOR,          ///< a tensor
    TERN_STATE_INT,             ///< an int64_t
    TERN_STATE_DOUBLE,          ///< a double
    TERN_STATE_TEXT,            ///< a string
    TERN_STATE_BYTES            ///< bytes, as many as it says
} tern_state_type;

/// A state without values; NULL on failure.
TERN_API tern_state *tern_state_new(void);
/// Frees it and gives back its tensors. NULL is fine; one that was freed is TERN_ERR_STATE, here
/// and wherever it is used. While it is loaded it is neither freed nor changed: TERN_ERR_STATE.
TERN_API void tern_state_free(tern_state *state);

/// `tern_state_copy(state, .device = tern_cpu(0))`.
typedef struct tern_state_copy_options {
    tern_device device; ///< of the copies; unless said each is where its original is
    char reserved_;
    const tern_state *state; ///< what is copied
} tern_state_copy_options;
#define TERN_STATE_COPY_DEFAULTS_ .device = {TERN_DEVICE_UNSPECIFIED, 0}
#define TERN_STATE_COPY_FIELDS_   1, 0, (state), (state)
TERN_API tern_state_copy_options tern_state_copy_defaults(void);
/// A state of the same names and values whose tensors are copies, contiguous, without history;
/// freed with tern_state_free. Waits for the devices. NULL on failure; TERN_ERR_STATE while the
/// calling thread captures.
TERN_API tern_state *tern_state_copy_with(const tern_state_copy_options *options);
#define tern_state_copy(...)                                                                       \
    TERN_WITH_(tern_state_copy, tern_state_copy, TERN_STATE_COPY, __VA_ARGS__)

// ---- values -------------------------------------------------------------------------------------
// A name has 1 to 1024 bytes and no control characters, else TERN_ERR_ARG. Setting a name that is
// there replaces its value, of whatever type, and keeps its place.

/// Sets `name` to a tensor, of which the state holds a reference.
TERN_API TERN_NODISCARD tern_status tern_state_set_tensor(tern_state *state, const char *name,
                                                          tern_tensor *tensor);
/// Sets `name` to an integer.
TERN_API TERN_NODISCARD tern_status tern_state_set_int(tern_state *state, const char *name,
                                                       int64_t value);
/// Sets `name` to a number.
TERN_API TERN_NODISCARD tern_status tern_state_set_double(tern_state *state, const char *name,
                                                          double value);
/// Sets `name` to a copy of `text`.
TERN_API TERN_NODISCARD tern_status tern_state_set_text(tern_state *state, const char *name,
                                                        const char *text);
/// Sets `name` to a copy of `size` bytes; NULL with 0 is fine.
TERN_API TERN_NODISCARD tern_status tern_state_set_bytes(tern_state *state, const char *name,
                                                         const void *bytes, size_t size);

/// The tensor `name`, which stays the state's.
TERN_API tern_tensor *tern_state_tensor(const tern_state *state, const char *name);
/// Sets `*value` to the integer `name`; on failure it is left alone.
TERN_API TERN_NODISCARD tern_status tern_state_get_int(const tern_state *state, const char *name,
                                                       int64_t *value);
/// Likewise the number `name`; an integer of at most 2^53 is one as well.
TERN_API TERN_NODISCARD tern_status tern_state_get_double(const tern_state *state, const char *name,
                                                          double *value);
/// The text `name`; valid until the name is set again or removed, or the state freed.
TERN_API const char *tern_state_text(const tern_state *state, const char *name);
/// The bytes `name`, likewise, and how many there are.
TERN_API const void *tern_state_bytes(const tern_state *state, const char *name, size_t *size);

/// How many values there are; -1 on failure.
TERN_API int64_t tern_state_count(const tern_state *state);
/// The name of value 0, 1, ..., in the order in which they were first set; valid until a value is
/// removed or the state freed. NULL with TERN_ERR_INDEX.
TERN_API const char *tern_state_name_at(const tern_state *state, int64_t index);
/// What value `index` is; TERN_STATE_UNSPECIFIED with TERN_ERR_INDEX.
TERN_API tern_state_type tern_state_type_at(const tern_state *state, int64_t index);
/// What the value `name` is; TERN_STATE_UNSPECIFIED, without an error, where there is none.
TERN_API tern_state_type tern_state_type_of(const tern_state *state, const char *name);
/// Takes a value out; the others keep their order. TERN_ERR_ARG when there is none of that name.
TERN_API TERN_NODISCARD tern_status tern_state_remove(tern_state *state, const char *name);

// ---- visiting an object -------------------------------------------------------------------------
//
// An object says its state once, in one function, which the library runs to save and to load:
//
//     typedef struct average {
//         tern_tensor *mean;
//         int64_t count;
//     } average;
//
//     static tern_status visit(void *object, tern_state_visitor *v)
//     {
//         average *self = object;
//         int64_t count;
//         if (tern_visit_peek_int(v, "count", &count) && count < 0 &&
//             tern_visit_refuse(v, "count", "is %lld, not 0 or more", (long long)count))
//             return tern_error_code();
//         if (tern_visit_tensor(v, "mean", &self->mean))
//             return tern_error_code();
//         return tern_visit_int(v, "count", &self->count);
//     }
//
//     tern_state *state = tern_state_of(visit, &object);
//     if (tern_state_load(state, visit, &object)) ..;
//
// To load it runs twice: the first time nothing of the object changes (tern_visit_is_loading is
// true), all that does not fit is collected, and what has to be made or copied is; the second time
// (tern_visit_is_taking as well) values are set, which cannot fail. So it names the same values in
// both, and changes the object by the calls below alone, or where tern_visit_is_taking. Names are
// those of tern_state_set_tensor, below the part that is visited; each is visited once
// (TERN_ERR_ARG). Any other failure ends the visit, and nothing was loaded.

/// What a visit function is handed; valid during its call.
typedef struct tern_state_visitor tern_state_visitor;

/// Says the state of an object by the calls below. Returns TERN_OK, or what one of them returned.
typedef tern_status tern_visit_fn(void *object, tern_state_visitor *visitor);
TERN_REQUIRED_TYPE_(visit_fn, tern_visit_fn *)
TERN_REQUIRED_TYPE_(object, void *)

/// A tensor that exists, at `*slot`. Loading copies into it, in place: shapes are the same, and so
/// are dtypes, or both floating (converted; see .convert); devices may differ. A graph that saved
/// the old values notices, as with any change in place.
TERN_API TERN_NODISCARD tern_status tern_visit_tensor(tern_state_visitor *visitor, const char *name,
                                                      tern_tensor **slot);
/// A tensor that may be there or not: `*slot`, a reference as of tern_retain, or NULL, which is not
/// saved. Loading makes it in the image of `like` (shape, dtype, device) where the state has it,
/// or copies into one that is of that image; where the state has not, it is given back and NULL
/// (with .strict = false it is left alone).
TERN_API TERN_NODISCARD tern_status tern_visit_optional_tensor(tern_state_visitor *visitor,
                                                               const char *name, tern_tensor **slot,
                                                               const tern_tensor *like);
/// An integer.
TERN_API TERN_NODISCARD tern_status tern_visit_int(tern_state_visitor *visitor, const char *name,
                                                   int64_t *value);
/// A number; loading takes an integer of at most 2^53 as well.
TERN_API TERN_NODISCARD tern_status tern_visit_double(tern_state_visitor *visitor, const char *name,
                                                      double *value);
/// A bool, saved as the integer 0 or 1; others do not fit.
TERN_API TERN_NODISCARD tern_status tern_visit_bool(tern_state_visitor *visitor, const char *name,
                                                    bool *value);
/// A string in a buffer of `size` bytes; a longer one does not fit.
TERN_API TERN_NODISCARD tern_status tern_visit_text(tern_state_visitor *visitor, const char *name,
                                                    char *text, size_t size);
/// `size` bytes; another number of them does not fit.
TERN_API TERN_NODISCARD tern_status tern_visit_bytes(tern_state_visitor *visitor, const char *name,
                                                     void *bytes, size_t size);
/// A text that says what the object is; another one in the state does not fit.
TERN_API TERN_NODISCARD tern_status tern_visit_kind(tern_state_visitor *visitor, const char *name,
                                                    const char *kind);
/// The state of a generator, as bytes; what tern_generator_load refuses does not fit.
TERN_API TERN_NODISCARD tern_status tern_visit_generator(tern_state_visitor *visitor,
                                                         const char *name,
                                                         tern_generator *generator);

/// A part of the object: its names begin with "name.", or with nothing more where `name` is NULL.
TERN_API TERN_NODISCARD tern_status tern_visit_part(tern_state_visitor *visitor, const char *name,
                                                    tern_visit_fn *visit, void *part);
/// Part `index` of a list: its names begin with "name.0.", or "0." where `name` is NULL.
TERN_API TERN_NODISCARD tern_status tern_visit_item(tern_state_visitor *visitor, const char *name,
                                                    int64_t index, tern_visit_fn *visit,
                                                    void *part);

/// True while a state is loaded into the object, in both runs; false for NULL.
TERN_API bool tern_visit_is_loading(const tern_state_visitor *visitor);
/// True in the second run of them.
TERN_API bool tern_visit_is_taking(const tern_state_visitor *visitor);
/// The type of the value that is loaded under `name`; TERN_STATE_UNSPECIFIED where the state has
/// none, while saving, and on failure.
TERN_API tern_state_type tern_visit_peek(const tern_state_visitor *visitor, const char *name);
/// While loading: sets `*value` to the integer that is loaded under `name`, and is true where there
/// is one. For looking at values before they are taken.
TERN_API bool tern_visit_peek_int(const tern_state_visitor *visitor, const char *name,
                                  int64_t *value);
/// Likewise a number.
TERN_API bool tern_visit_peek_double(const tern_state_visitor *visitor, const char *name,
                                     double *value);
/// Likewise a text, the state's; NULL where there is none.
TERN_API const char *tern_visit_peek_text(const tern_state_visitor *visitor, const char *name);
/// Likewise a tensor, the state's; NULL where there is none.
TERN_API tern_tensor *tern_visit_peek_tensor(const tern_state_visitor *visitor, const char *name);
/// The value `name` cannot be loaded: a printf format whose text follows the name, "is -3, not 0 or
/// more". It is listed with all else that does not fit, and the visit goes on. TERN_ERR_STATE while
/// saving, and in the second run.
TERN_API TERN_NODISCARD tern_status tern_visit_refuse(tern_state_visitor *visitor, const char *name,
                                                      const char *format, ...) TERN_PRINTF_(3, 4);

// ---- saving and loading an object ---------------------------------------------------------------

/// Everything that did not fit, for a program to read; freed with tern_load_report_free. It is
/// filled whether loading succeeds or fails; what it held before is not freed.
typedef struct tern_load_report {
    int64_t missing_count;          ///< of `missing`
    int64_t unexpected_count;       ///< of `unexpected`
    int64_t mismatched_count;       ///< of `mismatched`
    const char *const *missing;     ///< names that the object has and the state has not
    const char *const *unexpected;  ///< names that the state has and the object has not
    const char *const *mismatched;  ///< a sentence for each value that does not fit
    struct tern_load_lists *lists_; ///< the library's own
} tern_load_report;

/// Frees what a report holds and makes it empty. NULL is fine, and so is a zeroed one.
TERN_API void tern_load_report_free(tern_load_report *report);

/// The state of an object: what `visit` says of it. It holds the object's tensors. NULL on failure.
TERN_API tern_state *tern_state_of(tern_visit_fn *visit, void *object);

/// Gives a value of a state another name for the object: writes it to `renamed`, of `size` bytes,
/// and returns true. False: it keeps `name`. Called for each name, again for each option that is
/// tried for the sentence of an error, and for the name of a module whose version a file has, with
/// ".version" behind it. An error that it leaves pending ends the load.
///
///     static bool rename_head(const char *name, char *renamed, size_t size, void *user)
///     {
///         if (strncmp(name, "fc.", 3) != 0)
///             return false;
///         snprintf(renamed, size, "head.%s", name + 3);
///         return true;
///     }
typedef bool tern_rename_fn(const char *name, char *renamed, size_t size, void *user);

/// `tern_state_load(state, visit, object, .strict = false)`.
typedef struct tern_state_load_options {
    bool strict;                 ///< missing and unexpected names are errors
    bool convert;                ///< also to floating dtypes from others, and to wider integers
    const char *strip;           ///< taken away from names of the state that begin with it, or NULL
    const char *prefix;          ///< names of the state without it do not count, or NULL
    const char *strip_component; ///< names are compared without this component, or NULL
    tern_rename_fn *rename;      ///< gives names of the state others, or NULL
    void *user;                  ///< what `rename` is handed
    tern_load_report *report;    ///< filled with what does not fit, or NULL
    char reserved_;
    const tern_state *state; ///< what is loaded
    tern_visit_fn *visit;    ///< that of the object
    void *object;            ///< what `visit` is handed
} tern_state_load_options;
#define TERN_STATE_LOAD_DEFAULTS_                                                                  \
    .strict = true, .convert = false, .strip = NULL, .prefix = NULL, .strip_component = NULL,      \
    .rename = NULL, .user = NULL, .report = NULL
#define TERN_STATE_LOAD_FIELDS_ 3, 0, (state, visit, object), (state, visit_fn, object)
TERN_API tern_state_load_options tern_state_load_defaults(void);
/// Loads a state into an object, all or nothing. Names are compared without .prefix, then without
/// .strip, then as .rename gives them. With .strip_component = "module" those that are not found
/// are compared once more without such components on either side: "features.module.0.weight" is
/// "features.0.weight", but the last component stays. A name of the object that several of the
/// state have become is TERN_ERR_ARG, and so is one that .rename makes empty or longer than 1024
/// bytes. Everything that does not fit is in one error: TERN_ERR_ARG when names are missing or
/// unexpected, else the code of the first value that does not fit (TERN_ERR_SHAPE; TERN_ERR_DTYPE;
/// TERN_ERR_FORMAT for a generator; TERN_ERR_STATE for an expanded tensor; else TERN_ERR_ARG). The
/// sentence has up to 8 of each kind, the name that may be meant, and which of .prefix, .strip and
/// .strip_component makes the names fit. With .strict = false what the state lacks is left alone
/// and what it has beyond is passed over; values that do not fit stay errors, and so does a state
/// that has no name of the object's. Nothing is recorded. What comes from another device or dtype
/// takes memory meanwhile. Waits for the devices. TERN_ERR_STATE while the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_state_load_with(const tern_state_load_options *options);
#define tern_state_load(...)                                                                       \
    tern_status_of_(TERN_WITH_(tern_state_load, tern_state_load, TERN_STATE_LOAD, __VA_ARGS__))

// ---- random numbers -----------------------------------------------------------------------------

/// The default generators of the devices in use, dropout's numbers included: "generators.cpu",
/// "generators.cpu:1", "generators.cuda:0", ... as bytes. A device that nothing was done on yet is
/// not in it: it starts from the seed. NULL on failure.
TERN_API tern_state *tern_random_state_dict(void);

/// `tern_random_load_state_dict(state, .strict = false)`.
typedef struct tern_random_load_state_dict_options {
    bool strict;              ///< missing and unexpected names are errors
    const char *prefix;       ///< names of the state without it do not count, or NULL
    tern_load_report *report; ///< filled with what does not fit, or NULL
    char reserved_;
    const tern_state *state; ///< what is loaded
} tern_random_load_state_dict_options;
#define TERN_RANDOM_LOAD_STATE_DICT_DEFAULTS_ .strict = true, .prefix = NULL, .report = NULL
#define TERN_RANDOM_LOAD_STATE_DICT_FIELDS_   1, 0, (state), (state)
TERN_API tern_random_load_state_dict_options tern_random_load_state_dict_defaults(void);
/// Puts the default generators where they were, all or nothing. A device in use that the state
/// lacks is missing, one of the state that is not here is unexpected; fails as tern_state_load.
TERN_API TERN_NODISCARD tern_status
tern_random_load_state_dict_with(const tern_random_load_state_dict_options *options);
#define tern_random_load_state_dict(...)                                                           \
    tern_status_of_(TERN_WITH_(tern_random_load_state_dict, tern_random_load_state_dict,           \
                               TERN_RANDOM_LOAD_STATE_DICT, __VA_ARGS__))

TERN_END_DECLS

#endif
