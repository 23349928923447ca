// SPDX-License-Identifier: Apache-2.0
// Operations and their gradients against PyTorch's, case by case; test_ops_golden [DEVICE].
#include "support/check.h"
#include "golden_calls.h"
#include "golden_compare.h"

#define MOST_TESTS 4096

static tern_device device;
static struct CMUnitTest tests[MOST_TESTS];

static const golden_array *numbered(const golden_case *g, const char *name, int i)
{
    char full[16];
    snprintf(full, sizeof full, "%s%d", name, i);
    return golden_find_array(g, full);
}

static void take_axes(const golden_case *g, tern_axis_list *axes)
{
    double values[TERN_MAX_RANK];
    axes->count = golden_numbers(g, "axes", values, TERN_MAX_RANK);
    for (int i = 0; i < axes->count; i++)
        axes->axis[i] = (int)values[i];
}

static golden_words words_of(const golden_case *g)
{
    golden_words w = {0};
#define TAKE(name) w.name = golden_number(g, #name, 0)
    TAKE(value), TAKE(p), TAKE(low), TAKE(high), TAKE(beta), TAKE(negative_slope);
    TAKE(threshold), TAKE(label_smoothing), TAKE(alpha), TAKE(lambd), TAKE(lower), TAKE(upper);
    TAKE(eps), TAKE(margin), TAKE(delta);
#undef TAKE
#define TAKE(name) w.name = (int)golden_number(g, #name, 0)
    TAKE(dim), TAKE(classes), TAKE(correction), TAKE(ignore_index), TAKE(factor), TAKE(k);
    TAKE(blank);
#undef TAKE
#define TAKE(name) w.name = golden_number(g, #name, 0) != 0
    TAKE(keepdim), TAKE(full), TAKE(log_input), TAKE(log_target), TAKE(descending);
    TAKE(largest);
    TAKE(swap), TAKE(zero_infinity);
#undef TAKE
    w.reduction = (tern_reduction)golden_number(g, "reduction", 0);
    w.activation = (tern_activation)golden_number(g, "activation", 0);
    take_axes(g, &w.axes);
    w.dtype = numbered(g, "out", 0)->dtype;
    return w;
}

// tern keeps the logarithm of a row's sum for the backward of cross-entropy: rounding it costs this
// share of a probability.
static real share_of_kept_logarithm(const golden_case *g)
{
    real largest = 0;
    const golden_array *in = numbered(g, "in", 0);
    if (strcmp(golden_text(g, "op"), "cross_entropy") != 0 || in->dtype == TERN_FLOAT64)
        return 0;
    array x = golden_to_array(in);
    for (int64_t i = 0; i < x.numel; i++)
        largest = fmaxl(largest, isfinite(x.data[i]) ? fabsl(x.data[i]) : 0);
    array_free(&x);
    return largest * 0x1p-24L;
}

static void check_gradients(const golden_case *g, tern_tensor *const *in, tern_tensor *out)
{
    const golden_array *seed = golden_find_array(g, "seed");
    if (seed && tern_backward(out, .gradient = golden_tensor(seed, device)))
        assert_no_error();
    for (int i = 0; i < GOLDEN_IN; i++) {
        const golden_array *grad = numbered(g, "grad", i);
        char what[32];
        if (!grad)
            continue;
        snprintf(what, sizeof what, "gradient %d", i);
        if (!tern_grad(in[i]))
            fail_msg("%s is not there", what);
        golden_compare(what, tern_grad(in[i]), grad, share_of_kept_logarithm(g));
    }
}

static void run_case(void **state)
{
    const golden_case *g = *state;
    tern_scope scope = tern_scope_open();
    tern_tensor *in[GOLDEN_IN] = {NULL}, *out[GOLDEN_OUT] = {NULL};
    const golden_words words = words_of(g);
    for (int i = 0; i < GOLDEN_IN; i++) {
        const golden_array *stored = numbered(g, "in", i);
        in[i] = stored ? golden_tensor(stored, device) : NULL;
        if (numbered(g, "grad", i))
            tern_set_requires_grad(in[i], true);
    }
    if (!golden_call(golden_text(g, "op"), in, &words, out))
        fail_msg("there is no call of %s", golden_text(g, "op"));
    assert_no_error();
    for (int i = 0; i < GOLDEN_OUT; i++) {
        const golden_array *stored = numbered(g, "out", i);
        if (stored)
            golden_compare(i ? "out 1" : "out 0", out[i], stored, 0);
    }
    check_gradients(g, in, out[0]);
    tern_scope_close(scope);
}

// ---- promotion ---------------------------------------------------------------------------------

static tern_tensor *zeros_of(tern_dtype dtype, bool scalar)
{
    return tern_zeros(scalar ? tern_dims() : tern_dims(2), .device = device, .dtype = dtype);
}

// The dtype at a place of a row.
static tern_dtype dtype_at(const char *row, int place)
{
    char name[16];
    for (; place > 0; place--)
        row = strchr(row, ' ') + 1;
    assert_int_equal(sscanf(row, "%15s", name), 1);
    return golden_dtype(name);
}

static void check_table(const char *name, bool scalar_a, bool scalar_b, bool divide)
{
    const golden_case *table = golden_find("promotion", name);
    assert_int_equal(table->word_count, TERN_BOOL);
    for (int i = 0; i < table->word_count; i++)
        for (int k = 0; k < table->word_count; k++) {
            tern_scope scope = tern_scope_open();
            const char *names[] = {table->words[i].name, table->words[k].name};
            tern_tensor *a = zeros_of(golden_dtype(names[0]), scalar_a);
            tern_tensor *b = zeros_of(golden_dtype(names[1]), scalar_b);
            tern_tensor *y = divide ? tern_div(a, b) : tern_add(a, b);
            assert_no_error();
            tern_dtype want = dtype_at(table->words[i].value, k);
            if (tern_dtype_of(y) != want || (!divide && tern_promote(a, b) != want))
                fail_msg("%s meets %s in %s, PyTorch has %s", names[0], names[1],
                         tern_dtype_name(tern_dtype_of(y)), tern_dtype_name(want));
            tern_scope_close(scope);
        }
}

static void dtypes_are_promoted_as_in_pytorch(void **state)
{
    (void)state;
    check_table("both with dimensions", false, false, false);
    check_table("a of 0 dimensions", true, false, false);
    check_table("b of 0 dimensions", false, true, false);
    check_table("both of 0 dimensions", true, true, false);
}

static void true_division_of_integers_gives_float32(void **state)
{
    (void)state;
    check_table("division", false, false, true);
}

int main(int argc, char **argv)
{
    const golden_file *ops = golden_read("ops");
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    if (ops->count > MOST_TESTS - 2) {
        fprintf(stderr, "%d cases are more than MOST_TESTS\n", ops->count);
        return 1;
    }
    size_t count = 0;
    for (; count < (size_t)ops->count; count++) {
        void *g = (void *)(uintptr_t)&ops->cases[count];
        tests[count] = (struct CMUnitTest){ops->cases[count].name, run_case, NULL, NULL, g};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(dtypes_are_promoted_as_in_pytorch);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(true_division_of_integers_gives_float32);
    return _cmocka_run_group_tests("ops_golden", tests, count, NULL, NULL);
}
