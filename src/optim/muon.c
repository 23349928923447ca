// SPDX-License-Identifier: Apache-2.0
// Muon (Jordan et al. 2024): momentum, made orthogonal by Newton-Schulz iterations.
#include <tern/ops.h>
#include "optim/adam.h"
#include "tensor/header.h"

enum {
    LR,
    WEIGHT_DECAY,
    MOMENTUM,
    NESTEROV,
    COEFFICIENT_A,
    COEFFICIENT_B,
    COEFFICIENT_C,
    EPS,
    NS_STEPS,
    ADJUST_LR_FN,
    NS_DTYPE,
    REST,
    REST_LR,
    REST_BETA1,
    REST_BETA2,
    REST_EPS
};
enum { BUFFER, EXP_AVG, EXP_AVG_SQ }; // slots

// ---- the direction ------------------------------------------------------------------------------

// a by the part `take` of the way to b.
static tern_tensor *lerp(tern_tensor *a, tern_tensor *b, double take)
{
    return tern_add_(tern_mul_scalar(tern_sub(b, a), take), a);
}

// The buffer is averaged with the gradient.
static tern_status begin(const double *number, tern_optim_entry *entry)
{
    (void)number;
    entry->made.next[BUFFER] = tern_tensor_retain(entry->param->grad);
    return TERN_OK;
}

// Numbers of a wider dtype, rounded to those of `dtype`.
static tern_tensor *rounded(tern_tensor *x, tern_dtype dtype)
{
    return x ? tern_to_dtype(tern_to_dtype(x, dtype), x->dtype) : NULL;
}

// a x + b y
static tern_tensor *combine(tern_tensor *x, double a, tern_tensor *y, double b)
{
    return tern_add_(tern_mul_scalar(x, a), y, b);
}

// Of a matrix that is no higher than wide: (a I + b G + c G^2) X with G = X X^T, again and again.
// What comes of it is rounded once, as products with PyTorch's addmm are.
static tern_tensor *iterate(const double *number, tern_tensor *x, tern_dtype dtype)
{
    for (int i = 0; x && i < (int)number[NS_STEPS]; i++) {
        tern_tensor *gram = rounded(tern_matmul(x, tern_transpose(x, 0, 1)), dtype);
        tern_tensor *factor =
            combine(gram, number[COEFFICIENT_B], tern_matmul(gram, gram), number[COEFFICIENT_C]);
        tern_tensor *product = tern_matmul(rounded(factor, dtype), x);
        x = rounded(combine(x, number[COEFFICIENT_A], product, 1), dtype);
    }
    return x;
}

static tern_tensor *end(const double *number, const tern_optim_entry *entry)
{
    tern_tensor *g = entry->param->grad;
    const tern_dtype dtype = (tern_dtype)number[NS_DTYPE];
    const bool is_high = tern_size(g, 0) > tern_size(g, 1);
    tern_tensor *u = lerp(entry->state[BUFFER], g, 1 - number[MOMENTUM]);
    if (number[NESTEROV] != 0)
        u = lerp(g, u, number[MOMENTUM]);
    tern_tensor *x =
        tern_to_dtype(tern_to_dtype(u, dtype), dtype == TERN_FLOAT64 ? TERN_FLOAT64 : TERN_FLOAT32);
    if (is_high)
        x = tern_transpose(x, 0, 1);
    tern_tensor *norm = rounded(tern_norm(x, 2, TERN_ALL_AXES, false), dtype);
    x = rounded(tern_div(x, tern_clamp(norm, number[EPS], INFINITY)), dtype);
    x = iterate(number, x, dtype);
    if (is_high)
        x = tern_transpose(x, 0, 1);
    return tern_contiguous(tern_to_dtype(x, entry->param->dtype));
}

static const tern_optim_direction direction = {
    .numbers = 1u << MOMENTUM | 1u << NESTEROV | 1u << COEFFICIENT_A | 1u << COEFFICIENT_B |
               1u << COEFFICIENT_C | 1u << EPS | 1u << NS_STEPS | 1u << NS_DTYPE,
    .begin = begin,
    .end = end,
};

// ---- the update ---------------------------------------------------------------------------------

static bool is_rest(const double *number, const tern_tensor *param)
{
    return number[REST] == TERN_MUON_ADAMW_ALL || tern_rank(param) != 2;
}

static tern_optim_update update(const double *number, const tern_tensor *param)
{
    if (is_rest(number, param))
        return (tern_optim_update){TERN_STEP_ADAM, 1u << EXP_AVG | 1u << EXP_AVG_SQ};
    return (tern_optim_update){TERN_STEP_DIRECTED, 1u << BUFFER};
}

// What makes steps of matrices of all shapes alike.
static double adjustment(const double *number, const tern_tensor *param)
{
    const double rows = (double)tern_size(param, 0), columns = (double)tern_size(param, 1);
    switch ((tern_muon_adjust_lr)number[ADJUST_LR_FN]) {
    case TERN_MUON_MATCH_RMS_ADAMW:
        return 0.2 * sqrt(fmax(rows, columns));
    case TERN_MUON_SPECTRAL_UNCLAMPED:
        return sqrt(rows / columns);
    case TERN_MUON_ORIGINAL:
        break;
    }
    return sqrt(fmax(1, rows / columns));
}

