// SPDX-License-Identifier: Apache-2.0
// Every optimizer brings every loss to its minimum on one batch: within 1e-3 in 300 steps. Each
// minimum is derived by hand, beside its loss.
#include "optim_check.h"

#define STEPS 300
#define ROWS  4
#define COLS  3

static tern_tensor *x; // (ROWS, COLS), what is learnt

// ---- targets ------------------------------------------------------------------------------------

static tern_tensor *numbers(tern_shape shape, const double *values)
{
    return tern_from_data(shape, values, .dtype = TERN_FLOAT64);
}

static const double reals[] = {0.5, -1, 2, 0, 1.5, -0.5, 1, 0.25, -2, 0.75, -1.5, 1.25};
static const double shares[] = {0.2, 0.3, 0.5, 0.6, 0.1, 0.3, 0.25, 0.5, 0.25, 0.1, 0.1, 0.8};
static const double counts[] = {1, 2, 3, 1, 1, 2, 4, 2, 1, 3, 1, 2};

static tern_tensor *table(const double *values)
{
    return numbers(tern_dims(ROWS, COLS), values);
}

static tern_tensor *labels(void)
{
    static const int64_t values[] = {0, 2, 1, 2};
    return tern_from_data(tern_dims(ROWS), values, .dtype = TERN_INT64);
}

static tern_tensor *signs(int64_t count)
{
    static const double values[] = {1, 1, 1, -1, 1, 1, 1, -1, 1, 1, 1, -1};
    return numbers(count == ROWS ? tern_dims(ROWS) : tern_dims(ROWS, COLS), values);
}

// The first row in the place of all: what all targets together ask for.
static tern_tensor *shared(void)
{
    return tern_expand(tern_slice(x, 0, 0, 1, 1), tern_dims(ROWS, COLS));
}

static tern_tensor *log_probabilities(tern_tensor *logits)
{
    return tern_log_softmax(logits, -1);
}

// The mean over all of -p log p - (1 - p) log(1 - p).
static double binary_entropy(void)
{
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++)
        sum -= shares[i] * log(shares[i]) + (1 - shares[i]) * log(1 - shares[i]);
    return sum / (ROWS * COLS);
}

// The mean over the rows of -sum p log p.
static double entropy(void)
{
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++)
        sum -= shares[i] * log(shares[i]);
    return sum / ROWS;
}

static double zero(void)
{
    return 0;
}

// ---- losses -------------------------------------------------------------------------------------

static tern_tensor *mse(void)
{
    return tern_mse_loss(x, table(reals), TERN_REDUCTION_MEAN);
}

static tern_tensor *l1(void)
{
    return tern_l1_loss(x, table(reals), TERN_REDUCTION_MEAN);
}

static tern_tensor *smooth_l1(void)
{
    return tern_smooth_l1_loss(x, table(reals));
}

static tern_tensor *huber(void)
{
    return tern_huber_loss(x, table(reals));
}

static tern_tensor *bce(void)
{
    return tern_binary_cross_entropy(tern_sigmoid(x), table(shares));
}

static tern_tensor *bce_with_logits(void)
{
    return tern_binary_cross_entropy_with_logits(x, table(shares));
}

static tern_tensor *multilabel_soft_margin(void)
{
    return tern_multilabel_soft_margin_loss(x, table(shares));
}

static tern_tensor *cross_entropy(void)
{
    return tern_cross_entropy(x, table(shares));
}

static tern_tensor *linear_cross_entropy(void)
{
    return tern_linear_cross_entropy(x, tern_eye(COLS, COLS, .dtype = TERN_FLOAT64), table(shares));
}

static tern_tensor *kl_div(void)
{
    return tern_kl_div(log_probabilities(x), table(shares));
}

// One row for the labels 0, 2, 1 and 2: at best their shares, a quarter, a quarter, a half.
static tern_tensor *nll(void)
{
    return tern_nll_loss(log_probabilities(shared()), labels());
}

static double nll_minimum(void)
{
    return 2 * 0.25 * log(4) + 0.5 * log(2);
}

// exp(x) - y x is least where x = log y.
static tern_tensor *poisson_nll(void)
{
    return tern_poisson_nll_loss(x, table(counts));
}

static double poisson_nll_minimum(void)
{
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++)
        sum += counts[i] - counts[i] * log(counts[i]);
    return sum / (ROWS * COLS);
}

