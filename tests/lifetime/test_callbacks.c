// SPDX-License-Identifier: Apache-2.0
// Functions of the program's that free, run or change what calls them: that is kept until they have
// returned, or it is an error.
#include "support/lifetime_check.h"

// ---- modules ------------------------------------------------------------------------------------

static int visited;

static tern_status free_root(const char *name, tern_module *module, void *root)
{
    (void)name;
    if (visited++ == 0)
        tern_module_free(root);
    return tern_module_is_training(module) ? TERN_OK : TERN_ERR_ARG;
}

static tern_status free_owner(const tern_module_entry *entry, void *root)
{
    if (visited++ == 0)
        tern_module_free(root);
    return tern_numel(entry->tensor) > 0 ? TERN_OK : TERN_ERR_ARG;
}

static tern_module *two_layers(void)
{
    visited = 0;
    return tern_nn_sequential(tern_nn_linear(2, 3), tern_nn_linear(3, 1));
}

static void a_module_freed_by_a_visitor_is_visited_to_the_end(void **state)
{
    (void)state;
    tern_module *net = two_layers();
    assert_int_equal(tern_module_each_module(net, free_root, net), TERN_OK);
    assert_int_equal(visited, 3);
    net = two_layers();
    assert_int_equal(tern_module_apply(net, free_root, net), TERN_OK);
    assert_int_equal(visited, 3);
    net = two_layers();
    assert_int_equal(tern_module_each_parameter(net, free_owner, net), TERN_OK);
    assert_int_equal(visited, 4);
    net = two_layers();
    assert_int_equal(tern_module_each_state(net, free_owner, net), TERN_OK);
    assert_int_equal(visited, 4);
}

static tern_status free_twice(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    (void)user;
    tern_module_free(module);
    tern_module_free(module);
    return tern_error_code();
}

static void a_hook_frees_its_module_once(void **state)
{
    (void)state;
    tern_module *m = tern_nn_linear(2, 1);
    assert_true(tern_module_add_forward_pre_hook(m, free_twice, NULL) > 0);
    assert_null_with(tern_forward(m, tern_ones(tern_dims(2))), TERN_ERR_STATE,
                     "module_free: this Linear was freed already; only the call that runs it");
}

static tern_status run_before(tern_module *module, tern_tensors *in, void *user)
{
    in->at[0] = tern_forward(user ? user : module, in->at[0]);
    return tern_error_code();
}

static tern_status run_after(tern_module *module, const tern_tensors *in, tern_tensors *out,
                             void *user)
{
    (void)in;
    out->at[0] = tern_forward(user ? user : module, out->at[0]);
    return tern_error_code();
}

static void a_hook_does_not_run_its_own_module(void **state)
{
    (void)state;
    const char *sentence = "a hook of this ReLU runs the module itself, which would not end";
    tern_module *m = tern_nn_relu(), *other = tern_nn_tanh();
    tern_tensor *x = tern_ones(tern_dims(1));
    uint64_t hook = tern_module_add_forward_pre_hook(m, run_before, NULL);
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, sentence);
    tern_module_remove_hook(m, hook);
    hook = tern_module_add_forward_hook(m, run_after, NULL);
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, sentence);
    tern_module_remove_hook(m, hook);
    hook = tern_module_add_forward_hook(m, run_after, other);
    assert_non_null(tern_forward(m, x)); // another module is fine, unless its hook leads back
    assert_true(tern_module_add_forward_pre_hook(other, run_before, m) > 0);
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, sentence);
    tern_module_remove_hook(m, hook);
    assert_non_null(tern_forward(other, x));
    tern_module_free(m);
    tern_module_free(other);
}

// ---- datasets and loaders -----------------------------------------------------------------------

typedef struct curious {
    tern_dataset base;
    void (*in_size)(struct curious *self);
    void (*in_get)(struct curious *self);
    tern_loader *loader;
    bool again; // what loader_next gave inside
} curious;

static int freed_datasets;

static int64_t count_samples(const tern_dataset *self)
{
    curious *c = (curious *)(uintptr_t)self; // the test's own state
    if (c->in_size)
        c->in_size(c);
    return 4;
}

static tern_status get_samples(const tern_dataset *self, const tern_sample_context *context,
                               const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    curious *c = (curious *)(uintptr_t)self;
    if (c->in_get)
        c->in_get(c);
    out->at[out->count++] = tern_full(tern_dims(count, 1), (double)index[0]);
    return TERN_OK;
}

static void note_free(tern_dataset *self)
{
    (void)self;
    freed_datasets++;
}

static curious *curious_new(void)
{
    static const tern_dataset_class klass = {.name = "curious",
                                             .size = sizeof(curious),
                                             .count = count_samples,
                                             .get = get_samples,
                                             .free = note_free};
    freed_datasets = 0;
    return (curious *)tern_dataset_new(&klass);
}

static void free_self(curious *c)
{
    tern_dataset_free(&c->base);
    c->in_size = c->in_get = NULL;
    assert_int_equal(freed_datasets, 0);
}

