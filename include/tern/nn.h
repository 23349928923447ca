// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layers and losses: modules with PyTorch's names, defaults and keys.
///
///     tern_module *net = tern_nn_sequential(
///         tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 10));
///     tern_module *criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
///     tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), y);
///
/// Constructors return a module to be freed with tern_module_free or given to a container, NULL on
/// failure. Parameters are drawn from the CPU's default generator, weight before bias, the same
/// bits as PyTorch's for the same seed, then moved to the device. A loss is a module: its weights
/// are buffers, which tern_module_to moves. Threads: a constructor runs on any thread, and several
/// may run one module at the same time (module.h).
#ifndef TERN_NN_H
#define TERN_NN_H

#include <tern/module.h>
#include <tern/ops.h>

TERN_BEGIN_DECLS

// ---- containers ---------------------------------------------------------------------------------

/// Runs its children one after another; they are named "0", "1", ... Takes over the caller's
/// references, also on failure; a NULL among them is a child that failed. `children` may be NULL
/// when count is 0.
TERN_API tern_module *tern_nn_sequential_new(int64_t count, tern_module *const *children);
/// Holds children named "0", "1", ... for a module that runs them itself; tern_module_child_at
/// finds them. Takes over the caller's references likewise.
TERN_API tern_module *tern_nn_module_list_new(int64_t count, tern_module *const *children);

#ifdef __cplusplus
/// Calls make(count, children) with what is listed; braces are evaluated in order.
#define TERN_NN_CHILDREN_(make, ...) (tern_cpp_::list(make, {__VA_ARGS__}))
#else
/// Calls make(count, children) with what is listed. The list is an array initialiser, which gcc and
/// clang evaluate in order: so the random stream is that of the order written.
#define TERN_NN_CHILDREN_(make, ...)                                                               \
    __extension__({                                                                                \
        TERN_PRAGMA_(GCC diagnostic push)                                                          \
        TERN_PRAGMA_(GCC diagnostic ignored "-Wshadow")                                            \
        tern_module *const children_[] = {NULL, __VA_ARGS__};                                      \
        TERN_PRAGMA_(GCC diagnostic pop)                                                           \
        make((int64_t)(sizeof children_ / sizeof children_[0]) - 1, children_ + 1);                \
    })
#endif
/// `tern_nn_sequential(a, b, c)`.
#define tern_nn_sequential(...) TERN_NN_CHILDREN_(tern_nn_sequential_new, __VA_ARGS__)
/// `tern_nn_module_list(a, b, c)`.
#define tern_nn_module_list(...) TERN_NN_CHILDREN_(tern_nn_module_list_new, __VA_ARGS__)

// ---- layers -------------------------------------------------------------------------------------

/// `tern_nn_linear(784, 512, .bias = false)`.
typedef struct tern_nn_linear_options {
    bool bias;          ///< true
    tern_dtype dtype;   ///< floating; the default dtype unless said
    tern_device device; ///< the default device unless said
    char reserved_;
    int64_t in_features;  ///< In > 0
    int64_t out_features; ///< Out > 0
} tern_nn_linear_options;

TERN_API tern_nn_linear_options tern_nn_linear_defaults(void);
/// y = x W^T + b: x (.., In) -> (.., Out). weight (Out, In) and bias (Out) start uniform in
/// +-1 / sqrt(In).
TERN_API tern_module *tern_nn_linear_with(const tern_nn_linear_options *options);
#define tern_nn_linear(...)                                                                        \
    TERN_WITH_(tern_nn_linear, (TERN_FIELDS_2_, in_features, out_features),                        \
               (.bias = true, .dtype = TERN_DTYPE_UNSPECIFIED,                                     \
                .device = {TERN_DEVICE_UNSPECIFIED, 0}, .reserved_ = 0,                            \
                TERN_REQUIRED_2_(int64, int64, __VA_ARGS__, )),                                    \
               __VA_ARGS__)

/// `tern_nn_flatten()`, `tern_nn_flatten(0, 1)`.
typedef struct tern_nn_flatten_options {
    char reserved_;
    int start_dim; ///< 1
    int end_dim;   ///< -1
} tern_nn_flatten_options;

TERN_API tern_nn_flatten_options tern_nn_flatten_defaults(void);
/// Joins dimensions start_dim ... end_dim, both included, into one: (N, C, H, W) -> (N, C H W)
/// unless said otherwise. A view where the strides allow.
TERN_API tern_module *tern_nn_flatten_with(const tern_nn_flatten_options *options);
#define tern_nn_flatten(...)                                                                       \
    TERN_WITH_(tern_nn_flatten, (TERN_MAYBE_2_, start_dim, end_dim),                               \
               (.start_dim = 1, .end_dim = -1, .reserved_ = 0, __VA_ARGS__), __VA_ARGS__)

/// `tern_nn_dropout(0.2)`.
typedef struct tern_nn_dropout_options {
    char reserved_;
    double p; ///< probability of zeroing an element, 0 to 1; 0.5
} tern_nn_dropout_options;

TERN_API tern_nn_dropout_options tern_nn_dropout_defaults(void);
/// In training each element is zeroed with probability p and the others divided by 1 - p; in
/// evaluation the input itself.
TERN_API tern_module *tern_nn_dropout_with(const tern_nn_dropout_options *options);
#define tern_nn_dropout(...)                                                                       \
    TERN_WITH_(tern_nn_dropout, (TERN_MAYBE_1_, p), (.p = 0.5, .reserved_ = 0, __VA_ARGS__),       \
               __VA_ARGS__)