// (log v + (x - y)^2 / v) / 2 with v = 2.
static tern_tensor *gaussian_nll(void)
{
    return tern_gaussian_nll_loss(x, table(reals), tern_full_like(x, 2));
}

static double gaussian_nll_minimum(void)
{
    return log(2) / 2;
}

// One element for three targets of 1 and one of -1: at best it says 3/4.
static tern_tensor *soft_margin(void)
{
    tern_tensor *one = tern_slice(tern_slice(x, 0, 0, 1, 1), 1, 0, 1, 1);
    return tern_soft_margin_loss(tern_expand(one, tern_dims(ROWS, 1)),
                                 tern_reshape(signs(ROWS), tern_dims(ROWS, 1)),
                                 TERN_REDUCTION_MEAN);
}

static double soft_margin_minimum(void)
{
    return -0.75 * log(0.75) - 0.25 * log(0.25);
}

static tern_tensor *hinge_embedding(void)
{
    return tern_hinge_embedding_loss(tern_abs(x), signs(ROWS * COLS));
}

static tern_tensor *margin_ranking(void)
{
    return tern_margin_ranking_loss(x, table(reals), signs(ROWS * COLS), .margin = 0.5);
}

static tern_tensor *cosine_embedding(void)
{
    return tern_cosine_embedding_loss(x, table(reals), signs(ROWS));
}

static tern_tensor *multi_margin(void)
{
    return tern_multi_margin_loss(x, labels());
}

static tern_tensor *multilabel_margin(void)
{
    static const int64_t classes[] = {0, -1, -1, 2, 1, -1, 1, -1, 0, 0, 2, -1};
    return tern_multilabel_margin_loss(
        x, tern_from_data(tern_dims(ROWS, COLS), classes, .dtype = TERN_INT64),
        TERN_REDUCTION_MEAN);
}

static tern_tensor *triplet_margin(void)
{
    return tern_triplet_margin_loss(x, table(reals), tern_add_scalar(table(reals), 2));
}

static tern_tensor *distance(tern_tensor *a, tern_tensor *b, void *user)
{
    (void)user;
    return tern_sum(tern_abs(tern_sub(a, b)), tern_axes(1), false);
}

static tern_tensor *triplet_margin_with_distance(void)
{
    return tern_triplet_margin_with_distance_loss(x, table(reals), tern_add_scalar(table(reals), 2),
                                                  .distance = distance);
}

// Three frames that say the same, with label a of probability p, b of q, blanks of r, write "ab"
// by aab, abb, -ab, a-b, ab-: p p q + p q q + 3 p q r, at most 1/4, at p = q = 1/2. The mean
// divides by the two labels.
static tern_tensor *ctc(void)
{
    static const int64_t target[] = {1, 2}, frames[] = {3}, length[] = {2};
    tern_tensor *row = tern_reshape(tern_slice(x, 0, 0, 1, 1), tern_dims(1, 1, COLS));
    tern_tensor *input = tern_expand(log_probabilities(row), tern_dims(3, 1, COLS));
    return tern_ctc_loss(input, tern_from_data(tern_dims(1, 2), target, .dtype = TERN_INT64),
                         tern_from_data(tern_dims(1), frames, .dtype = TERN_INT64),
                         tern_from_data(tern_dims(1), length, .dtype = TERN_INT64));
}

static double ctc_minimum(void)
{
    return log(4) / 2;
}

typedef struct loss_kind {
    const char *name;
    tern_tensor *(*compute)(void);
    double (*minimum)(void);
} loss_kind;

static const loss_kind losses[] = {
    {"mse", mse, zero},
    {"l1", l1, zero},
    {"smooth_l1", smooth_l1, zero},
    {"huber", huber, zero},
    {"bce", bce, binary_entropy},
    {"bce_with_logits", bce_with_logits, binary_entropy},
    {"multilabel_soft_margin", multilabel_soft_margin, binary_entropy},
    {"cross_entropy", cross_entropy, entropy},
    {"linear_cross_entropy", linear_cross_entropy, entropy},
    {"kl_div", kl_div, zero},
    {"nll", nll, nll_minimum},
    {"poisson_nll", poisson_nll, poisson_nll_minimum},
    {"gaussian_nll", gaussian_nll, gaussian_nll_minimum},
    {"soft_margin", soft_margin, soft_margin_minimum},
    {"hinge_embedding", hinge_embedding, zero},
    {"margin_ranking", margin_ranking, zero},
    {"cosine_embedding", cosine_embedding, zero},
    {"multi_margin", multi_margin, zero},
    {"multilabel_margin", multilabel_margin, zero},
    {"triplet_margin", triplet_margin, zero},
    {"triplet_margin_with_distance", triplet_margin_with_distance, zero},
    {"ctc", ctc, ctc_minimum},
};

