// SPDX-License-Identifier: Apache-2.0
// Gradients against central differences in float64; then the float32 ones against those.
#include "check.h"
#include "conformance.h"
#include "host.h"

static const double step = 1e-6, relative = 1e-3, absolute = 1e-5;
// Elements of an input that are perturbed; of a large one a few, as each costs two runs.
static int64_t perturbed(int64_t numel)
{
    return numel > 2000 ? 4 : numel < 60 ? numel : 60;
}

typedef struct trial {
    const op_case *c;
    const setup *s;
    tern_device device;
    run_name name;
    array in[MAX_IN];
    array weight; // of the outputs: the loss is their sum
} trial;

static bool differentiated(const trial *t, int i)
{
    return t->c->gradients >> i & 1;
}

static void must_work(const trial *t, const char *what)
{
    char sentence[600];
    if (!tern_error_pending())
        return;
    tern_error_take(sentence, sizeof sentence);
    fail_msg("%s, %s: %s", t->name.text, what, sentence);
}

// sum of weight * y for the inputs as they are, in the test's own arithmetic
static real loss_of(const trial *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    for (int i = 0; i < t->c->inputs; i++)
        operands[i] = array_to_tensor(&t->in[i], t->device, LAYOUT_CONTIGUOUS);
    tern_tensor *y = t->c->call(operands, t->c, t->s);
    must_work(t, "forward");
    array out = array_of_tensor(y);
    real loss = 0;
    for (int64_t i = 0; i < out.numel; i++)
        loss += out.data[i] * t->weight.data[i];
    array_free(&out);
    tern_scope_close(scope);
    return loss;
}

static real difference(trial *t, int input, int64_t i)
{
    real x = t->in[input].data[i];
    t->in[input].data[i] = x + step;
    real above = loss_of(t);
    t->in[input].data[i] = x - step;
    real below = loss_of(t);
    t->in[input].data[i] = x;
    return (above - below) / (2 * (real)step);
}

// An array in another dtype.
static array converted(const array *a, tern_dtype dtype)
{
    array b = array_new(tern_dtype_is_floating(a->dtype) ? dtype : a->dtype, a->shape);
    for (int64_t i = 0; i < a->numel; i++)
        b.data[i] = array_round(b.dtype, a->data[i]);
    return b;
}

static tern_tensor *tensor_as(const array *a, tern_dtype dtype, tern_device device,
                              array_layout layout)
{
    array b = converted(a, dtype);
    tern_tensor *t = array_to_tensor(&b, device, layout);
    array_free(&b);
    return t;
}

// Runs forward and backward `times` over; the gradients of the inputs into `grad`.
static void gradients(const trial *t, tern_dtype dtype, array_layout layout, int times, array *grad)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    for (int i = 0; i < t->c->inputs; i++) {
        operands[i] = tensor_as(&t->in[i], dtype, t->device, layout);
        if (differentiated(t, i))
            tern_set_requires_grad(operands[i], true);
    }
    for (int k = 0; k < times; k++) {
        tern_tensor *y = t->c->call(operands, t->c, t->s);
        tern_tensor *weight = NULL;
        must_work(t, "forward");
        weight = tensor_as(&t->weight, tern_dtype_of(y), t->device, layout);
        host_state host = host_before();
        if (tern_backward(y, .gradient = weight))
            must_work(t, "backward");
        const char *changed = host_difference(&host);
        if (changed)
            fail_msg("%s: backward changed %s", t->name.text, changed);
    }
    for (int i = 0; i < t->c->inputs; i++) {
        if (!differentiated(t, i))
            continue;
        tern_tensor *g = tern_grad(operands[i]);
        if (!g)
            fail_msg("%s: input %d got no gradient", t->name.text, i);
        grad[i] = array_of_tensor(g);
    }
    tern_scope_close(scope);
}

static void compare(const trial *t, int input, const char *what, const array *got, const real *want,
                    int64_t count, double times, double rel, double abs)
{
    if (!tern_shape_equal(got->shape, t->in[input].shape))
        fail_msg("%s: gradient of input %d has rank %d", t->name.text, input, got->shape.rank);
    for (int64_t i = 0; i < count; i++) {
        real expect = (real)times * want[i];
        if (!(fabsl(got->data[i] - expect) <= (real)abs + (real)rel * fabsl(expect)))
            fail_msg("%s: %s of input %d, element %lld is %.9Lg, expected %.9Lg", t->name.text,
                     what, input, (long long)i, got->data[i], expect);
    }
}

