// SPDX-License-Identifier: Apache-2.0
// Gradients against central differences in float64; then the float32 ones against those.
#include "support/check.h"
#include "conformance.h"
#include "support/host.h"

static const double step = 1e-6, relative = 1e-3, absolute = 1e-5, direction_share = 1e-6;
// Elements of an input that are perturbed one at a time, as each costs two runs; they show which is
// wrong, and a direction in which all move shows whether one is.
enum { MOST_PERTURBED = 16 };

static int64_t perturbed(int64_t numel)
{
    return numel > 2000 ? 4 : numel < MOST_PERTURBED ? numel : MOST_PERTURBED;
}

// Spread from the first element to the last.
static int64_t perturbed_at(int64_t numel, int64_t k)
{
    return k * (numel - 1) / (perturbed(numel) > 1 ? perturbed(numel) - 1 : 1);
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
        if (!tern_shape_equal(grad[i].shape, t->in[i].shape))
            fail_msg("%s: gradient of input %d has rank %d", t->name.text, i, grad[i].shape.rank);
    }
    tern_scope_close(scope);
}

static void compare_one(const trial *t, int input, const char *what, const array *got, int64_t i,
                        real expect, double rel, double abs)
{
    if (!(fabsl(got->data[i] - expect) <= (real)abs + (real)rel * fabsl(expect)))
        fail_msg("%s: %s of input %d, element %lld is %.9Lg, expected %.9Lg", t->name.text, what,
                 input, (long long)i, got->data[i], expect);
}

static void compare(const trial *t, int input, const char *what, const array *got, const real *want,
                    double times, double rel, double abs)
{
    for (int64_t i = 0; i < got->numel; i++)
        compare_one(t, input, what, got, i, (real)times * want[i], rel, abs);
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
                compare(t, i, variants[v].what, &grad[i], first[i].data, variants[v].times,
                        variants[v].relative, variants[v].absolute);
        free_all(grad);
    }
}

static void shift(array *x, const array *from, const array *direction, real by)
{
    for (int64_t i = 0; i < x->numel; i++)
        x->data[i] = from->data[i] + by * direction->data[i];
}

static real difference_along(trial *t, array *x, const array *from, const array *direction, real by)
{
    shift(x, from, direction, by);
    const real above = loss_of(t);
    shift(x, from, direction, -by);
    const real below = loss_of(t);
    shift(x, from, direction, 0);
    return (above - below) / (2 * by);
}

// The derivative in a direction in which every element moves is the sum of all their shares, so
// that two runs see an element that is wrong, wherever it is. Among many elements one may lie so
// close to a kink that it crosses it: then a shorter step decides.
static void compare_direction(trial *t, int input, const array *grad)
{
    array *x = &t->in[input], from = converted(x, x->dtype), direction = converted(x, x->dtype);
    real expect = 0, size = 0;
    for (int64_t i = 0; i < x->numel; i++) {
        const uint64_t word = random_word();
        direction.data[i] = ((real)(word % 64) + 65) / (word >> 32 & 1 ? 128 : -128);
        expect += direction.data[i] * grad->data[i];
        size += fabsl(direction.data[i] * grad->data[i]);
    }
    const real allowed = absolute + direction_share * size;
    real got = difference_along(t, x, &from, &direction, step);
    if (!(fabsl(got - expect) <= allowed))
        got = difference_along(t, x, &from, &direction, step / 16);
    if (!(fabsl(got - expect) <= allowed))
        fail_msg("%s: the gradient of input %d gives %.9Lg along a direction in which the "
                 "difference is %.9Lg (of terms that are %.3Lg together)",
                 t->name.text, input, expect, got, size);
    array_free(&from);
    array_free(&direction);
}

static void compare_differences(trial *t, const array *grad)
{
    for (int i = 0; i < t->c->inputs; i++) {
        const int64_t numel = t->in[i].numel;
        if (!differentiated(t, i) || numel == 0)
            continue;
        for (int64_t k = 0; k < perturbed(numel); k++) {
            const int64_t at = perturbed_at(numel, k);
            compare_one(t, i, "gradient", &grad[i], at, difference(t, i, at), relative, absolute);
        }
        compare_direction(t, i, &grad[i]);
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
