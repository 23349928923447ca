// SPDX-License-Identifier: Apache-2.0
// What died is found and named: tensors whoever let them go, references given back once too often,
// and objects that were freed. That each function finds a dead operand: tests/errors.
#include <pthread.h>

#include "base/poison.h"
#include "support/lifetime_check.h"
#include "support/own_module.h"
#include "tensor/tensor.h"

// ---- how a tensor died --------------------------------------------------------------------------

static void a_loss_kept_past_its_batch_is_named(void **state)
{
    (void)state;
    tern_dataset *set = numbers(4);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_module *net = tern_nn_linear(1, 1);
    tern_batch b;
    tern_tensor *loss = NULL, *kept = NULL;
    while (tern_loader_next(loader, &b)) {
        loss = total(tern_forward(net, b.x));
        tern_assign(&kept, loss);
    }
    assert_int_equal(tern_backward(loss = kept), TERN_OK);
    tern_assign(&kept, NULL);
    assert_status(tern_backward(loss), TERN_ERR_STATE,
                  "backward: loss (float32 (), made by sum) died when it was released");
    assert_true(tern_loader_next(loader, &b));
    loss = total(b.x);
    assert_true(tern_loader_next(loader, &b));
    assert_status(tern_backward(loss), TERN_ERR_STATE,
                  "backward: loss (float32 (), made by sum) " DIED_WITH_ITS_SCOPE);
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_module_free(net);
}

static void a_parameter_of_a_freed_module_is_named(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 3);
    tern_tensor *weight = tern_module_parameter(net, "weight");
    tern_tensor *bias = tern_retain(tern_module_parameter(net, "bias"));
    tern_module_free(net);
    assert_dead(weight, "neg: x (\"weight\", float32 (3, 2)) died when the module, optimizer, "
                        "dataset or state with it was freed; tern_retain it");
    assert_int_equal(tern_numel(bias), 3);
    tern_release(bias);
    assert_dead(bias, "(\"bias\", float32 (3,)) died when it was released for the last time");
}

static void a_batch_that_its_loader_took_back_is_named(void **state)
{
    (void)state;
    tern_dataset *set = numbers(2);
    tern_loader *loader = tern_loader_new(set);
    tern_batch first, second;
    assert_true(tern_loader_next(loader, &first));
    assert_true(tern_loader_next(loader, &second));
    assert_dead(first.x, "x (float32 (1, 1), made by data_tensors) died when its loader went on");
    tern_loader_free(loader);
    assert_dead(second.x, "died when its loader went on; tern_retain it");
    tern_dataset_free(set);
}

static void a_gradient_dies_with_its_leaf(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    assert_int_equal(tern_backward(total(w)), TERN_OK);
    tern_tensor *grad = tern_grad(w);
    assert_tensor(grad, tern_dims(2), 1, 1);
    tern_scope_close(inner);
    assert_dead(grad, "(float32 (2,), made by grad) died when the tensor it is the gradient of");
}

static void an_absent_gradient_is_given_up_by_a_move(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, 1, .bias = false);
    tern_tensor *w = tern_module_parameter(net, "weight");
    assert_int_equal(tern_backward(total(w)), TERN_OK);
    tern_tensor *grad = tern_grad(w);
    tern_zero_grad(w);
    assert_int_equal(tern_numel(grad), 1); // its memory is kept for the next backward
    assert_non_null(tern_module_to(net, tern_cpu(1)));
    assert_dead(grad, "the gradient of died or moved; tern_retain it");
    tern_module_free(net);
}

static void the_last_to_let_go_says_why(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *early = tern_retain(tern_ones(tern_dims(1)));
    tern_tensor *late = tern_retain(tern_ones(tern_dims(1)));
    tern_release(early);
    tern_scope_close(inner);
    tern_release(late);
    assert_dead(early, DIED_WITH_ITS_SCOPE);
    assert_dead(late, "died when it was released for the last time");
}

// The graph is the last to hold it, but the user let go of it by closing the scope.
static void what_only_a_graph_held_died_with_its_scope(void **state)
{
    (void)state;
    tern_tensor *w = tern_ones(tern_dims(2), .requires_grad = true);
    tern_scope inner = tern_scope_open();
    tern_tensor *saved = tern_mul_scalar(w, 2);
    tern_tensor *loss = tern_scope_close_keep(inner, total(tern_mul(saved, saved)));
    assert_tensor(saved, tern_dims(2), 2, 2); // the graph holds it: no more is promised
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_dead(saved, DIED_WITH_ITS_SCOPE);
}

static void *make_a_temporary(void *unused)
{
    (void)unused;
    return tern_full(tern_dims(3), 2);
}

