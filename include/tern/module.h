// SPDX-License-Identifier: Apache-2.0
/// @file
/// Modules: what holds parameters, buffers and children by name, and computes tensors from tensors.
///
///     tern_module *net = tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu());
///     tern_module_to(net, tern_device_best());
///     tern_tensor *y = tern_forward(net, x);
///     tern_tensor *w = tern_module_parameter(net, "0.weight");
///     tern_module_free(net);
///
/// A module holds its tensors and owns its children; it is counted, tern_module_retain and
/// tern_module_free. Keys are PyTorch's: the names on the way joined by dots. Tensors handed out
/// belong to the module. While an error is pending a NULL module fails quietly, else it is
/// TERN_ERR_NULL. Threads: several may run one module at the same time; what changes it (training,
/// moves, modes, hooks) is one thread's alone. Its count is atomic.
#ifndef TERN_MODULE_H
#define TERN_MODULE_H

#include <stdio.h>
#include <tern/options.h>
#include <tern/device.h>
#include <tern/error.h>
#include <tern/generator.h>
#include <tern/state.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

/// What computes tensors from tensors; made by a constructor, freed with tern_module_free.
typedef struct tern_module tern_module;
TERN_REQUIRED_TYPE_(module, tern_module *)

/// The most tensors that a module takes or gives.
#define TERN_MAX_TENSORS 8
/// Bytes of a full name like "encoder.0.weight", the final 0 included.
#define TERN_NAME_SIZE 512

/// What goes into a module, or comes out of it.
typedef struct tern_tensors {
    int count;                         ///< 0 to TERN_MAX_TENSORS
    tern_tensor *at[TERN_MAX_TENSORS]; ///< `count` of them, borrowed
} tern_tensors;

/// Computes the outputs: sets `out->count` (0 before) and `out->at[]`. A failure leaves an error
/// pending; children run by tern_forward or tern_module_forward, so that errors name the module.
typedef tern_status tern_module_call_fn(tern_module *self, const tern_tensors *in,
                                        tern_tensors *out);

/// A text that is being written.
typedef struct tern_text tern_text;
/// Adds a piece, formatted as by printf in the C locale.
TERN_API void tern_text_add(tern_text *out, const char *format, ...) TERN_PRINTF_(2, 3);

/// Frees what is no registered tensor or child, when the module is freed; also of one whose
/// constructor failed half-way.
typedef void tern_module_free_fn(tern_module *self);
/// Writes the options as PyTorch's extra_repr, "in_features=784, bias=True": one line, of which 255
/// bytes are kept. Not what changes from forward to forward: errors show what it said first. An
/// error that it raises is dropped.
typedef void tern_module_describe_fn(const tern_module *self, tern_text *out);
/// Draws the module's own parameters, and sets its buffers back; NULL: from the default generators.
/// Nothing is recorded meanwhile.
typedef tern_status tern_module_reset_fn(tern_module *self, tern_generator *generator);
/// Hands on state that is no tensor.
typedef tern_status tern_module_visit_fn(tern_module *self, tern_state_visitor *visitor);
/// Completes a copy: `to` has the bytes of `from`, but bound members that are its own already. What
/// `free` would free has to be made anew. On failure `to` is freed without `free`. On a replica
/// (parallel.h) `free` and `copy` run again at each forward.
typedef tern_status tern_module_copy_fn(tern_module *to, const tern_module *from);

/// A kind of module; static storage. Set the fields by name: those behind `call` may be left out.
typedef struct tern_module_class {
    const char *name;                  ///< for example "Linear"
    size_t size;                       ///< of the struct that begins with a tern_module
    tern_module_call_fn *call;         ///< required
    tern_module_free_fn *free;         ///< NULL: there is nothing to free
    tern_module_describe_fn *describe; ///< for tern_module_print, summaries and errors
    tern_module_reset_fn *reset;       ///< of tern_module_done and tern_module_reset_parameters
    tern_module_visit_fn *visit;       ///< NULL: all state is registered
    tern_module_copy_fn *copy;         ///< of tern_module_copy; needed where there is a `free`
} tern_module_class;

