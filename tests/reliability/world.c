// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/tensor.h"

world w;

// ---- making -------------------------------------------------------------------------------------

tern_status world_make_net(void)
{
    static const float weights[] = {1, 2, 0.5f};
    w.net = tern_nn_sequential(
        tern_nn_flatten(), tern_nn_linear(12, 8), tern_nn_relu(), tern_nn_dropout(0.25),
        tern_nn_sequential(tern_nn_linear(8, 8, .bias = false), tern_nn_gelu(), tern_nn_tanh()),
        tern_nn_silu(), tern_nn_identity(), tern_nn_leaky_relu(), tern_nn_sigmoid(),
        tern_nn_softmax(-1), tern_nn_linear(8, 3));
    if (!w.net)
        return tern_error_code();
    tern_scope scope = tern_scope_open();
    tern_tensor *weight = scope ? tern_from_data(tern_dims(3), weights) : NULL;
    if (weight)
        w.criterion = tern_nn_cross_entropy_loss(.weight = weight, .label_smoothing = 0.1);
    tern_scope_close(scope);
    return w.criterion ? TERN_OK : tern_error_code();
}

tern_status world_make_batch(void)
{
    static const int64_t labels[] = {0, 2, 1, 1, 0, 2};
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_assign(&w.x, tern_randn(tern_dims(6, 3, 4)));
    tern_assign(&w.y, tern_from_data(tern_dims(6), labels, .dtype = TERN_INT64));
    tern_scope_close(scope);
    return w.x && w.y ? TERN_OK : tern_error_code();
}

tern_status world_forward(void)
{
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_tensor *loss = tern_loss(w.criterion, tern_forward(w.net, w.x), w.y);
    tern_status status = loss ? TERN_OK : tern_error_code();
    tern_assign(&w.loss, loss);
    tern_scope_close(scope);
    return status;
}

tern_status world_make_net_and_batch(void)
{
    TERN_TRY(world_make_net());
    return world_make_batch();
}

tern_status world_make_leaves(void)
{
    static const int64_t labels[] = {1, 0, 5, 3};
    tern_scope scope = tern_scope_open();
    if (!scope)
        return TERN_ERR_NOMEM;
    tern_assign(&w.a, tern_randn(tern_dims(4, 6), .requires_grad = true));
    tern_assign(&w.b, tern_rand(tern_dims(4, 6), .requires_grad = true));
    tern_assign(&w.half, tern_randn(tern_dims(4, 6), .dtype = TERN_FLOAT16, .requires_grad = true));
    tern_assign(&w.labels, tern_from_data(tern_dims(4), labels, .dtype = TERN_INT64));
    tern_assign(&w.wide, tern_rand(tern_dims(16, 600), .requires_grad = true));
    tern_scope_close(scope);
    return w.a && w.b && w.half && w.labels && w.wide ? TERN_OK : tern_error_code();
}

void world_reset(void)
{
    tern_tensor *const retained[] = {w.loss, w.x, w.y, w.a, w.b, w.half, w.labels, w.wide};
    for (size_t i = 0; i < sizeof retained / sizeof *retained; i++)
        tern_release(retained[i]);
    tern_loader_free(w.loader);
    tern_dataset_free(w.set);
    tern_optim_free(w.optim);
    tern_module_free(w.criterion);
    tern_module_free(w.net);
    tern_generator_free(w.generator);
    tern_checkpoint_free(w.checkpoint);
    tern_state_free(w.state);
    w = (world){0};
    tern_manual_seed(20);
}

// ---- bits ---------------------------------------------------------------------------------------

// FNV-1a (Fowler, Noll, Vo) over words of 8 bytes, the last filled with zeros. The shift carries
// high bits down.
static void add_bytes(uint64_t *hash, const void *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, nbytes - i < 8 ? nbytes - i : 8);
        *hash = (*hash ^ word) * UINT64_C(0x100000001b3);
        *hash ^= *hash >> 32;
    }
}

static void add_number(uint64_t *hash, int64_t number)
{
    add_bytes(hash, &number, sizeof number);
}

static void add_tensor(uint64_t *hash, const tern_tensor *t)
{
    add_number(hash, t ? (int64_t)t->dtype : -1);
    if (!t)
        return;
    add_number(hash, tern_dev(t).index);
    for (int i = 0; i < t->rank; i++)
        add_number(hash, t->size[i]);
    size_t size = tern_dtype_size(t->dtype);
    if (t->contiguous) {
        add_bytes(hash, (const char *)t->storage->data + (size_t)t->offset * size,
                  (size_t)t->numel * size);
        return;
    }
    for (int64_t i = 0; i < t->numel; i++) { // any strides
        int64_t at = t->offset, rest = i;
        for (int d = t->rank - 1; d >= 0; d--) {
            at += rest % t->size[d] * t->stride[d];
            rest /= t->size[d];
        }
        add_bytes(hash, (const char *)t->storage->data + (size_t)at * size, size);
    }
}

static void add_leaf(uint64_t *hash, const tern_tensor *t, bool with_gradients)
{
    add_tensor(hash, t);
    if (!with_gradients || !t)
        return;
    add_number(hash, t->grad_state);
    if (t->grad_state == TERN_GRAD_PRESENT)
        add_tensor(hash, t->grad);
}

typedef struct entry_hash {
    uint64_t *hash;
    bool with_gradients;
} entry_hash;

static tern_status add_entry(const tern_module_entry *entry, void *user)
{
    const entry_hash *e = user;
    add_bytes(e->hash, entry->name, strlen(entry->name));
    add_leaf(e->hash, entry->tensor, e->with_gradients);
    return TERN_OK;
}

static void add_optim(uint64_t *hash)
{
    static const char *const names[] = {"momentum_buffer", "exp_avg", "exp_avg_sq",
                                        "max_exp_avg_sq"};
    int64_t count = w.optim ? tern_optim_num_parameters(w.optim) : 0;
    for (int64_t i = 0; i < count; i++) {
        add_number(hash, tern_optim_step_count(w.optim, i));
        for (int k = 0; k < 4; k++) {
            add_tensor(hash, tern_optim_state(w.optim, i, names[k]));
            tern_error_clear(); // not all have all
        }
    }
    add_number(hash, w.optim ? tern_optim_num_groups(w.optim) : 0);
}

// The default one's state has that of dropout too.
static void add_generators(uint64_t *hash)
{
    static char state[8192];
    const tern_generator *const list[] = {tern_default_generator(tern_cpu(0)), w.generator};
    size_t size = tern_generator_state_size();
    for (int i = 0; i < 2 && list[i]; i++) {
        if (size > sizeof state || tern_generator_save(list[i], state, size))
            abort();
        add_bytes(hash, state, size);
    }
}

tern_status world_see(tern_tensor *t)
{
    if (!t)
        return tern_error_code();
    add_tensor(&w.seen, t);
    return TERN_OK;
}

void world_see_bytes(const void *bytes, size_t nbytes)
{
    add_bytes(&w.seen, bytes, nbytes);
}

uint64_t world_state(world_parts parts)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    entry_hash e = {&hash, parts.gradients};
    if (w.net && tern_module_each_state(w.net, add_entry, &e))
        abort();
    if (w.criterion && tern_module_each_state(w.criterion, add_entry, &e))
        abort();
    const tern_tensor *const leaves[] = {w.a, w.b, w.half, w.wide, w.x};
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++)
        add_leaf(&hash, leaves[i], parts.gradients);
    add_optim(&hash);
    if (parts.generators)
        add_generators(&hash);
    return hash;
}