/// Hands its input on as it is.
TERN_API tern_module *tern_nn_identity(void);

// ---- activations --------------------------------------------------------------------------------

TERN_API tern_module *tern_nn_relu(void);      ///< max(x, 0)
TERN_API tern_module *tern_nn_tanh(void);      ///< tanh(x)
TERN_API tern_module *tern_nn_sigmoid(void);   ///< 1 / (1 + exp(-x))
TERN_API tern_module *tern_nn_silu(void);      ///< x * sigmoid(x)
TERN_API tern_module *tern_nn_hardswish(void); ///< x min(max(x + 3, 0), 6) / 6

/// Softmax over one dimension of the input; negative ones count from the end.
TERN_API tern_module *tern_nn_softmax(int dim);

/// How GELU is computed.
typedef enum tern_approximate {
    TERN_APPROXIMATE_UNSPECIFIED = 0, ///< none
    TERN_APPROXIMATE_NONE,            ///< x * Phi(x) by erf
    TERN_APPROXIMATE_TANH             ///< the tanh form
} tern_approximate;

/// `tern_nn_gelu(.approximate = TERN_APPROXIMATE_TANH)`.
typedef struct tern_nn_gelu_options {
    char reserved_;
    tern_approximate approximate; ///< none
} tern_nn_gelu_options;

TERN_API tern_nn_gelu_options tern_nn_gelu_defaults(void);
/// x * Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016): see tern_gelu.
TERN_API tern_module *tern_nn_gelu_with(const tern_nn_gelu_options *options);
#define tern_nn_gelu(...)                                                                          \
    TERN_WITH_(tern_nn_gelu, (TERN_MAYBE_1_, approximate),                                         \
               (.approximate = TERN_APPROXIMATE_NONE, .reserved_ = 0, __VA_ARGS__), __VA_ARGS__)

/// `tern_nn_leaky_relu(0.2)`.
typedef struct tern_nn_leaky_relu_options {
    char reserved_;
    double negative_slope; ///< 0.01
} tern_nn_leaky_relu_options;

TERN_API tern_nn_leaky_relu_options tern_nn_leaky_relu_defaults(void);
/// x where x > 0, else negative_slope * x.
TERN_API tern_module *tern_nn_leaky_relu_with(const tern_nn_leaky_relu_options *options);
#define tern_nn_leaky_relu(...)                                                                    \
    TERN_WITH_(tern_nn_leaky_relu, (TERN_MAYBE_1_, negative_slope),                                \
               (.negative_slope = 0.01, .reserved_ = 0, __VA_ARGS__), __VA_ARGS__)

// ---- losses -------------------------------------------------------------------------------------

/// `tern_nn_cross_entropy_loss(.label_smoothing = 0.1)`.
typedef struct tern_nn_cross_entropy_loss_options {
    tern_tensor *weight;      ///< (C): one per class, cloned into the buffer "weight"; NULL: all 1
    int64_t ignore_index;     ///< labels of this value do not count; -100
    double label_smoothing;   ///< 0 to 1
    tern_reduction reduction; ///< mean
    char reserved_;
} tern_nn_cross_entropy_loss_options;

TERN_API tern_nn_cross_entropy_loss_options tern_nn_cross_entropy_loss_defaults(void);
/// tern_cross_entropy as a module: raw logits (N, C, ..) and int64 labels (N, ..), or
/// probabilities.
TERN_API tern_module *tern_nn_cross_entropy_loss_with(
    const tern_nn_cross_entropy_loss_options *options);
#define tern_nn_cross_entropy_loss(...)                                                            \
    TERN_WITH_(tern_nn_cross_entropy_loss, (TERN_FIELDS_0_, ),                                     \
               (.weight = NULL, .ignore_index = -100, .label_smoothing = 0,                        \
                .reduction = TERN_REDUCTION_MEAN, .reserved_ = 0, __VA_ARGS__),                    \
               __VA_ARGS__)

/// `tern_nn_mse_loss(.reduction = TERN_REDUCTION_SUM)`.
typedef struct tern_nn_mse_loss_options {
    tern_reduction reduction; ///< mean
    char reserved_;
} tern_nn_mse_loss_options;

TERN_API tern_nn_mse_loss_options tern_nn_mse_loss_defaults(void);
/// (input - target)^2, of equal shapes.
TERN_API tern_module *tern_nn_mse_loss_with(const tern_nn_mse_loss_options *options);
#define tern_nn_mse_loss(...)                                                                      \
    TERN_WITH_(tern_nn_mse_loss, (TERN_FIELDS_0_, ),                                               \
               (.reduction = TERN_REDUCTION_MEAN, .reserved_ = 0, __VA_ARGS__), __VA_ARGS__)

/// `tern_nn_l1_loss(.reduction = TERN_REDUCTION_SUM)`.
typedef struct tern_nn_l1_loss_options {
    tern_reduction reduction; ///< mean
    char reserved_;
} tern_nn_l1_loss_options;

TERN_API tern_nn_l1_loss_options tern_nn_l1_loss_defaults(void);
/// |input - target|, of equal shapes.
TERN_API tern_module *tern_nn_l1_loss_with(const tern_nn_l1_loss_options *options);
#define tern_nn_l1_loss(...)                                                                       \
    TERN_WITH_(tern_nn_l1_loss, (TERN_FIELDS_0_, ),                                                \
               (.reduction = TERN_REDUCTION_MEAN, .reserved_ = 0, __VA_ARGS__), __VA_ARGS__)

TERN_END_DECLS

#endif
