// SPDX-License-Identifier: Apache-2.0
// Data parallel over modules and hooks that do what few do: errors that they leave, memory of their
// own, hooks and users that come meanwhile, forwards inside of forwards; and what memory is kept.
#include <stdatomic.h>
#include "parallel_check.h"
#include "support/own_module.h"

static tern_module *wrapped(tern_module *net)
{
    return tern_nn_data_parallel(tern_module_to(net, devices[0]), .devices = devices,
                                 .count = device_count);
}

// ---- errors -------------------------------------------------------------------------------------

static int failing_device;
static atomic_int told, told_later;

// It goes on with its input, and leaves the error.
static tern_status call_that_leaves_an_error(const tern_tensors *in, tern_tensors *out)
{
    if (tern_device_of(in->at[0]).index >= failing_device)
        (void)!tern_matmul(in->at[0], in->at[0]);
    out->at[out->count++] = in->at[0];
    return TERN_OK;
}

static void count_errors(tern_log_level level, const char *line, void *user)
{
    (void)user;
    told += level == TERN_LOG_ERROR && strcmp(line, tern_error_message()) == 0;
    told_later += level == TERN_LOG_LATER_ERROR;
}

static void an_error_that_a_piece_leaves_pending_is_pending_afterwards(void **state)
{
    (void)state;
    odd_call = call_that_leaves_an_error;
    tern_module *parallel = wrapped(odd_new());
    for (failing_device = 0; failing_device < device_count; failing_device++) {
        char part[40];
        told = told_later = 0;
        tern_set_log(count_errors, NULL);
        (void)!tern_forward(parallel, small_input(8));
        tern_set_log(NULL, NULL);
        snprintf(part, sizeof part, "replica on %s]", tern_device_string(devices[failing_device]));
        assert_error(TERN_ERR_SHAPE, part);
        assert_int_equal(told, 1); // the first; the others come later, with what follows from them
        assert_true(told_later >= device_count - 1 - failing_device);
    }
    tern_module_free(parallel);
}

// ---- memory of a class, which looks at its tensors ----------------------------------------------

typedef struct counted {
    tern_module base;
    tern_tensor *weight;
    int64_t *numel; // owned: of the weight
} counted;

static tern_status call_counted(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const counted *self = (const counted *)module;
    assert_int_equal(*self->numel, tern_numel(self->weight));
    out->at[out->count++] = tern_mul(in->at[0], self->weight);
    return tern_error_code();
}

static void free_counted(tern_module *module)
{
    counted *self = (counted *)module;
    assert_int_equal(*self->numel, tern_numel(self->weight));
    free(self->numel);
}

static tern_status copy_counted(tern_module *to, const tern_module *from)
{
    counted *self = (counted *)to;
    (void)from;
    self->numel = malloc(sizeof *self->numel);
    assert_non_null(self->numel);
    *self->numel = tern_numel(self->weight);
    return tern_error_code();
}

static const tern_module_class counted_class = {.name = "Counted",
                                                .size = sizeof(counted),
                                                .call = call_counted,
                                                .free = free_counted,
                                                .copy = copy_counted};

static void a_class_frees_its_memory_while_its_tensors_are_there(void **state)
{
    (void)state;
    counted *self = (counted *)tern_module_new(&counted_class);
    assert_non_null(self);
    tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(6)));
    assert_int_equal(copy_counted(&self->base, NULL), TERN_OK);
    tern_module *parallel = wrapped(tern_module_done(&self->base));
    for (int i = 0; i < 3; i++)
        assert_non_null(tern_forward(parallel, small_input(8)));
    tern_module_free(parallel);
    assert_no_error();
}

// ---- what a forward gives the module that it is handed ------------------------------------------

static atomic_int users;

static void free_counted_user(void *user)
{
    users--;
    free(user);
}

static void *new_user(void)
{
    users++;
    return malloc(1);
}

static tern_status nothing_before(tern_module *module, tern_tensors *in, void *user)
{
    (void)module, (void)in, (void)user;
    return TERN_OK;
}

// Gives it a user and a hook, both of which it is to free.
static tern_status equip(tern_module *module, tern_tensors *in, void *user)
{
    (void)in;
    (void)user;
    if (tern_module_set_user(module, new_user(), free_counted_user))
        return tern_error_code();
    const uint64_t hook = tern_module_add_forward_pre_hook(module, nothing_before, new_user());
    return tern_module_set_hook_free(module, hook, free_counted_user);
}

static void what_a_hook_gives_a_replica_is_freed_with_it(void **state)
{
    (void)state;
    tern_module *net = tern_nn_relu();
    assert_int_not_equal(tern_module_add_forward_pre_hook(net, equip, NULL), 0);
    tern_module *parallel = wrapped(net);
    for (int i = 0; i < 3; i++)
        assert_non_null(tern_forward(parallel, small_input(8)));
    tern_module_free(parallel);
    assert_int_equal(users, 0);
}

// ---- forwards inside of forwards ----------------------------------------------------------------

static tern_status run_again(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    return tern_forward(user, in->at[0]) ? TERN_OK : tern_error_code();
}