static void derive(const double *number, const tern_optim_step_info *at, double *out)
{
    enum { TERN_STEP_DIRECTED_NUMBERS(TERN_OPTIM_INDEX) };
    if (at->code == TERN_STEP_AVERAGE) {
        out[0] = 1 - number[MOMENTUM];
    } else if (at->code == TERN_STEP_DIRECTED) {
        out[rate] = -number[LR] * adjustment(number, at->param);
        out[shrink] = 1 - number[LR] * number[WEIGHT_DECAY];
    } else {
        const tern_adam adam = {.lr = number[REST_LR],
                                .beta1 = number[REST_BETA1],
                                .beta2 = number[REST_BETA2],
                                .eps = number[REST_EPS],
                                .weight_decay = number[WEIGHT_DECAY],
                                .decoupled = true};
        tern_adam_derive(&adam, at, out);
    }
}

// ---- the class ----------------------------------------------------------------------------------

static tern_status check(const char *function, const double *number)
{
    TERN_CHECK(number[NS_STEPS] < 100, TERN_ERR_ARG,
               "%s: ns_steps is %g, but must be less than 100", function, number[NS_STEPS]);
    TERN_CHECK(number[ADJUST_LR_FN] <= TERN_MUON_SPECTRAL_UNCLAMPED, TERN_ERR_ARG,
               "%s: adjust_lr_fn is %g, but there is none of that number", function,
               number[ADJUST_LR_FN]);
    TERN_CHECK(number[REST] <= TERN_MUON_ADAMW_ALL, TERN_ERR_ARG,
               "%s: rest is %g, but there is none of that number", function, number[REST]);
    TERN_CHECK(number[NS_DTYPE] <= TERN_BOOL &&
                   tern_dtype_is_floating((tern_dtype)number[NS_DTYPE]),
               TERN_ERR_ARG, "%s: ns_dtype must be a floating dtype", function);
    return TERN_OK;
}

static tern_status check_param(const char *function, const double *number, const char *name,
                               const tern_tensor *param)
{
    TERN_CHECK(number[REST] != TERN_MUON_REFUSE || tern_rank(param) == 2, TERN_ERR_ARG,
               "%s: %s is %s, and Muon updates matrices; .rest = TERN_MUON_ADAMW gives the others "
               "to AdamW",
               function, name, tern_tensor_string(param));
    return TERN_OK;
}

static const char *const adjustments[] = {"original", "match_rms_adamw", "spectral_unclamped"};
static const tern_optim_number numbers[] = {
    [LR] = {"lr", TERN_RANGE_NOT_NEGATIVE},
    [WEIGHT_DECAY] = {"weight_decay", TERN_RANGE_NOT_NEGATIVE},
    [MOMENTUM] = {"momentum", TERN_RANGE_NOT_NEGATIVE},
    [NESTEROV] = {"nesterov", TERN_RANGE_FLAG},
    [COEFFICIENT_A] = {"ns_coefficients[0]", TERN_RANGE_FINITE},
    [COEFFICIENT_B] = {"ns_coefficients[1]", TERN_RANGE_FINITE},
    [COEFFICIENT_C] = {"ns_coefficients[2]", TERN_RANGE_FINITE},
    [EPS] = {"eps", TERN_RANGE_NOT_NEGATIVE},
    [NS_STEPS] = {"ns_steps", TERN_RANGE_WHOLE},
    [ADJUST_LR_FN] = {"adjust_lr_fn", TERN_RANGE_WHOLE, .words = adjustments, .word_count = 3},
    [NS_DTYPE] = {"ns_dtype", TERN_RANGE_WHOLE, .is_own = true},
    [REST] = {"rest", TERN_RANGE_WHOLE, .is_own = true},
    [REST_LR] = {"rest_lr", TERN_RANGE_NOT_NEGATIVE, .is_own = true},
    [REST_BETA1] = {"rest_betas[0]", TERN_RANGE_FRACTION, .is_own = true},
    [REST_BETA2] = {"rest_betas[1]", TERN_RANGE_FRACTION, .is_own = true},
    [REST_EPS] = {"rest_eps", TERN_RANGE_NOT_NEGATIVE, .is_own = true},
};
static const tern_optim_slot slots[] = {
    [BUFFER] = {.name = "momentum_buffer"},
    [EXP_AVG] = {.name = "exp_avg"},
    [EXP_AVG_SQ] = {.name = "exp_avg_sq"},
};
static const tern_optim_class muon_class = {
    .name = "Muon",
    .function = "optim_muon",
    TERN_OPTIM_TABLES(numbers, slots),
    .update = update,
    .direction = &direction,
    .derive = derive,
    .check = check,
    .check_param = check_param,
    .torch = {.no_foreach = true, .no_differentiable = true},
};

tern_optim *tern_optim_muon_with(const tern_optim_muon_options *o)
{
    double betas[2];
    static const tern_optim_muon_options usual = {TERN_OPTIM_MUON_DEFAULTS_};
    if (o && tern_optim_pair("optim_muon", "rest_betas", o->rest_betas, usual.rest_betas, betas))
        return NULL;
    return TERN_OPTIM_MAKE(
        muon_class, o, [LR] = o->lr, [WEIGHT_DECAY] = o->weight_decay, [MOMENTUM] = o->momentum,
        [NESTEROV] = o->nesterov, [COEFFICIENT_A] = o->ns_coefficients[0],
        [COEFFICIENT_B] = o->ns_coefficients[1], [COEFFICIENT_C] = o->ns_coefficients[2],
        [EPS] = o->eps, [NS_STEPS] = (double)o->ns_steps, [ADJUST_LR_FN] = o->adjust_lr_fn,
        [NS_DTYPE] = o->ns_dtype, [REST] = o->rest, [REST_LR] = o->rest_lr, [REST_BETA1] = betas[0],
        [REST_BETA2] = betas[1], [REST_EPS] = o->rest_eps);
}
