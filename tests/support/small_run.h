// SPDX-License-Identifier: Apache-2.0
// A small training run: module with dropout, optimizer with a schedule, and a loader in a shuffled
// epoch over random samples, so that all random numbers count.
#ifndef TERN_TESTS_SUPPORT_SMALL_RUN_H
#define TERN_TESTS_SUPPORT_SMALL_RUN_H

#include <stdlib.h>

#include "check.h"

enum { SAMPLES = 23, BATCH = 5, BATCHES = 5 };

// ---- samples ------------------------------------------------------------------------------------

// Sample i is (x, y): x has a noise of its own in each epoch, y is i modulo 3. It counts, so that
// there is something to visit.
typedef struct noisy {
    tern_dataset base;
    int64_t made;
} noisy;

static inline int64_t count_noisy(const tern_dataset *self)
{
    (void)self;
    return SAMPLES;
}

static inline tern_status make_noisy(const tern_dataset *self, const tern_sample_context *context,
                                     int64_t index, tern_sample *out)
{
    const double moved = (double)((const noisy *)self)->made / 1000;
    float x[4];
    ((noisy *)(uintptr_t)self)->made++; // it is serial
    for (int64_t k = 0; k < 4; k++)
        x[k] = (float)(tern_sample_rand(context, index, k) + moved + (double)(index * k % 7));
    out->at[out->count++] = tern_from_data(tern_dims(4), x);
    out->at[out->count++] = tern_full(tern_dims(), (double)(index % 3), .dtype = TERN_INT64);
    return tern_error_code();
}

static inline tern_status visit_noisy(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "made", &((noisy *)self)->made);
}

static const tern_dataset_class noisy_class = {.name = "noisy",
                                               .size = sizeof(noisy),
                                               .count = count_noisy,
                                               .item = make_noisy,
                                               .visit = visit_noisy,
                                               .serial = true};

// ---- runs ---------------------------------------------------------------------------------------

typedef struct run {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_sched *sched;
    tern_loader *loader;
} run;

static inline run run_begin_on(tern_device device, uint64_t seed)
{
    tern_manual_seed(seed);
    tern_dataset *set = tern_dataset_new(&noisy_class);
    run r = {.net = tern_nn_sequential(tern_nn_linear(4, 16), tern_nn_relu(), tern_nn_dropout(0.3),
                                       tern_nn_linear(16, 3)),
             .criterion = tern_nn_cross_entropy_loss()};
    tern_module_to(r.net, device);
    r.optim = tern_optim_adam(r.net, .lr = 0.02, .amsgrad = true);
    r.sched = tern_sched_one_cycle_lr(r.optim, 0.02, .total_steps = 500);
    r.loader = tern_loader_new(set, .batch_size = BATCH, .shuffle = true, .device = device);
    tern_dataset_free(set);
    assert_no_error();
    return r;
}

static inline run run_begin(uint64_t seed)
{
    return run_begin_on(tern_cpu(0), seed);
}

static inline void run_end(run *r)
{
    tern_loader_free(r->loader);
    tern_sched_free(r->sched);
    tern_optim_free(r->optim);
    tern_module_free(r->criterion);
    tern_module_free(r->net);
}

static inline void run_train(run *r, int steps, float *losses)
{
    tern_batch b;
    for (int i = 0; i < steps;) {
        if (!tern_loader_next(r->loader, &b)) { // the end of an epoch
            assert_no_error();
            continue;
        }
        tern_tensor *loss = tern_loss(r->criterion, tern_forward(r->net, b.x), b.y);
        tern_optim_zero_grad(r->optim);
        assert_int_equal(tern_backward(loss), TERN_OK);
        assert_int_equal(tern_optim_step(r->optim), TERN_OK);
        assert_int_equal(tern_sched_step(r->sched), TERN_OK);
        losses[i++] = (float)tern_item(loss);
    }
}

static inline tern_status visit_run(void *object, tern_state_visitor *visitor)
{
    const run *r = object;
    if (tern_visit_module(visitor, "net", r->net) || tern_visit_optim(visitor, "optim", r->optim) ||
        tern_visit_sched(visitor, "sched", r->sched))
        return tern_error_code();
    return tern_visit_loader(visitor, "loader", r->loader);
}

#endif