static void a_hook_that_runs_the_wrapper_would_not_end(void **state)
{
    (void)state;
    tern_module *net = small_net(), *parallel = wrapped(net);
    assert_int_not_equal(
        tern_module_add_forward_pre_hook(tern_module_child(net, "0"), run_again, parallel), 0);
    assert_null_with(tern_forward(parallel, small_input(32)), TERN_ERR_STATE,
                     "a hook of this Linear runs the module itself, which would not end");
    tern_module_free(parallel);
}

static atomic_int depth;

// On the replicas alone, which are others at every depth.
static tern_status run_again_elsewhere(tern_module *module, tern_tensors *in, void *user)
{
    if (tern_device_of(in->at[0]).index == 0)
        return TERN_OK;
    if (depth > 20)
        return tern_error_raise(TERN_ERR_ARG, "it does not end");
    depth++;
    return run_again(module, in, user);
}

static void replicas_of_a_module_are_that_module(void **state)
{
    (void)state;
    tern_module *net = small_net(), *parallel = wrapped(net);
    assert_int_not_equal(tern_module_add_forward_pre_hook(tern_module_child(net, "0"),
                                                          run_again_elsewhere, parallel),
                         0);
    assert_null_with(tern_forward(parallel, small_input(32)), TERN_ERR_STATE,
                     "a hook of this Linear runs the module itself, which would not end");
    tern_module_free(parallel);
}

// On a replica, while all of them run.
static tern_status free_the_wrapper(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    if (tern_device_of(in->at[0]).index == 1)
        tern_module_free(user);
    return TERN_OK;
}

static void a_hook_may_free_the_wrapper(void **state)
{
    (void)state;
    tern_module *net = small_net(), *parallel = wrapped(net);
    assert_int_not_equal(
        tern_module_add_forward_pre_hook(tern_module_child(net, "1"), free_the_wrapper, parallel),
        0);
    tern_tensor *y = tern_forward(parallel, small_input(8));
    assert_non_null(y);
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
}

static tern_status call_on_both_halves(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    tern_module *dropout = tern_nn_dropout(0.5), *both[] = {dropout, dropout};
    const tern_tensors halves[] = {{1, {x}}, {1, {x}}};
    tern_tensors results[2];
    tern_status status = tern_parallel_apply(both, halves, results, 2);
    if (!status)
        out->at[out->count++] =
            tern_cat((tern_tensor *[]){results[0].at[0], results[1].at[0]}, 2, 1);
    tern_module_free(dropout);
    return tern_error_code();
}

static void masks_of_pieces_of_pieces_differ(void **state)
{
    (void)state;
    odd_call = call_on_both_halves;
    tern_module *parallel = wrapped(odd_new());
    tern_tensor *y = tern_forward(parallel, tern_ones(tern_dims(device_count, 500)));
    assert_non_null(y);
    y = tern_reshape(tern_to(y, tern_cpu(0)), tern_dims(2 * device_count, 500));
    for (int i = 0; i < 2 * device_count; i++)
        for (int k = 0; k < i; k++) {
            tern_tensor *apart = tern_abs(tern_sub(tern_select(y, 0, i), tern_select(y, 0, k)));
            const double mean = tern_item(tern_mean(apart, TERN_ALL_AXES, false));
            assert_true(mean > 0.7 && mean < 1.3); // of 0 or 2, half of them differ
        }
    tern_module_free(parallel);
}

// ---- what a replica writes by address -----------------------------------------------------------

static tern_status call_counting_by_address(tern_module *module, const tern_tensors *in,
                                            tern_tensors *out)
{
    scaled *self = (scaled *)module;
    float *offset = tern_data(self->offset);
    out->at[out->count++] = tern_add(in->at[0], self->offset);
    if (tern_device_of(in->at[0]).index > 0)
        offset[0] += 1;
    return tern_error_code();
}

static const tern_module_class by_address_class = {
    .name = "ByAddress", .size = sizeof(scaled), .call = call_counting_by_address};

static void what_a_replica_writes_by_address_is_lost(void **state)
{
    (void)state;
    if (kind != TERN_CPU)
        return;
    scaled *self = (scaled *)tern_module_new(&by_address_class);
    assert_non_null(self);
    tern_module_add_buffer(&self->base, "offset", &self->offset, tern_zeros(tern_dims(1)), true);
    tern_module *parallel = wrapped(tern_module_done(&self->base));
    tern_tensor *x = tern_zeros(tern_dims(device_count)), *y;
    for (int i = 0; i < 3; i++) {
        assert_non_null(y = tern_forward(parallel, x));
        assert_true(tern_item(tern_sum(y, TERN_ALL_AXES, false)) == 0);
    }
    tern_module_free(parallel);
}

// ---- memory -------------------------------------------------------------------------------------

#define WIDE 40000 // floats

static int64_t bytes_in_use(void)
{
    int64_t sum = 0;
    if (kind == TERN_CPU)
        return tern_memory_live_bytes();
    for (int i = 0; i < device_count; i++) {
        tern_cuda_memory memory = {.allocated = 0};
        assert_int_equal(tern_cuda_get_memory(i, &memory), TERN_OK);
        sum += memory.allocated;
    }
    return sum;
}

