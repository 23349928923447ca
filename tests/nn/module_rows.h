// SPDX-License-Identifier: Apache-2.0
// Modules for the tests that hold for every one: those of nn.h, and a user's own.
#ifndef TERN_TESTS_NN_MODULE_ROWS_H
#define TERN_TESTS_NN_MODULE_ROWS_H

#include "golden/golden.h"
#include "support/own_module.h"
#include "support/public_modules.h"

// ---- a class that visits, with memory of its own -----------------------------------------------

typedef struct counted {
    tern_module base;
    tern_tensor *scale;
    double *shift; // its own
    int64_t count;
} counted;

// y = scale x + shift + count
static tern_status call_counted(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const counted *self = (const counted *)module;
    tern_tensor *y = tern_mul(in->at[0], self->scale);
    out->at[out->count++] = tern_add_scalar(y, *self->shift + (double)self->count);
    return tern_error_code();
}

static void free_counted(tern_module *module)
{
    free(((counted *)module)->shift);
}

static tern_status copy_counted(tern_module *to, const tern_module *from)
{
    counted *self = (counted *)to;
    self->shift = malloc(sizeof *self->shift);
    *self->shift = *((const counted *)from)->shift;
    return TERN_OK;
}

static tern_status visit_counted(tern_module *module, tern_state_visitor *visitor)
{
    counted *self = (counted *)module;
    if (tern_visit_double(visitor, "shift", self->shift))
        return tern_error_code();
    return tern_visit_int(visitor, "count", &self->count);
}

static const tern_module_class counted_class = {.name = "Counted",
                                                .size = sizeof(counted),
                                                .call = call_counted,
                                                .free = free_counted,
                                                .visit = visit_counted,
                                                .copy = copy_counted};

static inline tern_module *counted_new(void)
{
    counted *self = (counted *)tern_module_new(&counted_class);
    self->shift = malloc(sizeof *self->shift);
    *self->shift = tern_item(tern_rand(tern_dims())); // others in another module
    self->count = tern_item_int(tern_randint(0, 1000000, tern_dims()));
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_rand(tern_dims(1)));
    return tern_module_done(&self->base);
}

static inline tern_module *own_new(void)
{
    return tern_nn_sequential(scaled_new(3, scaled_new(2, NULL)), counted_new());
}

// ---- rows ---------------------------------------------------------------------------------------

#define MODULE_ROWS (PUBLIC_MODULE_COUNT + 1)

static inline public_module module_row(int i)
{
    const public_module own = {"own", NULL, own_new};
    return i < PUBLIC_MODULE_COUNT ? public_modules[i] : own;
}

// What PyTorch's case has put in; NULL where there is none.
static inline tern_tensor *stored_input(const golden_case *c, const char *name, tern_device device)
{
    const golden_array *g = golden_find_array(c, name);
    return g ? tern_from_data(g->shape, g->data, .dtype = g->dtype, .device = device) : NULL;
}

// What the module gives for the row's inputs, random numbers from one seed; NULL where it has no
// forward.
static inline tern_tensor *run_row(const public_module *row, tern_module *m, tern_device device)
{
    enum { MAX_INPUTS = 4 };
    tern_tensor *in[MAX_INPUTS] = {tern_linspace(-1, 2, 6, .device = device)};
    char name[128];
    int count = row->constructor ? 0 : 1;
    if (row->constructor) {
        snprintf(name, sizeof name, "%s, float32", row->name);
        const golden_case *c = golden_find("modules", name);
        const char *const inputs[] = {"in0", "in1", "in2", "in3"};
        while (count < MAX_INPUTS && (in[count] = stored_input(c, inputs[count], device)))
            count++;
    }
    tern_manual_seed(5);
    return count > 0 ? tern_call_n(m, count, in) : NULL;
}

#endif
