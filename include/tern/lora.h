// SPDX-License-Identifier: Apache-2.0
/// @file
/// Low-rank adaptation of trained layers (Hu et al. 2021), as the library PEFT has it.
///
///     if (tern_lora(net, "*.[qv]_proj", .rank = 8, .alpha = 16))
///         return tern_error_print(stderr);
///     tern_optim *adam = tern_optim_adamw(net, .lr = 1e-4);   // trains A and B alone
///     ..
///     tern_state *adapter = tern_lora_state_dict(net);        // the small tensors
///     tern_state_write(adapter, "adapter.safetensors");
///     tern_lora_merge(net);                                   // as fast as before
///
/// A Linear that has it gives x W^T + b + alpha / rank * B(A(dropout(x))). It stays the module that
/// it was, with the same keys, and owns two children more: "lora_A", a Linear to `rank` features,
/// and "lora_B", one back, neither with a bias. A starts as a Linear's weight, B with zeros: the
/// output is the same at first. Copies, moves, states and replicas go on as for other modules.
/// An optimizer that was made before does not know A and B: make it afterwards. Threads: those of
/// what changes a module (module.h).
#ifndef TERN_LORA_H
#define TERN_LORA_H

#include <tern/module.h>

TERN_BEGIN_DECLS

/// `tern_lora(net, "*.q_proj", .rank = 8, .alpha = 16)`.
typedef struct tern_lora_options {
    int64_t rank;     ///< features between A and B, 1 or more
    double alpha;     ///< what B gives counts alpha / rank times
    double dropout;   ///< of what goes into A, in A's dtype, in training; 0 to less than 1
    tern_dtype dtype; ///< of A and B, floating; the layer's unless said, float32 for 16-bit ones
    char reserved_;
    tern_module *module; ///< that is adapted
    const char *pattern; ///< which Linears, by full name, as fnmatch(3) has it: "*" for all
} tern_lora_options;
#define TERN_LORA_DEFAULTS_ .rank = 8, .alpha = 8, .dropout = 0, .dtype = TERN_DTYPE_UNSPECIFIED
#define TERN_LORA_FIELDS_   2, 0, (module, pattern), (module, text)
TERN_API tern_lora_options tern_lora_defaults(void);
/// Adapts every Linear whose name fits, and stops the gradients of all parameters of `module` but
/// those of adapters, also earlier ones; tern_module_requires_grad_ lets a part go on that is to be
/// trained as well, a new head. A's values are drawn from the CPU's default generator. A Linear
/// that stands under several names goes by the first of them. "*" also takes the Linear of a
/// tern_nn_linear_cross_entropy_loss, whose loss is TERN_ERR_STATE until it is merged. All or
/// nothing. TERN_ERR_ARG when no Linear fits; TERN_ERR_STATE for a layer that is adapted already,
/// and while it runs or the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_lora_with(const tern_lora_options *options);
#define tern_lora(...) tern_status_of_(TERN_WITH_(tern_lora, tern_lora, TERN_LORA, __VA_ARGS__))

/// Adds alpha / rank B A to the weights of all adapted layers that are not merged yet, which then
/// run as before they were adapted, dropout left out. The weight is rounded; where the sum
/// overflows, beyond 65504 in float16, it becomes infinity, and tern_lora_unmerge does not bring
/// the weight back. A failure on the way leaves the layers before merged, and the next call goes
/// on. No state says that a layer is merged: until tern_lora_unmerge, or tern_lora_unload, the
/// module can be neither saved, loaded nor reset (TERN_ERR_STATE), its adapters alone saved only,
/// and an averaged model (averaged_model.h) must be made of it, and updated, as merged as it is.
/// TERN_ERR_ARG when no layer is adapted; TERN_ERR_STATE when all are merged already, a weight is
/// parametrized or that of a second module below `module` too, a layer runs or the calling thread
/// captures, and nothing has changed.
TERN_API TERN_NODISCARD tern_status tern_lora_merge(tern_module *module);
/// Takes it away again from all that are merged: weights are as before, up to rounding.
/// TERN_ERR_STATE when none is merged; other failures likewise.
TERN_API TERN_NODISCARD tern_status tern_lora_unmerge(tern_module *module);
/// Takes the adapters out of all layers; merged weights stay merged, and parameters that were
/// stopped stay so. TERN_ERR_ARG when no layer is adapted.
TERN_API TERN_NODISCARD tern_status tern_lora_unload(tern_module *module);
/// Whether the module itself is adapted; false on failure.
TERN_API bool tern_lora_is_adapted(const tern_module *module);
/// Whether it is adapted and merged; false on failure.
TERN_API bool tern_lora_is_merged(const tern_module *module);