// ---- optimizers ---------------------------------------------------------------------------------

// A line is a constructor, and its options with the rate for a mean over twelve elements.
#define FROM NULL, .params = &x, .param_count = 1
#define OPTIMIZERS(OPTIMIZER)                                                                      \
    OPTIMIZER(sgd, .lr = 0.3, .momentum = 0.9)                                                     \
    OPTIMIZER(adam, .lr = 0.1)                                                                     \
    OPTIMIZER(adamw, .lr = 0.1, .weight_decay = 0)                                                 \
    OPTIMIZER(adamax, .lr = 0.2)                                                                   \
    OPTIMIZER(nadam, .lr = 0.1)                                                                    \
    OPTIMIZER(radam, .lr = 0.4)                                                                    \
    OPTIMIZER(rmsprop, .lr = 0.05)                                                                 \
    OPTIMIZER(adagrad, .lr = 0.5)                                                                  \
    OPTIMIZER(adadelta, .lr = 10)                                                                  \
    OPTIMIZER(asgd, .lr = 3, .lambd = 0)                                                           \
    OPTIMIZER(lion, .lr = 0.05)                                                                    \
    OPTIMIZER(schedule_free_adamw, .lr = 0.2)                                                      \
    OPTIMIZER(adafactor, .lr = 0.3)                                                                \
    OPTIMIZER(muon, .lr = 0.1, .weight_decay = 0)                                                  \
    OPTIMIZER(rprop, .lr = 0.05)                                                                   \
    OPTIMIZER(lbfgs, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE)

typedef struct optimizer_kind {
    const char *name;
    tern_optim *(*make)(void);
} optimizer_kind;

#define OPTIMIZER(name, ...)                                                                       \
    static tern_optim *make_##name(void)                                                           \
    {                                                                                              \
        return tern_optim_##name(FROM, __VA_ARGS__);                                               \
    }
OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER

static const optimizer_kind optimizers[] = {
#define OPTIMIZER(name, ...) {#name, make_##name},
    OPTIMIZERS(OPTIMIZER)
#undef OPTIMIZER
};

// ---- the test -----------------------------------------------------------------------------------

typedef struct pair {
    const loss_kind *loss;
    tern_optim *optim;
} pair;

static tern_tensor *closure(void *user)
{
    const pair *p = user;
    tern_optim_zero_grad(p->optim);
    tern_tensor *loss = p->loss->compute();
    return tern_backward(loss) ? NULL : loss;
}

// The rate falls to 0 in a line. How far the loss is from its minimum then.
static double distance_to_minimum(const loss_kind *loss, const optimizer_kind *optimizer)
{
    static const double begin[] = {0.3, -0.2, 0.1, -0.4, 0.2, 0.5, -0.1, 0.4, -0.3, 0.6, -0.5, 0.2};
    double last = NAN;
    x = tern_set_requires_grad(table(begin), true);
    pair p = {loss, optimizer->make()};
    tern_sched *sched =
        tern_sched_linear_lr(p.optim, .start_factor = 1, .end_factor = 0, .total_iters = STEPS);
    tern_each_step (i, STEPS)
        if (!tern_optim_step_closure(p.optim, closure, &p) || tern_sched_step(sched))
            break;
    tern_no_grad
        last = tern_item(loss->compute());
    tern_sched_free(sched);
    tern_optim_free(p.optim);
    return last - loss->minimum();
}

static void every_pair_of_loss_and_optimizer_comes_to_the_minimum(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t l = 0; l < sizeof losses / sizeof *losses; l++)
        for (size_t o = 0; o < sizeof optimizers / sizeof *optimizers; o++)
            tern_with_scope {
                const double far = distance_to_minimum(&losses[l], &optimizers[o]);
                if (!tern_error_pending() && far >= -1e-9 && far <= 1e-3)
                    continue;
                print_error("%s with %s ends %g from the minimum%s\n", losses[l].name,
                            optimizers[o].name, far, tern_error_message());
                tern_error_clear();
                wrong++;
            }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(every_pair_of_loss_and_optimizer_comes_to_the_minimum),
    };
    return cmocka_run_group_tests_name("losses and optimizers", tests, NULL, NULL);
}