static void free_all(array *a)
{
    for (int i = 0; i < MAX_IN; i++)
        array_free(&a[i]);
}

// Few enough elements that rounding brings none of them together.
static bool stays_apart_in_float16(const trial *t)
{
    int64_t most = t->weight.numel;
    for (int i = 0; i < t->c->inputs; i++)
        most = t->in[i].numel > most ? t->in[i].numel : most;
    return most <= 30 && !t->c->kinks_inside;
}

// Every layout and accumulation give what the first did; so do the other dtypes, nearly.
static void compare_variants(const trial *t, const array *first)
{
    static const struct {
        const char *what;
        tern_dtype dtype;
        array_layout layout;
        int times;
        double relative, absolute;
    } variants[] = {
        {"gradient with transposed operands", TERN_FLOAT64, LAYOUT_TRANSPOSED, 1, 1e-9, 1e-10},
        {"gradient with sliced operands", TERN_FLOAT64, LAYOUT_SLICED, 1, 1e-9, 1e-10},
        {"gradient of two backwards", TERN_FLOAT64, LAYOUT_CONTIGUOUS, 2, 1e-9, 1e-10},
        {"float32 gradient", TERN_FLOAT32, LAYOUT_CONTIGUOUS, 1, 2e-3, 2e-4},
        {"float16 gradient", TERN_FLOAT16, LAYOUT_CONTIGUOUS, 1, 2e-2, 2e-2},
        {"float32 gradient of two backwards", TERN_FLOAT32, LAYOUT_SLICED, 2, 2e-3, 2e-4},
    };
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
        if (variants[v].dtype == TERN_FLOAT16 && !stays_apart_in_float16(t))
            continue;
        array grad[MAX_IN] = {{0}};
        gradients(t, variants[v].dtype, variants[v].layout, variants[v].times, grad);
        for (int i = 0; i < t->c->inputs; i++)
            if (differentiated(t, i))
                compare(t, i, variants[v].what, &grad[i], first[i].data, first[i].numel,
                        variants[v].times, variants[v].relative, variants[v].absolute);
        free_all(grad);
    }
}

static void compare_differences(trial *t, const array *grad)
{
    real numeric[60];
    for (int i = 0; i < t->c->inputs; i++) {
        if (!differentiated(t, i))
            continue;
        int64_t count = perturbed(t->in[i].numel);
        for (int64_t k = 0; k < count; k++)
            numeric[k] = difference(t, i, k);
        compare(t, i, "gradient", &grad[i], numeric, count, 1, relative, absolute);
    }
}

static void make_weight(trial *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *operands[MAX_IN] = {NULL};
    for (int i = 0; i < t->c->inputs; i++)
        operands[i] = array_to_tensor(&t->in[i], t->device, LAYOUT_CONTIGUOUS);
    tern_tensor *y = t->c->call(operands, t->c, t->s);
    must_work(t, "forward");
    t->weight = array_new(TERN_FLOAT64, tern_shape_of(y));
    for (int64_t i = 0; i < t->weight.numel; i++)
        t->weight.data[i] = (real)((int64_t)(random_word() % 129) - 64) / 32;
    tern_scope_close(scope);
}

void check_gradient(const op_case *c, tern_device device)
{
    for (int k = 0; k < c->setup_count; k++) {
        trial t = {.c = c, .s = &c->setups[k], .device = device};
        array grad[MAX_IN] = {{0}};
        t.name = name_of_run(c, k, TERN_FLOAT64, LAYOUT_CONTIGUOUS);
        make_inputs(c, t.s, TERN_FLOAT64, true, t.in);
        make_weight(&t);
        gradients(&t, TERN_FLOAT64, LAYOUT_CONTIGUOUS, 1, grad);
        compare_differences(&t, grad);
        compare_variants(&t, grad);
        free_all(grad);
        free_all(t.in);
        array_free(&t.weight);
    }
}
