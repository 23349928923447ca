// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <stdlib.h>

static const char *const tensor_names[FIXTURE_TENSORS] = {
    "x",     "wide",  "vector", "scalar", "empty", "deep", "doubles", "ints",
    "bytes", "bools", "labels", "far",    "leaf",  "made", "turned",
};

static void make_tensors(fixture *f)
{
    static const float six[] = {1, 2, 3, 4, 5, 6};
    static const int64_t labels[] = {0, 2};
    f->x = tern_from_data(tern_dims(2, 3), six);
    f->wide = tern_full(tern_dims(4, 5), 0.25);
    f->vector = tern_from_data(tern_dims(3), six);
    f->scalar = tern_full(tern_dims(), 2);
    f->empty = tern_zeros(tern_dims(0, 3));
    f->deep = tern_ones(tern_dims(1, 1, 1, 1, 1, 1, 1, 1));
    f->doubles = tern_ones(tern_dims(2, 3), .dtype = TERN_FLOAT64);
    f->ints = tern_ones(tern_dims(2, 3), .dtype = TERN_INT64);
    f->bytes = tern_ones(tern_dims(2, 3), .dtype = TERN_UINT8);
    f->bools = tern_ones(tern_dims(2, 3), .dtype = TERN_BOOL);
    f->labels = tern_from_data(tern_dims(2), labels, .dtype = TERN_INT64);
    f->far = tern_ones(tern_dims(2, 3), .device = tern_cpu(1));
    f->leaf = tern_from_data(tern_dims(2, 3), six, .requires_grad = true);
    f->made = tern_mul_scalar(f->leaf, 2);
    f->turned = tern_transpose(f->x, 0, 1);
    tern_scope scope = tern_scope_open();
    f->dead = tern_neg(f->x);
    tern_scope_close(scope);
}

static void make_objects(fixture *f)
{
    f->net = tern_nn_sequential(tern_nn_linear(3, 4), tern_nn_relu());
    f->criterion = tern_nn_cross_entropy_loss();
    f->optim = tern_optim_sgd(f->net, .lr = 0.1, .momentum = 0.9);
    f->adam = tern_optim_adam(f->net);
    f->sched = tern_sched_step_lr(f->adam, 30);
    f->dataset = tern_data_tensors(f->x, f->labels);
    f->loader = tern_loader_new(f->dataset);
    // Parameters keep the memory of their gradients: it is there before anything is counted.
    (void)!tern_backward(tern_sum(tern_forward(f->net, f->x), TERN_ALL_AXES, false));
    tern_optim_zero_grad(f->optim);
    f->generator = tern_generator_new(1);
    f->state = tern_state_new();
    (void)!tern_state_set_tensor(f->state, "x", f->x);
    (void)!tern_state_set_int(f->state, "count", 3);
    f->checkpoint = tern_checkpoint_new("/proc");
    (void)!tern_checkpoint_int(f->checkpoint, "count", &f->count);
    f->logger = tern_logger_new("/proc/tern-log", .capacity = 16);
    f->in = (tern_tensors){.count = 1, .at = {f->x}};
}

tern_scope fixture_make(fixture *f)
{
    *f = (fixture){0};
    tern_manual_seed(7);
    tern_scope scope = tern_scope_open();
    make_tensors(f);
    make_objects(f);
    return tern_error_pending() ? 0 : scope;
}

void fixture_free(fixture *f, tern_scope scope)
{
    tern_logger_free(f->logger);
    tern_checkpoint_free(f->checkpoint);
    tern_state_free(f->state);
    tern_generator_free(f->generator);
    tern_loader_free(f->loader);
    tern_dataset_free(f->dataset);
    tern_sched_free(f->sched);
    tern_optim_free(f->adam);
    tern_optim_free(f->optim);
    tern_module_free(f->criterion);
    tern_module_free(f->net);
    tern_scope_close(scope);
}

// FNV-1a
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t nbytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t hash_tensor(uint64_t hash, const tern_tensor *t)
{
    unsigned char bytes[1024];
    size_t nbytes = (size_t)tern_numel(t) * tern_dtype_size(tern_dtype_of(t));
    tern_shape shape = tern_shape_of(t);
    bool flags[] = {tern_requires_grad(t), tern_is_leaf(t), tern_grad(t) != NULL};
    if (nbytes > sizeof bytes || tern_to_host(t, bytes, nbytes))
        return 0;
    hash = hash_bytes(hash, bytes, nbytes);
    hash = hash_bytes(hash, shape.dim, (size_t)shape.rank * sizeof *shape.dim);
    return hash_bytes(hash, flags, sizeof flags);
}

static uint64_t hash_parameters(const tern_module *net)
{
    uint64_t hash = 1;
    for (int64_t i = 0; i < tern_module_num_parameters(net); i++)
        hash = hash_tensor(hash, tern_module_parameter_at(net, i, NULL, 0));
    return hash;
}

static uint64_t hash_generator(const tern_generator *generator)
{
    static unsigned char state[8192];
    size_t size = tern_generator_state_size();
    if (size > sizeof state || tern_generator_save(generator, state, size))
        return 0;
    return hash_bytes(1, state, size);
}

snapshot fixture_snapshot(const fixture *f)
{
    tern_tensor *const tensors[FIXTURE_TENSORS] = {
        f->x,     f->wide,  f->vector, f->scalar, f->empty, f->deep, f->doubles, f->ints,
        f->bytes, f->bools, f->labels, f->far,    f->leaf,  f->made, f->turned,
    };
    snapshot s = {0};
    for (int i = 0; i < FIXTURE_TENSORS; i++)
        s.tensors[i] = hash_tensor(2, tensors[i]);
    s.parameters = hash_parameters(f->net);
    s.generator = hash_generator(f->generator);
    s.state = tern_state_count(f->state);
    s.live = tern_live_tensors();
    return s;
}

const char *snapshot_difference(const snapshot *a, const snapshot *b)
{
    for (int i = 0; i < FIXTURE_TENSORS; i++)
        if (a->tensors[i] != b->tensors[i])
            return tensor_names[i];
    if (a->parameters != b->parameters)
        return "a parameter of net";
    if (a->generator != b->generator)
        return "the generator";
    if (a->state != b->state)
        return "the state";
    return a->live != b->live ? "the number of live tensors" : NULL;
}