static void a_temporary_of_a_thread_that_ended_is_named(void **state)
{
    (void)state;
    pthread_t thread;
    void *made;
    assert_int_equal(pthread_create(&thread, NULL, make_a_temporary, NULL), 0);
    pthread_join(thread, &made);
    assert_dead(made, "(float32 (3,), made by full) " DIED_WITH_ITS_SCOPE);
}

// ---- until when ---------------------------------------------------------------------------------

static void a_dead_tensor_is_found_while_live_ones_multiply(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *dead = tern_ones(tern_dims(5));
    tern_scope_close(inner);
    for (int i = 0; i < 3 * 4096; i++)
        assert_ptr_not_equal(tern_empty(tern_dims(0)), dead);
    assert_dead(dead, "(float32 (5,), made by ones) " DIED_WITH_ITS_SCOPE);
}

// The pointer is a newer tensor's in the end: it is that tensor, and nobody else's reference is
// taken through it.
static void after_thousands_of_deaths_a_pointer_may_be_a_newer_tensors(void **state)
{
    (void)state;
    tern_scope inner = tern_scope_open();
    tern_tensor *old = tern_ones(tern_dims(5)), *newer = NULL;
    tern_scope_close(inner);
    int deaths = 0;
    while (newer != old && deaths < 4 * 4096) {
        inner = tern_scope_open();
        newer = tern_full(tern_dims(2), 7);
        if (newer != old) {
            tern_scope_close(inner);
            deaths++;
        }
    }
    assert_ptr_equal(newer, old);
    assert_true(deaths >= 4096);
    assert_tensor(old, tern_dims(2), 7, 7);
    tern_release(old);
    assert_error(TERN_ERR_STATE, "would be released more often than retained");
    tern_scope_close(inner);
    assert_dead(newer, "(float32 (2,), made by full) " DIED_WITH_ITS_SCOPE);
}

// ---- one release too many -----------------------------------------------------------------------

#define assert_not_the_users(t, identity)                                                          \
    do {                                                                                           \
        tern_release(t);                                                                           \
        assert_error(TERN_ERR_STATE,                                                               \
                     "release: t (" identity ") would be released more often than retained");      \
        assert_true(tern_numel(t) > 0);                                                            \
    } while (0)

static void what_others_hold_is_not_the_users_to_release(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 1, .bias = false);
    tern_tensor *weight = tern_module_parameter(net, "weight");
    tern_dataset *set = numbers(2);
    tern_loader *loader = tern_loader_new(set);
    tern_batch b;
    assert_int_equal(tern_backward(total(weight)), TERN_OK);
    assert_not_the_users(weight, "\"weight\", float32 (1, 2)");
    assert_not_the_users(tern_grad(weight), "float32 (1, 2), made by grad");
    assert_true(tern_loader_next(loader, &b));
    assert_not_the_users(b.x, "float32 (1, 1), made by data_tensors");
    assert_ptr_equal(tern_retain(weight), weight);
    tern_release(weight);
    assert_not_the_users(weight, "\"weight\", float32 (1, 2)");
    tern_loader_free(loader);
    tern_dataset_free(set);
    tern_module_free(net);
}

static void a_slot_that_held_nothing_of_its_own_is_named(void **state)
{
    (void)state;
    tern_tensor *slot = tern_ones(tern_dims(2)); // not retained
    tern_tensor *next = tern_full(tern_dims(1), 3);
    assert_ptr_equal(tern_assign(&slot, next), next);
    assert_error(TERN_ERR_STATE, "assign: what *slot held (float32 (2,), made by ones) would be "
                                 "released more often than retained");
    tern_assign(&slot, NULL);
    assert_no_error();
    tern_scope inner = tern_scope_open();
    slot = tern_ones(tern_dims(4));
    tern_scope_close(inner);
    assert_ptr_equal(tern_assign(&slot, next), next);
    assert_error(TERN_ERR_STATE,
                 "assign: what *slot held (float32 (4,), made by ones) " DIED_WITH_ITS_SCOPE);
    assert_ptr_equal(slot, next);
    tern_assign(&slot, NULL);
}

// ---- functions of the user's that hand over what died -------------------------------------------

static tern_tensor *dead_tensor(void)
{
    tern_scope inner = tern_scope_open();
    tern_tensor *t = tern_ones(tern_dims(2));
    tern_scope_close(inner);
    return t;
}

static tern_status give_dead(const tern_tensors *in, tern_tensors *out)
{
    (void)in;
    out->at[out->count++] = dead_tensor();
    return TERN_OK;
}

static tern_status replace_input(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)user;
    in->at[0] = dead_tensor();
    return TERN_OK;
}