/// The first member of every module's struct.
struct tern_module {
    const tern_module_class *klass;       ///< set by tern_module_new
    struct tern_module_private *private_; ///< the library's own
};

// ---- writing a module ---------------------------------------------------------------------------
//
//     typedef struct residual {
//         tern_module base;
//         tern_module *inner;
//         tern_tensor *scale;
//     } residual;
//
//     static tern_status call(tern_module *module, const tern_tensors *in, tern_tensors *out)
//     {
//         residual *self = (residual *)module;
//         tern_tensor *x = in->at[0];
//         out->at[out->count++] = tern_add(x, tern_mul(tern_forward(self->inner, x), self->scale));
//         return tern_error_code();
//     }
//     static const tern_module_class residual_class = {
//         .name = "Residual", .size = sizeof(residual), .call = call};
//
//     tern_module *residual_new(tern_module *inner)
//     {
//         residual *self = (residual *)tern_module_new(&residual_class);
//         tern_child(self, inner, inner);
//         tern_parameter(self, scale, tern_ones(tern_dims(1)));
//         return tern_done(self);
//     }

/// A module without anything, its struct zeroed, to be filled by tern_module_add_* and finished by
/// tern_module_done. Opens the scope in which the constructor runs. NULL on failure.
TERN_API tern_module *tern_module_new(const tern_module_class *module_class);

/// Ends a constructor: has the class's `reset` draw the parameters, closes the scope and returns
/// the module; NULL, with the module freed, when that or one of the additions failed.
TERN_API tern_module *tern_module_done(tern_module *module);

/// Adds a trainable tensor and returns it. `member` is the pointer in the module's struct that is
/// set to it, and kept right where the tensor is exchanged or the module copied; NULL: none
/// (TERN_ERR_ARG when it lies elsewhere or is bound already). The module holds a reference of its
/// own and makes the tensor require gradients. The name is not empty, has no dot and is not taken
/// (TERN_ERR_ARG); the tensor is a contiguous leaf (TERN_ERR_STATE) and floating (TERN_ERR_DTYPE).
/// The same tensor may be in several modules: it is tied and stays so. NULL is an absent one, which
/// only tern_module_set_parameter sees; while an error is pending it is a failure. After
/// tern_module_done: TERN_ERR_STATE.
TERN_API tern_tensor *tern_module_add_parameter(tern_module *module, const char *name,
                                                tern_tensor **member, tern_tensor *value);

/// Adds a tensor that is state but not trained, and returns it. It moves with the module; a
/// persistent one is in the state dict. It must not require a gradient (TERN_ERR_STATE); member,
/// name and NULL as for parameters.
TERN_API tern_tensor *tern_module_add_buffer(tern_module *module, const char *name,
                                             tern_tensor **member, tern_tensor *value,
                                             bool persistent);

/// Adds a child and returns it; member and name as for parameters. Takes over the caller's
/// reference, also on failure; to use a child in two places give the second a tern_module_retain of
/// it (TERN_ERR_STATE when all references are those of parents). NULL is a child whose constructor
/// failed.
TERN_API tern_module *tern_module_add_child(tern_module *module, const char *name,
                                            tern_module **member, tern_module *child);

// The three under the name of a member, for constructors that go on where tern_module_new failed:
// `self` points to a struct whose first member is `tern_module base`, or is NULL.

