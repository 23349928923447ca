// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <stdlib.h>

#define SAMPLES 600
#define BATCH   200
#define IN      100
#define CLASSES 10

static bool draw_parameters(training *t)
{
    bool before = tern_set_grad_enabled(false);
    for (int64_t i = 0; i < tern_module_num_parameters(t->net); i++)
        (void)tern_uniform_(tern_module_parameter_at(t->net, i, NULL, 0), -0.1, 0.1, t->generator);
    (void)tern_set_grad_enabled(before);
    return !tern_error_pending();
}

static void make_data(training *t)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x = tern_randn(tern_dims(SAMPLES, IN), .generator = t->generator);
    tern_tensor *y = tern_randint(0, CLASSES, tern_dims(SAMPLES), .generator = t->generator);
    t->dataset = tern_data_tensors(x, y);
    t->loader = tern_loader_new(t->dataset, .batch_size = BATCH, .shuffle = true,
                                .generator = t->generator);
    tern_scope_close(scope);
}

bool training_make(training *t, uint64_t seed)
{
    *t = (training){.generator = tern_generator_new(seed)};
    t->net = tern_nn_sequential(tern_nn_linear(IN, 300), tern_nn_gelu(), tern_nn_linear(300, 50),
                                tern_nn_tanh(), tern_nn_linear(50, CLASSES));
    t->criterion = tern_nn_cross_entropy_loss(.label_smoothing = 0.1);
    t->optim = tern_optim_adam(t->net, .lr = 1e-2);
    make_data(t);
    if (!tern_error_pending() && draw_parameters(t))
        return true;
    training_free(t);
    return false;
}

void training_free(training *t)
{
    tern_loader_free(t->loader);
    tern_dataset_free(t->dataset);
    tern_optim_free(t->optim);
    tern_module_free(t->criterion);
    tern_module_free(t->net);
    tern_generator_free(t->generator);
    *t = (training){0};
}

bool training_epoch(training *t)
{
    tern_batch b;
    while (tern_loader_next(t->loader, &b)) {
        tern_tensor *loss = tern_loss(t->criterion, tern_forward(t->net, b.x), b.y);
        tern_optim_zero_grad(t->optim);
        if (tern_backward(loss) || !tern_clip_grad_norm(t->net, 1.0) || tern_optim_step(t->optim))
            break;
    }
    return !tern_error_pending();
}

// FNV-1a
static uint64_t hash_tensor(tern_tensor *x, uint64_t hash)
{
    size_t nbytes = (size_t)tern_numel(x) * tern_dtype_size(tern_dtype_of(x));
    unsigned char *bytes = malloc(nbytes + 1);
    if (!bytes || tern_to_host(x, bytes, nbytes))
        nbytes = 0;
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    free(bytes);
    return hash;
}

uint64_t training_hash(training *t)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    tern_scope scope = tern_scope_open();
    bool before = tern_set_grad_enabled(false);
    for (int64_t i = 0; i < tern_module_num_parameters(t->net); i++)
        hash = hash_tensor(tern_module_parameter_at(t->net, i, NULL, 0), hash);
    tern_module_eval(t->net);
    tern_tensor *x = tern_linspace(-2, 2, 4 * IN);
    hash = hash_tensor(tern_forward(t->net, tern_reshape(x, tern_dims(4, IN))), hash);
    tern_module_train(t->net, true);
    (void)tern_set_grad_enabled(before);
    tern_scope_close(scope);
    return tern_error_pending() ? 0 : hash;
}

uint64_t training_run(uint64_t seed)
{
    training t;
    if (!training_make(&t, seed))
        return 0;
    uint64_t hash = training_epoch(&t) && training_epoch(&t) ? training_hash(&t) : 0;
    training_free(&t);
    return hash;
}
