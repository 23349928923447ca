// SPDX-License-Identifier: Apache-2.0
/// @file
/// Initial values of parameters: torch.nn.init.
///
///     tern_module *fc = tern_nn_linear(784, 512);
///     tern_init_kaiming_normal(tern_module_parameter(fc, "weight"), .mode = TERN_FAN_OUT);
///     tern_init_zeros(tern_module_parameter(fc, "bias"));
///
/// Each call overwrites a tensor in place, of any strides, as under tern_no_grad, and returns it;
/// NULL on failure, with an error pending and the tensor as it was. On the CPU the numbers are
/// PyTorch's for the same seed; a tensor on another device is filled by the generator of that
/// device: for PyTorch's numbers it is drawn first and moved then. Draws want a floating dtype,
/// else TERN_ERR_DTYPE. A tensor without elements stays as it is. Threads: random.h.
#ifndef TERN_INIT_H
#define TERN_INIT_H

#include <tern/generator.h>
#include <tern/tensor.h>

TERN_BEGIN_DECLS

// ---- the same for all elements ------------------------------------------------------------------

/// `tern_init_uniform(t, -0.1, 0.1)`.
typedef struct tern_init_uniform_options {
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    tern_tensor *t; ///< what is filled
    double a;       ///< the least number
    double b;       ///< not below a; no number reaches it
} tern_init_uniform_options;
#define TERN_INIT_UNIFORM_DEFAULTS_ .generator = NULL, .a = 0, .b = 1
#define TERN_INIT_UNIFORM_FIELDS_   1, 2, (t, a, b), (tensor)
TERN_API tern_init_uniform_options tern_init_uniform_defaults(void);
/// Uniform in [a, b). TERN_ERR_ARG unless a <= b and both and b - a are within t's dtype.
TERN_API tern_tensor *tern_init_uniform_with(const tern_init_uniform_options *options);
#define tern_init_uniform(...)                                                                     \
    TERN_WITH_(tern_init_uniform, tern_init_uniform, TERN_INIT_UNIFORM, __VA_ARGS__)

/// `tern_init_normal(t, 0, 0.02)`.
typedef struct tern_init_normal_options {
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    tern_tensor *t; ///< what is filled
    double mean;    ///< of the distribution
    double std;     ///< its standard deviation, 0 or more
} tern_init_normal_options;
#define TERN_INIT_NORMAL_DEFAULTS_ .generator = NULL, .mean = 0, .std = 1
#define TERN_INIT_NORMAL_FIELDS_   1, 2, (t, mean, std), (tensor)
TERN_API tern_init_normal_options tern_init_normal_defaults(void);
/// Normal. TERN_ERR_ARG for a mean or std that is not finite, or a negative std.
TERN_API tern_tensor *tern_init_normal_with(const tern_init_normal_options *options);
#define tern_init_normal(...)                                                                      \
    TERN_WITH_(tern_init_normal, tern_init_normal, TERN_INIT_NORMAL, __VA_ARGS__)

/// `tern_init_trunc_normal(t, .std = 0.02)`.
typedef struct tern_init_trunc_normal_options {
    double mean;               ///< of the normal distribution
    double std;                ///< > 0; its standard deviation, before it is cut
    double a;                  ///< the least number, may be -INFINITY
    double b;                  ///< the largest, above a, may be INFINITY
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    tern_tensor *t; ///< what is filled
} tern_init_trunc_normal_options;
#define TERN_INIT_TRUNC_NORMAL_DEFAULTS_ .mean = 0, .std = 1, .a = -2, .b = 2, .generator = NULL
#define TERN_INIT_TRUNC_NORMAL_FIELDS_   1, 0, (t), (tensor)
TERN_API tern_init_trunc_normal_options tern_init_trunc_normal_defaults(void);
/// Normal numbers, of which those outside of [a, b] are drawn again, all of a tensor at a time;
/// where [a, b] has 0.3 of the distribution or less, uniform ones in [a, b), of which x is kept
/// with a probability of density(x) / largest density. Waits for the device. TERN_ERR_ARG unless
/// a < b, and where fewer than one draw in 10,000 would be kept.
TERN_API tern_tensor *tern_init_trunc_normal_with(const tern_init_trunc_normal_options *options);
#define tern_init_trunc_normal(...)                                                                \
    TERN_WITH_(tern_init_trunc_normal, tern_init_trunc_normal, TERN_INIT_TRUNC_NORMAL, __VA_ARGS__)