static void a_dataset_freed_by_its_own_function_is_kept_until_it_returns(void **state)
{
    (void)state;
    const int64_t index = 2;
    tern_batch b;
    curious *c = curious_new();
    c->in_size = free_self;
    assert_int_equal(tern_dataset_count(&c->base), 4);
    assert_int_equal(freed_datasets, 1);
    c = curious_new();
    c->in_size = free_self;
    assert_int_equal(tern_dataset_get(&c->base, &index, 1, &b), TERN_OK);
    assert_tensor(b.x, tern_dims(1, 1), 2);
    assert_int_equal(freed_datasets, 1);
    c = curious_new();
    c->in_get = free_self;
    assert_int_equal(tern_dataset_get(&c->base, &index, 1, &b), TERN_OK);
    assert_int_equal(freed_datasets, 1);
}

static void free_loader(curious *c)
{
    tern_loader_free(c->loader);
    assert_error(TERN_ERR_STATE,
                 "loader_free: called by curious while this loader asks it for samples");
}

static void reset_loader(curious *c)
{
    tern_loader_reset(c->loader);
    assert_error(TERN_ERR_STATE, "loader_reset: called by curious while this loader");
}

static void take_a_batch(curious *c)
{
    tern_batch b;
    c->again = tern_loader_next(c->loader, &b);
    assert_error(TERN_ERR_STATE, "loader_next: called by curious while this loader");
}

static void check_that_no_batch_is_lost(curious *c)
{
    tern_batch b;
    for (int i = 0; i < 4; i++) {
        assert_true(tern_loader_next(c->loader, &b));
        assert_tensor(b.x, tern_dims(1, 1), i);
    }
    assert_false(tern_loader_next(c->loader, &b));
    assert_no_error();
    assert_int_equal(tern_loader_batches(c->loader), 4);
    assert_false(c->again);
}

static void a_loader_is_not_changed_by_the_dataset_that_it_asks(void **state)
{
    (void)state;
    void (*const changes[])(curious *) = {free_loader, reset_loader, take_a_batch};
    curious *c = curious_new();
    c->loader = tern_loader_new(&c->base);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        c->in_get = changes[i];
        c->in_size = NULL;
        check_that_no_batch_is_lost(c);
        c->in_get = NULL;
        c->in_size = changes[i];
        check_that_no_batch_is_lost(c);
    }
    c->in_size = NULL;
    tern_loader_free(c->loader);
    tern_dataset_free(&c->base);
    assert_int_equal(freed_datasets, 1);
}

// ---- shutdown -----------------------------------------------------------------------------------

#define SHUTDOWN_REFUSED "shutdown: called by a module, hook, dataset, visitor or backward function"

static tern_status shut_down_in_a_hook(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)in;
    (void)user;
    tern_shutdown();
    return tern_error_code();
}

static void shut_down_in_a_dataset(curious *c)
{
    (void)c;
    tern_shutdown();
    assert_error(TERN_ERR_STATE, SHUTDOWN_REFUSED);
}

static tern_status shut_down_in_a_visitor(const char *name, tern_module *module, void *user)
{
    (void)name;
    (void)module;
    (void)user;
    tern_shutdown();
    return tern_error_code();
}

static tern_status shut_down_in_a_backward(tern_backward_context *context)
{
    tern_shutdown();
    (void)context;
    return tern_error_code();
}

static void shutdown_is_refused_inside_of_calls(void **state)
{
    (void)state;
    static const tern_function function = {"shutting", shut_down_in_a_backward};
    tern_module *m = tern_nn_identity();
    tern_tensor *x = tern_ones(tern_dims(2), .requires_grad = true), *y;
    assert_status(tern_module_apply(m, shut_down_in_a_visitor, NULL), TERN_ERR_STATE,
                  SHUTDOWN_REFUSED);
    assert_true(tern_module_add_forward_pre_hook(m, shut_down_in_a_hook, NULL) > 0);
    assert_null_with(tern_forward(m, x), TERN_ERR_STATE, SHUTDOWN_REFUSED);
    tern_module_free(m);
    curious *c = curious_new();
    c->in_size = shut_down_in_a_dataset;
    assert_int_equal(tern_dataset_count(&c->base), 4);
    tern_dataset_free(&c->base);
    tern_no_grad {
        y = tern_mul_scalar(x, 2);
    }
    assert_non_null(tern_record(&function, y, &x, 1, NULL, 0, NULL, 0));
    assert_status(tern_backward(total(y)), TERN_ERR_STATE, SHUTDOWN_REFUSED);
    assert_tensor(x, tern_dims(2), 1, 1);
    tern_zero_grad(x);
    assert_int_equal(tern_backward(total(tern_mul(x, x))), TERN_OK); // as before
    assert_tensor(tern_grad(x), tern_dims(2), 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_module_freed_by_a_visitor_is_visited_to_the_end),
        LIFETIME_TEST(a_hook_frees_its_module_once),
        LIFETIME_TEST(a_hook_does_not_run_its_own_module),
        LIFETIME_TEST(a_dataset_freed_by_its_own_function_is_kept_until_it_returns),
        LIFETIME_TEST(a_loader_is_not_changed_by_the_dataset_that_it_asks),
        LIFETIME_TEST(shutdown_is_refused_inside_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