/// `tern_lora_state_dict(net, .prefix = "base_model.model.")`.
typedef struct tern_lora_state_dict_options {
    const char *prefix; ///< of all names, or NULL; PEFT's files have "base_model.model."
    char reserved_;
    tern_module *module; ///< whose adapters are meant
} tern_lora_state_dict_options;
#define TERN_LORA_STATE_DICT_DEFAULTS_ .prefix = NULL
#define TERN_LORA_STATE_DICT_FIELDS_   1, 0, (module), (module)
TERN_API tern_lora_state_dict_options tern_lora_state_dict_defaults(void);
/// The tensors of the adapters alone, "layers.0.q_proj.lora_A.weight" and "..lora_B.weight", which
/// stay the module's. Freed with tern_state_free. NULL on failure; TERN_ERR_ARG when no layer is
/// adapted, or the prefix makes a name too long for a state.
TERN_API tern_state *tern_lora_state_dict_with(const tern_lora_state_dict_options *options);
#define tern_lora_state_dict(...)                                                                  \
    TERN_WITH_(tern_lora_state_dict, tern_lora_state_dict, TERN_LORA_STATE_DICT, __VA_ARGS__)

/// `tern_lora_load_state_dict(net, state, .strip = "base_model.model.")`.
typedef struct tern_lora_load_state_dict_options {
    bool strict;                 ///< missing and unexpected names are errors
    bool convert;                ///< also to floating dtypes from others, and to wider integers
    const char *strip;           ///< taken away from names of the state that begin with it, or NULL
    const char *prefix;          ///< names of the state without it do not count, or NULL
    const char *strip_component; ///< names are compared without this component, or NULL
    tern_rename_fn *rename;      ///< gives names of the state others, or NULL
    void *user;                  ///< what `rename` is handed
    tern_load_report *report;    ///< filled with what does not fit, or NULL
    char reserved_;
    tern_module *module;     ///< whose adapters are loaded into
    const tern_state *state; ///< what is loaded
} tern_lora_load_state_dict_options;
#define TERN_LORA_LOAD_STATE_DICT_DEFAULTS_                                                        \
    .strict = true, .convert = false, .strip = NULL, .prefix = NULL, .strip_component = NULL,      \
    .rename = NULL, .user = NULL, .report = NULL
#define TERN_LORA_LOAD_STATE_DICT_FIELDS_ 2, 0, (module, state), (module, state)
TERN_API tern_lora_load_state_dict_options tern_lora_load_state_dict_defaults(void);
/// Copies such a state into the adapters, which are there already, all or nothing. What fits, and
/// the errors, are those of tern_state_load (state.h); a file of PEFT's wants `.strip =
/// "base_model.model."`. TERN_ERR_ARG when no layer is adapted; TERN_ERR_STATE while one is merged.
TERN_API TERN_NODISCARD tern_status
tern_lora_load_state_dict_with(const tern_lora_load_state_dict_options *options);
#define tern_lora_load_state_dict(...)                                                             \
    tern_status_of_(TERN_WITH_(tern_lora_load_state_dict, tern_lora_load_state_dict,               \
                               TERN_LORA_LOAD_STATE_DICT, __VA_ARGS__))

TERN_END_DECLS

#endif
