// SPDX-License-Identifier: Apache-2.0
// Operations and their gradients against PyTorch's, case by case; test_ops_golden [DEVICE].
#include "array.h"
#include "check.h"
#include "golden_calls.h"
#include "ops_golden.h"

#define CASE_COUNT (sizeof golden_cases / sizeof *golden_cases)

static tern_device device;
static struct CMUnitTest tests[CASE_COUNT + 2];
static char names[CASE_COUNT][128];

static tern_dtype dtype_named(const char *name)
{
    for (tern_dtype dtype = TERN_FLOAT32; name && dtype <= TERN_BOOL; dtype++)
        if (strcmp(tern_dtype_name(dtype), name) == 0)
            return dtype;
    return TERN_DTYPE_UNSPECIFIED;
}

static array stored(const golden_array *g)
{
    array a = array_new(dtype_named(g->dtype), tern_shape_make(g->ndim, g->shape));
    for (int64_t i = 0; i < a.numel; i++)
        a.data[i] = array_round(a.dtype, g->data[i]);
    return a;
}

static tern_tensor *tensor_of(const golden_array *g)
{
    array a = stored(g);
    tern_tensor *t = array_to_tensor(&a, device, LAYOUT_CONTIGUOUS);
    array_free(&a);
    assert_no_error();
    return t;
}

static void take_word(const golden_param *p, golden_words *w)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {{"value", &w->value},
                   {"p", &w->p},
                   {"low", &w->low},
                   {"high", &w->high},
                   {"beta", &w->beta},
                   {"negative_slope", &w->negative_slope},
                   {"threshold", &w->threshold},
                   {"label_smoothing", &w->label_smoothing}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(p->name, numbers[i].name) == 0) {
            *numbers[i].to = p->value;
            return;
        }
    int whole = (int)p->value;
    if (strcmp(p->name, "axis") == 0)
        w->axes.axis[w->axes.count++] = whole;
    else if (strcmp(p->name, "dim") == 0)
        w->dim = whole;
    else if (strcmp(p->name, "classes") == 0)
        w->classes = whole;
    else if (strcmp(p->name, "keepdim") == 0)
        w->keepdim = whole != 0;
    else if (strcmp(p->name, "correction") == 0)
        w->correction = whole;
    else if (strcmp(p->name, "ignore_index") == 0)
        w->ignore_index = whole;
    else if (strcmp(p->name, "reduction") == 0)
        w->reduction = (tern_reduction)whole;
    else if (strcmp(p->name, "activation") == 0)
        w->activation = (tern_activation)whole;
    else
        fail_msg("a parameter %s is not known here", p->name);
}

// tern keeps the logarithm of a row's sum for the backward of cross-entropy: rounding it costs this
// share of a probability.
static real share_of_kept_logarithm(const golden_case *g)
{
    real largest = 0;
    if (strcmp(g->op, "cross_entropy") != 0 || strcmp(g->in[0].dtype, "float64") == 0)
        return 0;
    array x = stored(&g->in[0]);
    for (int64_t i = 0; i < x.numel; i++)
        largest = fmaxl(largest, isfinite(x.data[i]) ? fabsl(x.data[i]) : 0);
    array_free(&x);
    return largest * 0x1p-24L;
}

static void compare(const char *what, const tern_tensor *t, const golden_array *g, real more)
{
    static const double share[] = {[TERN_FLOAT32] = 4e-6,
                                   [TERN_FLOAT64] = 1e-12,
                                   [TERN_FLOAT16] = 2e-3,
                                   [TERN_BFLOAT16] = 1.6e-2,
                                   [TERN_BOOL] = 0};
    array got = array_of_tensor(t), want = stored(g);
    if (got.dtype != want.dtype || !tern_shape_equal(got.shape, want.shape))
        fail_msg("%s is %s of rank %d with %lld elements, not %s, %d, %lld", what,
                 tern_dtype_name(got.dtype), got.shape.rank, (long long)got.numel,
                 tern_dtype_name(want.dtype), want.shape.rank, (long long)want.numel);
    real room = (real)share[got.dtype] + more;
    for (int64_t i = 0; i < got.numel; i++) {
        real x = got.data[i], y = want.data[i];
        bool same = x == y || (isnan(x) && isnan(y));
        if (!same && !(fabsl(x - y) <= room * (fabsl(y) + 0.25L)))
            fail_msg("%s: element %lld is %.12Lg, PyTorch has %.12Lg", what, (long long)i, x, y);
    }
    array_free(&got);
    array_free(&want);
}