// One that never changes, and 160 KB that change at each step.
static void what_stays_the_same_keeps_no_memory_of_what_changes(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, WIDE, .bias = false);
    net = tern_nn_sequential(tern_nn_linear(6, 1), net);
    assert_non_null(tern_set_requires_grad(tern_module_parameter(net, "0.bias"), false));
    tern_module *parallel = wrapped(net);
    tern_tensor *weight = tern_module_parameter(net, "1.weight");
    int64_t first = 0;
    for (int i = 0; i < 4; i++) {
        tern_scope scope = tern_scope_open();
        tern_no_grad {
            assert_non_null(tern_forward(parallel, small_input(8)));
            assert_non_null(tern_mul_scalar_(weight, 1));
        }
        tern_scope_close(scope);
        if (i == 0)
            first = bytes_in_use();
        assert_in_range(bytes_in_use(), first - WIDE, first + WIDE); // WIDE floats are 4 times that
    }
    tern_module_free(parallel);
}

static void a_net_that_moved_away_takes_its_memory_along(void **state)
{
    (void)state;
    tern_module *net = tern_nn_linear(1, WIDE, .bias = false), *parallel = wrapped(net);
    tern_tensor *x = tern_ones(tern_dims(8, 1));
    const int64_t before = bytes_in_use();
    tern_scope scope = tern_scope_open();
    tern_no_grad {
        assert_non_null(tern_forward(parallel, x));
    }
    tern_scope_close(scope);
    assert_true(bytes_in_use() > before + (int64_t)sizeof(float) * WIDE * (device_count - 1) - 1);
    assert_non_null(tern_module_to(parallel, devices[1]));
    assert_null_with(tern_forward(parallel, x), TERN_ERR_DEVICE, "must be on");
    assert_in_range(bytes_in_use(), before - WIDE, before + WIDE);
    tern_module_free(parallel);
}

// ---- a weight that is used twice ----------------------------------------------------------------

typedef struct twice {
    tern_module base;
    tern_tensor *weight;
} twice;

// x W + W, for as many samples as W has rows.
static tern_status call_twice(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const twice *self = (twice *)module;
    out->at[out->count++] = tern_add(tern_matmul(in->at[0], self->weight), self->weight);
    return tern_error_code();
}

// The gradient that the sum hands on is not written to by the product's, and nothing of it is left.
// Of each piece, with ones for x: 3 of the product and 1 of the sum for each element.
static void a_weight_that_is_used_twice_gets_both_gradients(void **state)
{
    (void)state;
    static const tern_module_class twice_class = {
        .name = "Twice", .size = sizeof(twice), .call = call_twice};
    twice *self = (twice *)tern_module_new(&twice_class);
    assert_non_null(self);
    tern_module_add_parameter(&self->base, "weight", &self->weight, tern_ones(tern_dims(3, 3)));
    tern_module *net = tern_module_to(tern_module_done(&self->base), devices[0]);
    tern_module *parallel = parallel_of(net, 2);
    tern_tensor *x = tern_ones(tern_dims(6, 3), .device = devices[0]);
    tern_tensor *y = tern_forward(parallel, x);
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    check_same(tern_grad(self->weight), tern_full(tern_dims(3, 3), 8), 0);
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- replicas that outlive the module -----------------------------------------------------------

static void a_replica_holds_the_module_that_it_stands_for(void **state)
{
    (void)state;
    users = 0;
    tern_module *net = tern_module_to(small_net(), devices[0]), *replicas[DEVICES];
    assert_int_equal(tern_module_set_user(net, new_user(), free_counted_user), TERN_OK);
    assert_int_equal(tern_replicate(net, devices, 2, replicas), TERN_OK);
    tern_module_free(replicas[0]);
    tern_module_free(net);
    assert_ptr_equal(tern_module_user(replicas[1]), tern_module_user(net));
    assert_int_equal(users, 1);
    tern_module_free(net); // nothing is left to give back
    assert_error(TERN_ERR_STATE, "module_free: ");
    assert_non_null(tern_forward(replicas[1], tern_to(small_input(3), devices[1])));
    tern_module_free(replicas[1]);
    assert_int_equal(users, 0);
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(an_error_that_a_piece_leaves_pending_is_pending_afterwards),
        CHECK_TEST(a_class_frees_its_memory_while_its_tensors_are_there),
        CHECK_TEST(what_a_hook_gives_a_replica_is_freed_with_it),
        CHECK_TEST(a_hook_that_runs_the_wrapper_would_not_end),
        CHECK_TEST(replicas_of_a_module_are_that_module),
        CHECK_TEST(a_hook_may_free_the_wrapper),
        CHECK_TEST(masks_of_pieces_of_pieces_differ),
        CHECK_TEST(what_a_replica_writes_by_address_is_lost),
        CHECK_TEST(what_stays_the_same_keeps_no_memory_of_what_changes),
        CHECK_TEST(a_net_that_moved_away_takes_its_memory_along),
        CHECK_TEST(a_weight_that_is_used_twice_gets_both_gradients),
        CHECK_TEST(a_replica_holds_the_module_that_it_stands_for),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