/// Every element `value`, of any dtype that holds it, else TERN_ERR_ARG.
TERN_API tern_tensor *tern_init_constant(tern_tensor *t, double value);
/// Every element 1.
TERN_API tern_tensor *tern_init_ones(tern_tensor *t);
/// Every element 0.
TERN_API tern_tensor *tern_init_zeros(tern_tensor *t);

// ---- by the number of inputs and outputs --------------------------------------------------------

/// Which inputs and outputs are counted, of a weight (outputs, inputs, kernel sizes ..).
typedef enum tern_fan_mode {
    TERN_FAN_UNSPECIFIED = 0, ///< fan_in
    TERN_FAN_IN,              ///< inputs of an output: inputs * kernel sizes; keeps activations
    TERN_FAN_OUT              ///< outputs * kernel sizes; keeps gradients
} tern_fan_mode;

/// How many inputs or outputs a weight of two dimensions or more has; -1 with TERN_ERR_SHAPE for
/// fewer, TERN_ERR_ARG for what is no mode.
TERN_API int64_t tern_init_calculate_fan(const tern_tensor *t, tern_fan_mode mode);

/// What comes after a weight.
typedef enum tern_nonlinearity {
    TERN_NONLINEARITY_UNSPECIFIED = 0, ///< leaky ReLU
    TERN_NONLINEARITY_LINEAR,          ///< nothing, also for convolutions
    TERN_NONLINEARITY_SIGMOID,         ///< tern_sigmoid
    TERN_NONLINEARITY_TANH,            ///< tern_tanh
    TERN_NONLINEARITY_RELU,            ///< tern_relu
    TERN_NONLINEARITY_LEAKY_RELU,      ///< tern_leaky_relu
    TERN_NONLINEARITY_SELU             ///< tern_selu
} tern_nonlinearity;

/// The gain that is recommended: 1 for linear and sigmoid, 5/3 for tanh, sqrt(2) for ReLU,
/// sqrt(2 / (1 + slope^2)) for leaky ReLU, 3/4 for SELU. The slope is 0.01 where it is NaN; others
/// do not look at it. NaN with TERN_ERR_ARG for an infinite slope and what is no nonlinearity.
TERN_API double tern_init_calculate_gain(tern_nonlinearity nonlinearity, double slope);

/// `tern_init_xavier_uniform(weight)`, `tern_init_orthogonal(weight, 1.4)`.
typedef struct tern_init_gain_options {
    tern_generator *generator; ///< the device's default unless said; borrowed
    char reserved_;
    tern_tensor *t; ///< (outputs, inputs, ..): two dimensions or more
    double gain;    ///< a factor, as tern_init_calculate_gain has it
} tern_init_gain_options;
#define TERN_INIT_GAIN_DEFAULTS_ .generator = NULL, .gain = 1
#define TERN_INIT_GAIN_FIELDS_   1, 1, (t, gain), (tensor)
TERN_API tern_init_gain_options tern_init_gain_defaults(void);
/// Uniform in +-sqrt(3) std, with std = gain sqrt(2 / (fan_in + fan_out)) (Glorot, Bengio 2010).
/// TERN_ERR_SHAPE for fewer than two dimensions, TERN_ERR_ARG for a gain that is negative or not
/// finite.
TERN_API tern_tensor *tern_init_xavier_uniform_with(const tern_init_gain_options *options);
/// Normal with that std and mean 0; fails likewise.
TERN_API tern_tensor *tern_init_xavier_normal_with(const tern_init_gain_options *options);
#define tern_init_xavier_uniform(...)                                                              \
    TERN_WITH_(tern_init_xavier_uniform, tern_init_gain, TERN_INIT_GAIN, __VA_ARGS__)
#define tern_init_xavier_normal(...)                                                               \
    TERN_WITH_(tern_init_xavier_normal, tern_init_gain, TERN_INIT_GAIN, __VA_ARGS__)

/// `tern_init_kaiming_normal(weight, .nonlinearity = TERN_NONLINEARITY_RELU)`.
typedef struct tern_init_kaiming_options {
    double a;                       ///< the slope of leaky ReLU
    tern_fan_mode mode;             ///< which number is kept from layer to layer
    tern_nonlinearity nonlinearity; ///< what comes after the weight
    tern_generator *generator;      ///< the device's default unless said; borrowed
    char reserved_;
    tern_tensor *t; ///< (outputs, inputs, ..): two dimensions or more
} tern_init_kaiming_options;
#define TERN_INIT_KAIMING_DEFAULTS_                                                                \
    .a = 0, .mode = TERN_FAN_IN, .nonlinearity = TERN_NONLINEARITY_LEAKY_RELU, .generator = NULL
