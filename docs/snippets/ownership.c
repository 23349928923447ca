// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/ownership.md.
#include <pthread.h>
#include "check.h"

// [helper]
// The distance of each row of a (N, D) from each row of b (M, D): (N, M).
static tern_tensor *distances(tern_tensor *a, tern_tensor *b)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *difference = tern_sub(tern_unsqueeze(a, 1), tern_unsqueeze(b, 0));
    tern_tensor *square = tern_mul(difference, difference); // (N, M, D)
    tern_tensor *d = tern_sqrt(tern_sum(square, tern_axes(2), false));
    return tern_scope_close_keep(scope, d); // NULL stays NULL
}
// [/helper]

static void a_helper(void)
{
    int64_t before = tern_live_tensors();
    tern_tensor *a = tern_zeros(tern_dims(2, 2)), *b = tern_full(tern_dims(3, 2), 3);
    tern_tensor *d = distances(a, b);
    expect(near(tern_item(tern_select(tern_select(d, 0, 0), 0, 0)), sqrt(18)));
    expect(tern_live_tensors() - before == 5); // a, b, d and the two selections
}

static void one_scope(void)
{
    tern_tensor *x = tern_ones(tern_dims(3));
    // [scope]
    tern_scope scope = tern_scope_open();
    tern_tensor *y = tern_exp(tern_neg(x)); // temporaries of this scope
    double first = tern_item(tern_select(y, 0, 0));
    tern_scope_close(scope); // they are gone; x is not
    // [/scope]
    expect(near(first, exp(-1)) && tern_numel(x) == 3);
}

static void a_dead_tensor(void)
{
    // [dead]
    tern_scope scope = tern_scope_open();
    tern_tensor *loss = tern_zeros(tern_dims(4, 5));
    tern_scope_close(scope);
    tern_tensor *y = tern_neg(loss); // NULL
    // [/dead]
    expect(!y);
    expect_error(TERN_ERR_STATE);
}

static void one_release_too_many(void)
{
    tern_tensor *x = tern_ones(tern_dims(2));
    // [release]
    tern_release(x); // was not retained
    // [/release]
    expect_error(TERN_ERR_STATE);
    expect(tern_numel(x) == 2);

    tern_scope scope = tern_scope_open();
    tern_tensor *kept = tern_retain(tern_ones(tern_dims(2)));
    tern_scope_close(scope);
    // [released]
    tern_release(kept);
    tern_release(kept);
    // [/released]
    expect_error(TERN_ERR_STATE);
}

static tern_dataset *rows(int64_t count)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *x =
        tern_reshape(tern_arange(0, (double)count, 1, .dtype = TERN_FLOAT32), tern_dims(count, 1));
    tern_dataset *data = tern_data_tensors(x, tern_mul_scalar(x, 2));
    tern_scope_close(scope); // the dataset holds its tensors
    return data;
}

static void state_from_batch_to_batch(void)
{
    tern_dataset *data = rows(8);
    tern_loader *loader = tern_loader_new(data, .batch_size = 2);
    // [state]
    tern_tensor *mean = NULL; // of all batches, the last ones count most
    tern_each_batch (b, loader) {
        tern_tensor *m = tern_mean(b.x, TERN_ALL_AXES, false);
        if (mean)
            m = tern_add(tern_mul_scalar(mean, 0.5), tern_mul_scalar(m, 0.5));
        tern_assign(&mean, m); // retains m, releases the old one
    }
    // [/state]
    expect(tern_item(mean) == 0.125 * 0.5 + 0.125 * 2.5 + 0.25 * 4.5 + 0.5 * 6.5);
    // [state_end]
    tern_assign(&mean, NULL); // lets the last one go
    // [/state_end]
    tern_loader_free(loader);
    tern_dataset_free(data);
}

static void a_hidden_state(void)
{
    tern_module *net = tern_nn_linear(1, 1);
    tern_tensor *hidden = NULL;
    for (int i = 0; i < 3; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *x = tern_ones(tern_dims(1, 1));
        // [detach]
        tern_tensor *next = tern_tanh(tern_forward(net, hidden ? tern_add(x, hidden) : x));
        tern_assign(&hidden, tern_detach(next)); // the value without its history
        // [/detach]
        tern_scope_close(scope);
    }
    expect(tern_is_leaf(hidden) && !tern_requires_grad(hidden));
    tern_assign(&hidden, NULL);
    tern_module_free(net);
}

#define STEPS 4

static void losses_kept(void)
{
    tern_dataset *data = rows(8);
    tern_loader *loader = tern_loader_new(data, .batch_size = 2);
    // [losses]
    double value[STEPS];            // numbers: nothing to hold
    tern_tensor *kept[STEPS] = {0}; // tensors: each retained, later released
    int step = 0;
    tern_each_batch (b, loader) {
        if (step == STEPS)
            break;
        tern_tensor *loss = tern_mse_loss(b.x, b.y, TERN_REDUCTION_MEAN);
        value[step] = tern_item(loss);
        kept[step++] = tern_retain(loss);
    }
    tern_tensor *all = tern_stack(kept, step, 0); // (STEPS)
    for (int i = 0; i < step; i++)
        tern_release(kept[i]); // all has its own values
    // [/losses]
    expect(step == STEPS && value[3] == 42.5 && tern_item(tern_select(all, 0, 3)) == 42.5);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

static void two_loaders(void)
{
    tern_dataset *data = rows(8);
    tern_loader *train = tern_loader_new(data, .batch_size = 4);
    tern_loader *test = tern_loader_new(data, .batch_size = 8);
    // [nested]
    double sum = 0;
    tern_each_batch (b, train) {
        tern_tensor *y = tern_mul(b.x, b.x);
        tern_each_batch (t, test) // ends its own batches only
            sum += tern_item(tern_mean(t.x, TERN_ALL_AXES, false));
        sum += tern_item(tern_mean(tern_add(y, b.x), TERN_ALL_AXES, false)); // y and b are alive
    }
    // [/nested]
    expect(sum == (5 + 37) + 2 * 3.5);
    tern_loader_free(test);
    tern_loader_free(train);
    tern_dataset_free(data);
}

static void constructors(void)
{
    // [constructors]
    tern_module *body = tern_nn_linear(4, 4);
    tern_module *net = tern_nn_sequential(tern_module_retain(body), tern_nn_relu());
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    tern_module_free(net); // opt still holds the parameters, body its layer
    tern_optim_free(opt);
    tern_module_free(body);
    // [/constructors]
}

// [thread]
static void *worker(void *argument)
{
    tern_tensor *x = argument;                          // retained by the one who started us
    tern_tensor *y = tern_sum(x, TERN_ALL_AXES, false); // of this thread's root scope
    y = tern_retain(y);                                 // so that it outlives this thread
    return y;
}
// [/thread]

static void threads(void)
{
    // [join]
    tern_tensor *x = tern_retain(tern_ones(tern_dims(3)));
    pthread_t thread;
    void *sum = NULL;
    if (pthread_create(&thread, NULL, worker, x) == 0)
        pthread_join(thread, &sum);
    tern_release(x);
    // [/join]
    expect(sum && tern_item(sum) == 3);
    tern_release(sum);
}

int main(void)
{
    void (*const pieces[])(void) = {
        a_helper,       one_scope,   a_dead_tensor, one_release_too_many, state_from_batch_to_batch,
        a_hidden_state, losses_kept, two_loaders,   constructors,         threads,
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        tern_scope scope = tern_scope_open();
        pieces[i]();
        tern_scope_close(scope);
    }
    return finished();
}