/// Adds the parameter that `self->member` is to hold, by tern_module_add_parameter under that name.
#define tern_parameter(self, member, value)                                                        \
    tern_module_add_parameter(TERN_BASE_(self), #member, TERN_MEMBER_(self, member), value)
/// Likewise a buffer that is in the state dict.
#define tern_buffer(self, member, value)                                                           \
    tern_module_add_buffer(TERN_BASE_(self), #member, TERN_MEMBER_(self, member), value, true)
/// Likewise a child: `tern_child(self, conv1, tern_nn_conv2d(3, 64, 7))`.
#define tern_child(self, member, child)                                                            \
    tern_module_add_child(TERN_BASE_(self), #member, TERN_MEMBER_(self, member), child)
/// tern_module_done of such a struct.
#define tern_done(self) tern_module_done(TERN_BASE_(self))
/// The module that the struct begins with; NULL for NULL.
#define TERN_BASE_(self) ((self) ? &(self)->base : NULL)
/// The address of a member; NULL for NULL.
#define TERN_MEMBER_(self, member) ((self) ? &(self)->member : NULL)

#ifndef __cplusplus
// A member of another type is an error, also for compilers that only warn.
/// The function.
#define tern_module_add_parameter(module, name, member, value)                                     \
    tern_module_add_parameter(module, name, TERN_POINTER_(tern_tensor **, member), value)
/// The function.
#define tern_module_add_buffer(module, name, member, value, persistent)                            \
    tern_module_add_buffer(module, name, TERN_POINTER_(tern_tensor **, member), value, persistent)
/// The function.
#define tern_module_add_child(module, name, member, child)                                         \
    tern_module_add_child(module, name, TERN_POINTER_(tern_module **, member), child)
#endif

/// One more reference. Returns the module. NULL stays NULL.
TERN_API tern_module *tern_module_retain(tern_module *module);

/// Gives the module a pointer for the functions of its class, which may then serve many modules
/// that have no struct of their own: tern_module_user finds it. `free` (NULL: nothing) is called
/// with it when the module is freed or gets another one, and at once on failure.
TERN_API TERN_NODISCARD tern_status tern_module_set_user(tern_module *module, void *user,
                                                         tern_free_fn *free);
/// That pointer; NULL when there is none, and on failure.
TERN_API void *tern_module_user(const tern_module *module);

/// Gives a reference back; the last one frees the module and what it holds. NULL is fine. When only
/// parents hold it there is none to give back: TERN_ERR_STATE.
TERN_API void tern_module_free(tern_module *module);

// ---- running ------------------------------------------------------------------------------------

/// One tensor in, one out; NULL on failure. Errors from inside end with the module,
/// "[in 0.fc1 (Linear(in_features=784, out_features=512, bias=True))]".
TERN_API tern_tensor *tern_forward(tern_module *module, tern_tensor *x);

/// A loss module: (input, target) in, one out; NULL on failure.
TERN_API tern_tensor *tern_loss(tern_module *criterion, tern_tensor *input, tern_tensor *target);

/// The general form: up to 8 tensors in and out. On failure `out->count` is 0.
TERN_API TERN_NODISCARD tern_status tern_module_forward(tern_module *module, const tern_tensors *in,
                                                        tern_tensors *out);

/// Runs before a module; may replace what goes in. A failure fails the forward.
typedef tern_status tern_forward_pre_hook_fn(tern_module *module, tern_tensors *in, void *user);
/// Runs after a module; may replace what comes out.
typedef tern_status tern_forward_hook_fn(tern_module *module, const tern_tensors *in,
                                         tern_tensors *out, void *user);

/// Adds a hook that runs before each forward of `module`; `user` is handed to it. Hooks run in the
/// order in which they were added, and never in tern_module_summary_print. A hook may free its
/// module, which then ends its forward, but not run it (TERN_ERR_STATE). It may add and remove
/// hooks, as PyTorch's: which hooks run before a forward is settled when the first of them begins,
/// and after it likewise. One that is added meanwhile waits for the next forward, one that is
/// removed meanwhile still runs in this one: its `user` is to live on (tern_module_set_hook_free).
/// Returns a number for tern_module_remove_hook, 0 on failure.
TERN_API uint64_t tern_module_add_forward_pre_hook(tern_module *module,
                                                   tern_forward_pre_hook_fn *hook, void *user);
/// Likewise one that runs after each forward.
TERN_API uint64_t tern_module_add_forward_hook(tern_module *module, tern_forward_hook_fn *hook,
                                               void *user);
/// Removes a hook; a number that is not there is fine.
TERN_API void tern_module_remove_hook(tern_module *module, uint64_t number);
/// Has `free` called with the hook's `user` when the hook is removed (once no forward of the module
/// is in progress, at the next call about its hooks) or the module freed. TERN_ERR_ARG when there
/// is no such hook.
TERN_API TERN_NODISCARD tern_status tern_module_set_hook_free(tern_module *module, uint64_t number,
                                                              tern_free_fn *free);

/// `count` tensors in, in order, one out; NULL on failure. NULL stands for an optional one.
TERN_API tern_tensor *tern_call_n(tern_module *module, int64_t count, tern_tensor *const *inputs)
    TERN_READS_(3, 2);
#ifdef __cplusplus
/// `tern_call(attention, query, key, value)`.
#define tern_call(module, ...) (tern_cpp_::list(tern_call_n, module, {__VA_ARGS__}))
#else
/// `tern_call(attention, query, key, value)`.
#define tern_call(module, ...)                                                                     \
    __extension__({                                                                                \
        TERN_PRAGMA_(GCC diagnostic push)                                                          \
        TERN_PRAGMA_(GCC diagnostic ignored "-Wshadow")                                            \
        tern_tensor *const inputs_[] = {__VA_ARGS__};                                              \
        TERN_PRAGMA_(GCC diagnostic pop)                                                           \
        tern_call_n(module, (int64_t)(sizeof inputs_ / sizeof inputs_[0]), inputs_);               \
    })
#endif

// ---- looking things up --------------------------------------------------------------------------

/// The parameter of a full name like "0.weight". NULL with TERN_ERR_ARG when there is none.
TERN_API tern_tensor *tern_module_parameter(const tern_module *module, const char *name);
/// The buffer of a full name like "0.running_mean". NULL with TERN_ERR_ARG when there is none.
TERN_API tern_tensor *tern_module_buffer(const tern_module *module, const char *name);
/// The descendant of a full name like "encoder.0"; that of "" is the module itself. It stays its
/// parent's. NULL with TERN_ERR_ARG when there is none.
TERN_API tern_module *tern_module_child(const tern_module *module, const char *name);

/// Whether the module itself is of the class of that name, as tern_module_print writes it:
/// `tern_module_is(m, "Linear")`. False on failure.
TERN_API bool tern_module_is(const tern_module *module, const char *class_name);

/// Distinct parameter tensors, of the module and its descendants; -1 on failure.
TERN_API int64_t tern_module_num_parameters(const tern_module *module);
/// Distinct buffers; -1 on failure.
TERN_API int64_t tern_module_num_buffers(const tern_module *module);
/// Direct children; -1 on failure.
TERN_API int64_t tern_module_num_children(const tern_module *module);
/// Elements of all distinct parameters, or of those that require gradients; -1 on failure.
TERN_API int64_t tern_module_num_elements(const tern_module *module, bool trainable_only);

/// Parameter `index` in PyTorch's order (own ones first, then the children's; a tied one at its
/// first name), and its full name into `name` (`size` bytes; NULL with 0 to leave it out). NULL
/// with TERN_ERR_INDEX. To visit all, tern_module_each_parameter is faster.
TERN_API tern_tensor *tern_module_parameter_at(const tern_module *module, int64_t index, char *name,
                                               size_t size);
/// Likewise buffer `index`.
TERN_API tern_tensor *tern_module_buffer_at(const tern_module *module, int64_t index, char *name,
                                            size_t size);
/// Direct child `index`, which stays the module's; negative ones count from the end. NULL with
/// TERN_ERR_INDEX.
TERN_API tern_module *tern_module_child_at(const tern_module *module, int64_t index);

/// A tensor that a traversal visits.
typedef struct tern_module_entry {
    const char *name;    ///< full; valid during the visit
    tern_tensor *tensor; ///< the owner's
    tern_module *owner;  ///< the module that registered it
    bool is_parameter;   ///< else it is a buffer
    bool persistent;     ///< true for parameters
} tern_module_entry;

/// Called for each tensor; anything but TERN_OK ends the traversal and is returned. It may free
/// the module that is traversed, which is kept to the end.
typedef tern_status tern_module_entry_fn(const tern_module_entry *entry, void *user);
/// Called for each module, likewise.
typedef tern_status tern_module_fn(const char *name, tern_module *module, void *user);

/// Visits every distinct parameter once, in the order of tern_module_parameter_at.
TERN_API TERN_NODISCARD tern_status tern_module_each_parameter(const tern_module *module,
                                                               tern_module_entry_fn *visit,
                                                               void *user);
/// Visits every distinct buffer once.
TERN_API TERN_NODISCARD tern_status tern_module_each_buffer(const tern_module *module,
                                                            tern_module_entry_fn *visit,
                                                            void *user);
/// Visits the state dict: parameters and persistent buffers, each under every name it has, per
/// module parameters, then buffers, then children.
TERN_API TERN_NODISCARD tern_status tern_module_each_state(const tern_module *module,
                                                           tern_module_entry_fn *visit, void *user);
/// Visits the module (its name is "") and all distinct descendants, parents first.
TERN_API TERN_NODISCARD tern_status tern_module_each_module(tern_module *module,
                                                            tern_module_fn *visit, void *user);
/// Visits the same modules, children before parents, as PyTorch's apply.
TERN_API TERN_NODISCARD tern_status tern_module_apply(tern_module *module, tern_module_fn *visit,
                                                      void *user);

// ---- modes and gradients ------------------------------------------------------------------------

/// Puts the module and its descendants in training mode (how they start) or evaluation mode.
/// Returns the module.
TERN_API tern_module *tern_module_train(tern_module *module, bool training);
/// tern_module_train(module, false).
TERN_API tern_module *tern_module_eval(tern_module *module);
/// Whether the module itself is in training mode; false on failure.
TERN_API bool tern_module_is_training(const tern_module *module);

/// Marks the gradients of all parameters absent, also unusable ones.
TERN_API void tern_module_zero_grad(tern_module *module);
/// Makes all parameters collect gradients, or stop. Returns the module.
TERN_API tern_module *tern_module_requires_grad_(tern_module *module, bool requires_grad);

// ---- moving -------------------------------------------------------------------------------------

/// Moves parameters, buffers and gradients to `device`, in place, and returns the module. The
/// tensors stay the same tensors: optimizers and pointers to them stay valid, and what shared
/// memory before shares it after. All or nothing: NULL on failure (TERN_ERR_DEVICE,
/// TERN_ERR_NOMEM; TERN_ERR_STATE while the calling thread captures), and nothing has moved. Waits
/// for the devices.
TERN_API tern_module *tern_module_to(tern_module *module, tern_device device);

/// Casts floating parameters, buffers and gradients to a floating dtype, likewise; others stay.
/// TERN_ERR_DTYPE for other dtypes.
TERN_API tern_module *tern_module_to_dtype(tern_module *module, tern_dtype dtype);

// ---- copying and exchanging ---------------------------------------------------------------------
//
// An optimizer that was made before keeps the tensors it was given: make it anew after an exchange.
// While the calling thread captures a CUDA graph all of these are TERN_ERR_STATE.

/// A copy with all that is below, as PyTorch's deepcopy: tensors of its own with the same values,
/// gradients, dtypes, devices, modes and requires_grad. What is tied, shared or a view of the same
/// memory is so in the copy, apart from the original. Members that were bound point to the copies;
/// other members, and the pointer of tern_module_set_user, are as in the original until the class's
/// `copy` changes them; hooks are not copied. NULL on failure: a class with `free` and without
/// `copy`, or a user that is freed with its module (TERN_ERR_UNSUPPORTED), a buffer with a history
/// (TERN_ERR_STATE).
TERN_API tern_module *tern_module_copy(const tern_module *module);

/// Makes `value` the parameter of a full name that was added, and gives the old one back. What it
/// must be is said at tern_module_add_parameter; any shape and device. NULL makes it absent, if no
/// error is pending.
TERN_API TERN_NODISCARD tern_status tern_module_set_parameter(tern_module *module, const char *name,
                                                              tern_tensor *value);
/// Likewise a buffer, which stays persistent or not.
TERN_API TERN_NODISCARD tern_status tern_module_set_buffer(tern_module *module, const char *name,
                                                           tern_tensor *value);
/// Makes the parameter `name` of `module` the tensor that `other_name` of `other` is, which may be
/// the same module: from now on they are one. Shapes, dtypes and devices must agree, unless the
/// first is absent.
TERN_API TERN_NODISCARD tern_status tern_module_tie(tern_module *module, const char *name,
                                                    const tern_module *other,
                                                    const char *other_name);
/// Makes `child` the child of a full name, and gives the old one back. Takes over the caller's
/// reference, also on failure. TERN_ERR_STATE while what has the child runs or is traversed, and
/// for a child that is not finished or only its parents'; TERN_ERR_ARG for a cycle or too deep a
/// tree.
TERN_API TERN_NODISCARD tern_status tern_module_set_child(tern_module *module, const char *name,
                                                          tern_module *child);
/// Draws the parameters of the module and its descendants anew, children first, where their classes
/// have a `reset`; NULL: from the CPU's default generator. On failure values and generator are as
/// before; TERN_ERR_STATE while LoRA is merged (lora.h).
TERN_API TERN_NODISCARD tern_status tern_module_reset_parameters(tern_module *module,
                                                                 tern_generator *generator);
// ---- saving and loading -------------------------------------------------------------------------

/// The state dict: parameters and persistent buffers under PyTorch's names and in its order, each
/// under every name it has. The tensors are the module's own: they change as it trains, and
/// tern_state_copy keeps their values. Freed with tern_state_free. NULL on failure; TERN_ERR_STATE
/// while LoRA is merged (lora.h).
TERN_API tern_state *tern_module_state_dict(tern_module *module);

/// `tern_module_load_state_dict(net, state, .strip = "module.")`.
typedef struct tern_module_load_state_dict_options {
    bool strict;                 ///< missing and unexpected names are errors
    bool convert;                ///< also to floating dtypes from others, and to wider integers
    const char *strip;           ///< taken away from names of the state that begin with it, or NULL
    const char *prefix;          ///< names of the state without it do not count, or NULL
    const char *strip_component; ///< names are compared without this component, or NULL
    tern_rename_fn *rename;      ///< gives names of the state others, or NULL
    void *user;                  ///< what `rename` is handed
    tern_load_report *report;    ///< filled with what does not fit, or NULL
    char reserved_;
    tern_module *module;     ///< what is loaded into
    const tern_state *state; ///< what is loaded
} tern_module_load_state_dict_options;
#define TERN_MODULE_LOAD_STATE_DICT_DEFAULTS_                                                      \
    .strict = true, .convert = false, .strip = NULL, .prefix = NULL, .strip_component = NULL,      \
    .rename = NULL, .user = NULL, .report = NULL
#define TERN_MODULE_LOAD_STATE_DICT_FIELDS_ 2, 0, (module, state), (module, state)
TERN_API tern_module_load_state_dict_options tern_module_load_state_dict_defaults(void);
/// Copies a state dict into the module's tensors, which stay where they are and of their dtypes,
/// all or nothing; under several names of a tied tensor the last wins. What fits, and the errors,
/// are those of tern_state_load (state.h); TERN_ERR_STATE while LoRA is merged (lora.h).
TERN_API TERN_NODISCARD tern_status
tern_module_load_state_dict_with(const tern_module_load_state_dict_options *options);
#define tern_module_load_state_dict(...)                                                           \
    tern_status_of_(TERN_WITH_(tern_module_load_state_dict, tern_module_load_state_dict,           \
                               TERN_MODULE_LOAD_STATE_DICT, __VA_ARGS__))

/// Visits a module as a part of an object of yours (tern_visit_part).
TERN_API TERN_NODISCARD tern_status tern_visit_module(tern_state_visitor *visitor, const char *name,
                                                      tern_module *module);

// ---- printing -----------------------------------------------------------------------------------

/// Writes the module to `file` (NULL: stdout) as PyTorch prints it:
///
///     Sequential(
///       (0): Linear(in_features=784, out_features=512, bias=True)
///       (1): ReLU()
///     )
///
/// TERN_ERR_IO when it cannot be written.
TERN_API TERN_NODISCARD tern_status tern_module_print(const tern_module *module, FILE *file);

TERN_END_DECLS

#endif