#define TERN_INIT_KAIMING_FIELDS_ 1, 0, (t), (tensor)
TERN_API tern_init_kaiming_options tern_init_kaiming_defaults(void);
/// Uniform in +-sqrt(3) std, with std = gain / sqrt(fan) (He et al. 2015). TERN_ERR_SHAPE for fewer
/// than two dimensions, TERN_ERR_ARG for an `a` that is not finite and what is no mode or
/// nonlinearity.
TERN_API tern_tensor *tern_init_kaiming_uniform_with(const tern_init_kaiming_options *options);
/// Normal with that std and mean 0; fails likewise.
TERN_API tern_tensor *tern_init_kaiming_normal_with(const tern_init_kaiming_options *options);
#define tern_init_kaiming_uniform(...)                                                             \
    TERN_WITH_(tern_init_kaiming_uniform, tern_init_kaiming, TERN_INIT_KAIMING, __VA_ARGS__)
#define tern_init_kaiming_normal(...)                                                              \
    TERN_WITH_(tern_init_kaiming_normal, tern_init_kaiming, TERN_INIT_KAIMING, __VA_ARGS__)

// ---- matrices -----------------------------------------------------------------------------------

/// `gain` times a matrix (size 0, all other sizes) whose rows, or columns where these are fewer,
/// are orthonormal: the Q of the QR decomposition of a normal matrix, by Householder reflections in
/// float64, with the signs that make R's diagonal positive (Saxe et al. 2013). Computed on the CPU;
/// waits for the device. Fails as tern_init_xavier_uniform_with, but takes a negative gain.
TERN_API tern_tensor *tern_init_orthogonal_with(const tern_init_gain_options *options);
#define tern_init_orthogonal(...)                                                                  \
    TERN_WITH_(tern_init_orthogonal, tern_init_gain, TERN_INIT_GAIN, __VA_ARGS__)

/// `tern_init_sparse(weight, 0.9)`.
typedef struct tern_init_sparse_options {
    double std;                ///< of what is not 0; 0 or more
    tern_generator *generator; ///< of all draws; the default ones unless said; borrowed
    char reserved_;
    tern_tensor *t;  ///< (rows, columns)
    double sparsity; ///< the share of each column that becomes 0: 0 to 1, rounded up to whole rows
} tern_init_sparse_options;
#define TERN_INIT_SPARSE_DEFAULTS_ .std = 0.01, .generator = NULL
#define TERN_INIT_SPARSE_FIELDS_   2, 0, (t, sparsity), (tensor, double)
TERN_API tern_init_sparse_options tern_init_sparse_defaults(void);
/// Normal numbers of mean 0, then zeros in rows drawn for each column, by the CPU's generator
/// unless one is said (Martens 2010). Waits for the device. TERN_ERR_SHAPE unless it has two
/// dimensions, TERN_ERR_ARG for other options.
TERN_API tern_tensor *tern_init_sparse_with(const tern_init_sparse_options *options);
#define tern_init_sparse(...)                                                                      \
    TERN_WITH_(tern_init_sparse, tern_init_sparse, TERN_INIT_SPARSE, __VA_ARGS__)

/// Ones on the diagonal of a (rows, columns), zeros elsewhere; TERN_ERR_SHAPE for another rank.
TERN_API tern_tensor *tern_init_eye(tern_tensor *t);

/// `tern_init_dirac(weight, .groups = 2)`.
typedef struct tern_init_dirac_options {
    int64_t groups; ///< > 0; divides the outputs
    char reserved_;
    tern_tensor *t; ///< the weight of a convolution: (outputs, inputs of a group, kernel sizes ..)
} tern_init_dirac_options;
#define TERN_INIT_DIRAC_DEFAULTS_ .groups = 1
#define TERN_INIT_DIRAC_FIELDS_   1, 0, (t), (tensor)
TERN_API tern_init_dirac_options tern_init_dirac_defaults(void);
/// Output d of each group is input d: 1 at the middle of its kernel, 0 elsewhere. TERN_ERR_SHAPE
/// for a rank other than 3 to 5, TERN_ERR_ARG for groups that do not divide the outputs.
TERN_API tern_tensor *tern_init_dirac_with(const tern_init_dirac_options *options);
#define tern_init_dirac(...)                                                                       \
    TERN_WITH_(tern_init_dirac, tern_init_dirac, TERN_INIT_DIRAC, __VA_ARGS__)

TERN_END_DECLS

#endif