static tern_status replace_output(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                  void *user)
{
    (void)module;
    (void)in;
    (void)user;
    out->at[0] = dead_tensor();
    return TERN_OK;
}

static void modules_and_hooks_that_give_what_died_are_named(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2));
    odd_call = give_dead;
    tern_module *net = tern_nn_sequential(odd_new(), tern_nn_identity());
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE,
                     "Odd: an output (float32 (2,), made by ones) " DIED_WITH_ITS_SCOPE);
    tern_module_free(net);
    net = tern_nn_identity();
    uint64_t hook = tern_module_add_forward_pre_hook(net, replace_input, NULL);
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE, "Identity: an output (float32 (2,)");
    tern_module_remove_hook(net, hook);
    assert_ptr_equal(tern_forward(net, x), x);
    assert_true(tern_module_add_forward_hook(net, replace_output, NULL) > 0);
    assert_null_with(tern_forward(net, x), TERN_ERR_STATE, "Identity: an output (float32 (2,)");
    tern_module_free(net);
}

static int64_t count_two(const tern_dataset *self)
{
    (void)self;
    return 2;
}

static tern_status get_dead(const tern_dataset *self, const tern_sample_context *context,
                            const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    (void)self;
    (void)index;
    (void)count;
    out->at[out->count++] = dead_tensor();
    return TERN_OK;
}

static void a_dataset_that_gives_what_died_is_an_error(void **state)
{
    (void)state;
    static const tern_dataset_class klass = {
        .name = "dying", .size = sizeof(tern_dataset), .count = count_two, .get = get_dead};
    tern_dataset *set = tern_dataset_new(&klass);
    tern_loader *loader = tern_loader_new(set, .batch_size = 2);
    tern_batch b;
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE,
                 "loader_next: x (float32 (2,), made by ones) " DIED_WITH_ITS_SCOPE);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// ---- memory -------------------------------------------------------------------------------------

// The library may always ask whether a tensor is alive; nobody may touch its values.
static void the_values_of_a_dead_tensor_are_poisoned(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    tern_scope inner = tern_scope_open();
    tern_tensor *t = tern_ones(tern_dims(100));
    const float *values = tern_data(t);
    assert_false(__asan_address_is_poisoned(&values[50]));
    assert_false(__asan_address_is_poisoned(&t->storage));
    tern_scope_close(inner);
    assert_true(__asan_address_is_poisoned(&values[50]));
    assert_true(__asan_address_is_poisoned(&t->storage));
    assert_false(__asan_address_is_poisoned(&t->stamp));
    assert_dead(t, DIED_WITH_ITS_SCOPE);
#else
    skip(); // only AddressSanitizer knows
#endif
}

// ---- objects that were freed --------------------------------------------------------------------

static void a_freed_module_is_named(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 3);
    tern_module_free(net);
    tern_module_free(net);
    assert_error(TERN_ERR_STATE, "module_free: this Linear was freed already");
    assert_null_with(tern_forward(net, tern_ones(tern_dims(2))), TERN_ERR_STATE,
                     "forward: this Linear was freed already");
    assert_null_with(tern_nn_sequential(tern_nn_relu(), net), TERN_ERR_STATE,
                     "module_add_child: this Linear was freed already");
    assert_null_with(tern_module_retain(net), TERN_ERR_STATE, "module_retain: this Linear");
    assert_null_with(tern_optim_sgd(net), TERN_ERR_STATE, "this Linear was freed already");
    assert_null_with(tern_module_to(net, tern_cpu(1)), TERN_ERR_STATE, "this Linear was freed");
}

static void a_freed_optimizer_is_named(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(2, 3);
    tern_optim *optim = tern_optim_adam(net);
    tern_optim_free(optim);
    tern_optim_free(optim);
    assert_error(TERN_ERR_STATE, "optim_free: this Adam was freed already");
    assert_status(tern_optim_step(optim), TERN_ERR_STATE, "optim_step: this Adam was freed");
    assert_null_with(tern_optim_retain(optim), TERN_ERR_STATE, "optim_retain: this Adam");
    tern_module_free(net);
}