static void check_gradients(const golden_case *g, tern_tensor *const *in, tern_tensor *loss)
{
    if (!g->grad_out.dtype)
        return;
    if (tern_backward(loss, .gradient = tensor_of(&g->grad_out)))
        assert_no_error();
    for (int i = 0; i < g->in_count; i++) {
        char what[32];
        if (!g->grad[i].dtype)
            continue;
        snprintf(what, sizeof what, "gradient %d", i);
        if (!tern_grad(in[i]))
            fail_msg("%s is not there", what);
        compare(what, tern_grad(in[i]), &g->grad[i], share_of_kept_logarithm(g));
    }
}

static void run_case(void **state)
{
    const golden_case *g = *state;
    tern_scope scope = tern_scope_open();
    tern_tensor *in[3] = {NULL}, *out[2] = {NULL};
    golden_words words = {.dtype = dtype_named(g->out[0].dtype)};
    for (int i = 0; i < g->param_count; i++)
        take_word(&g->param[i], &words);
    for (int i = 0; i < g->in_count; i++) {
        in[i] = g->in[i].dtype ? tensor_of(&g->in[i]) : NULL;
        if (g->grad[i].dtype)
            tern_set_requires_grad(in[i], true);
    }
    if (!golden_call(g->op, in, &words, out))
        fail_msg("there is no call of %s", g->op);
    assert_no_error();
    compare("out 0", out[0], &g->out[0], 0);
    if (g->out_count > 1)
        compare("out 1", out[1], &g->out[1], 0);
    check_gradients(g, in, out[0]);
    tern_scope_close(scope);
}

static tern_tensor *zeros_of(int number, bool scalar)
{
    return tern_zeros(scalar ? tern_dims() : tern_dims(2), .device = device,
                      .dtype = dtype_named(golden_dtypes[number]));
}

static void check_table(const int table[8][8], bool scalar_a, bool scalar_b, bool divide)
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 8; k++) {
            tern_scope scope = tern_scope_open();
            tern_tensor *a = zeros_of(i, scalar_a), *b = zeros_of(k, scalar_b);
            tern_tensor *y = divide ? tern_div(a, b) : tern_add(a, b);
            assert_no_error();
            tern_dtype want = dtype_named(golden_dtypes[table[i][k]]);
            if (tern_dtype_of(y) != want || (!divide && tern_promote(a, b) != want))
                fail_msg("%s meets %s in %s, PyTorch has %s", golden_dtypes[i], golden_dtypes[k],
                         tern_dtype_name(tern_dtype_of(y)), tern_dtype_name(want));
            tern_scope_close(scope);
        }
}

static void dtypes_are_promoted_as_in_pytorch(void **state)
{
    (void)state;
    check_table(golden_promote_dimensioned, false, false, false);
    check_table(golden_promote_scalar_left, true, false, false);
    check_table(golden_promote_scalar_right, false, true, false);
    check_table(golden_promote_scalars, true, true, false);
}

static void true_division_of_integers_gives_float32(void **state)
{
    (void)state;
    check_table(golden_promote_div, false, false, true);
}

int main(int argc, char **argv)
{
    size_t count = 0;
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    for (; count < CASE_COUNT; count++) {
        golden_case *g = (golden_case *)(uintptr_t)&golden_cases[count];
        snprintf(names[count], sizeof names[count], "%s: %s, %s", g->op, g->name, g->in[0].dtype);
        tests[count] = (struct CMUnitTest){names[count], run_case, NULL, NULL, g};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(dtypes_are_promoted_as_in_pytorch);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(true_division_of_integers_gives_float32);
    return _cmocka_run_group_tests("ops_golden", tests, count, NULL, NULL);
}