static void a_freed_dataset_and_a_freed_loader_are_named(void **state)
{
    (void)state;
    tern_dataset *set = numbers(3);
    tern_loader *loader = tern_loader_new(set);
    tern_batch b;
    tern_loader_free(loader);
    tern_loader_free(loader);
    assert_error(TERN_ERR_STATE, "loader_free: this loader was freed already");
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE, "loader_next: this loader was freed already");
    assert_int_equal(tern_loader_batches(loader), -1);
    assert_error(TERN_ERR_STATE, "loader_batches: this loader was freed already");
    tern_dataset_free(set);
    tern_dataset_free(set);
    assert_error(TERN_ERR_STATE, "dataset_free: data_tensors was freed already");
    assert_null_with(tern_loader_new(set), TERN_ERR_STATE, "loader_new: data_tensors was freed");
    assert_int_equal(tern_dataset_count(set), -1);
    assert_error(TERN_ERR_STATE, "dataset_count: data_tensors was freed already");
    assert_null_with(tern_dataset_retain(set), TERN_ERR_STATE, "dataset_retain: data_tensors");
}

static void a_freed_generator_is_named(void **state)
{
    (void)state;
    tern_generator *g = tern_generator_new(1);
    tern_dataset *set = numbers(3);
    tern_loader *loader = tern_loader_new(set, .shuffle = true, .generator = g);
    tern_tensor *t = tern_zeros(tern_dims(2));
    unsigned char bytes[4096];
    tern_batch b;
    assert_true(tern_loader_next(loader, &b));
    tern_generator_free(g);
    tern_generator_free(g);
    assert_error(TERN_ERR_STATE, "generator_free: this generator was freed already");
    assert_null_with(tern_rand(tern_dims(2), .generator = g), TERN_ERR_STATE,
                     "rand: this generator was freed already");
    assert_null_with(tern_randperm(2, .generator = g), TERN_ERR_STATE, "randperm: this generator");
    assert_null_with(tern_normal_(t, 0, 1, g), TERN_ERR_STATE, "normal_: this generator was freed");
    assert_tensor(t, tern_dims(2), 0, 0);
    assert_status(tern_generator_seed(g, 1), TERN_ERR_STATE, "generator_seed: this generator");
    assert_status(tern_generator_save(g, bytes, sizeof bytes), TERN_ERR_STATE,
                  "generator_save: this generator was freed already");
    assert_false(tern_loader_next(loader, &b));
    assert_error(TERN_ERR_STATE, "loader_next: this generator was freed already");
    assert_null_with(tern_loader_new(set, .generator = g), TERN_ERR_STATE,
                     "loader_new: this generator was freed already");
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static void a_freed_object_is_found_while_fewer_than_256_others_were_freed(void **state)
{
    (void)state;
    tern_module *first = tern_nn_relu();
    int64_t cached = tern_memory_cached_bytes();
    tern_module_free(first);
    assert_true(tern_memory_cached_bytes() > cached);
    for (int i = 0; i < 255; i++) {
        tern_module *other = tern_nn_tanh();
        assert_ptr_not_equal(other, first);
        tern_module_free(other);
    }
    tern_module_free(first);
    assert_error(TERN_ERR_STATE, "module_free: this ReLU was freed already");
}

int main(void)
{
    setenv("TERN_CACHE", "1", 1); // a second free is found in memory that is kept
    setenv("TERN_CPU_DEVICES", "2", 1);
    const struct CMUnitTest tests[] = {
        LIFETIME_TEST(a_loss_kept_past_its_batch_is_named),
        LIFETIME_TEST(a_parameter_of_a_freed_module_is_named),
        LIFETIME_TEST(a_batch_that_its_loader_took_back_is_named),
        LIFETIME_TEST(a_gradient_dies_with_its_leaf),
        LIFETIME_TEST(an_absent_gradient_is_given_up_by_a_move),
        LIFETIME_TEST(the_last_to_let_go_says_why),
        LIFETIME_TEST(what_only_a_graph_held_died_with_its_scope),
        LIFETIME_TEST(a_temporary_of_a_thread_that_ended_is_named),
        LIFETIME_TEST(a_dead_tensor_is_found_while_live_ones_multiply),
        LIFETIME_TEST(after_thousands_of_deaths_a_pointer_may_be_a_newer_tensors),
        LIFETIME_TEST(what_others_hold_is_not_the_users_to_release),
        LIFETIME_TEST(a_slot_that_held_nothing_of_its_own_is_named),
        LIFETIME_TEST(modules_and_hooks_that_give_what_died_are_named),
        LIFETIME_TEST(a_dataset_that_gives_what_died_is_an_error),
        LIFETIME_TEST(the_values_of_a_dead_tensor_are_poisoned),
        LIFETIME_TEST(a_freed_module_is_named),
        LIFETIME_TEST(a_freed_optimizer_is_named),
        LIFETIME_TEST(a_freed_dataset_and_a_freed_loader_are_named),
        LIFETIME_TEST(a_freed_generator_is_named),
        LIFETIME_TEST(a_freed_object_is_found_while_fewer_than_256_others_were_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
