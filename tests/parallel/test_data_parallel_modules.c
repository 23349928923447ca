// SPDX-License-Identifier: Apache-2.0
// Data parallel and the module in it: what replicas share with it, how they follow its changes,
// what is said when one fails, what cannot be wrapped.
#include "parallel_check.h"
#include "support/own_module.h"

// ---- what replicas share with the module --------------------------------------------------------

// Counts its forwards in a buffer and in its struct.
typedef struct counting {
    tern_module base;
    tern_tensor *count;
    int forwards;
} counting;

static int counts_from; // this device on

static tern_status call_counting(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    counting *self = (counting *)module;
    self->forwards++;
    if (tern_device_of(in->at[0]).index < counts_from) {
        out->at[out->count++] = tern_add(in->at[0], self->count);
        return tern_error_code();
    }
    tern_no_grad {
        (void)!tern_add_scalar_(self->count, (double)tern_size(in->at[0], 0));
    }
    out->at[out->count++] = tern_add(in->at[0], self->count);
    return tern_error_code();
}

static const tern_module_class counting_class = {
    .name = "Counting", .size = sizeof(counting), .call = call_counting};

static tern_module *counting_new(void)
{
    counting *self = (counting *)tern_module_new(&counting_class);
    assert_non_null(self);
    tern_module_add_buffer(&self->base, "count", &self->count, tern_zeros(tern_dims()), true);
    return tern_module_done(&self->base);
}

static void what_replicas_change_is_lost_but_for_the_first(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(counting_new(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    const int64_t rows = 3 * device_count - 1;
    tern_tensor *x = tern_zeros(tern_dims(rows));
    for (int i = 1; i <= 3; i++) {
        // Each replica begins with the module's count, and adds the size of its own piece.
        tern_tensor *y = tern_forward(parallel, x);
        double *values = tern_data(tern_to_dtype(tern_to(y, tern_cpu(0)), TERN_FLOAT64));
        assert_true(values[0] == 3 * i);
        assert_true(values[rows - 1] == 3 * (i - 1) + 2);
        assert_int_equal(((counting *)net)->forwards, i);
        assert_true(tern_item(tern_module_buffer(net, "count")) == 3 * i);
    }
    tern_module_free(parallel);
    tern_module_free(net);
}

// The module's own values stay the same meanwhile.
static void what_only_replicas_change_is_lost_too(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(counting_new(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = tern_zeros(tern_dims(2 * device_count));
    counts_from = 1;
    for (int i = 0; i < 3; i++) {
        tern_tensor *y = tern_to(tern_forward(parallel, x), tern_cpu(0));
        assert_true(tern_item(tern_select(y, 0, 0)) == 0);
        assert_true(tern_item(tern_select(y, 0, 2 * device_count - 1)) == 2);
    }
    counts_from = 0;
    tern_module_free(parallel);
    tern_module_free(net);
}

static void running_statistics_are_those_of_the_first_piece(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(tern_nn_batch_norm1d(6), devices[0]);
    tern_module *one = tern_module_copy(net), *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(4 * device_count), *pieces[DEVICES];
    int64_t used;
    assert_non_null(tern_forward(parallel, x));
    assert_int_equal(tern_chunk(x, device_count, 0, pieces, DEVICES, &used), TERN_OK);
    assert_non_null(tern_forward(one, tern_to(pieces[0], devices[0])));
    check_same(tern_module_buffer(net, "running_mean"), tern_module_buffer(one, "running_mean"), 0);
    check_same(tern_module_buffer(net, "running_var"), tern_module_buffer(one, "running_var"), 0);
    tern_module_eval(parallel); // the mode is the replicas' as well
    tern_module_eval(one);
    check_same(tern_forward(parallel, x), tern_forward(one, tern_to(x, devices[0])), 0);
    tern_module_free(parallel);
    tern_module_free(net);
    tern_module_free(one);
}

static tern_status count_before(tern_module *module, tern_tensors *in, void *user)
{
    (void)module;
    (void)in;
    (*(_Atomic int *)user)++;
    return TERN_OK;
}

static tern_status double_after(tern_module *module, const tern_tensors *in, tern_tensors *out,
                                void *user)
{
    (void)module;
    (void)in;
    (void)user;
    out->at[0] = tern_add(out->at[0], out->at[0]);
    return tern_error_code();
}

static void hooks_run_with_every_piece(void **state)
{
    (void)state;
    _Atomic int before = 0, around = 0;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = tern_to(small_input(16), devices[0]), *plain = tern_forward(net, x);
    check_same(tern_forward(parallel, x), plain, 1e-6);
    // Replicas are there already: they get the hooks nevertheless.
    tern_module *inner = tern_module_child(net, "1");
    assert_int_not_equal(tern_module_add_forward_pre_hook(inner, count_before, &before), 0);
    assert_int_not_equal(tern_module_add_forward_pre_hook(parallel, count_before, &around), 0);
    const uint64_t hook = tern_module_add_forward_hook(net, double_after, NULL);
    check_same(tern_forward(parallel, x), tern_add(plain, plain), 1e-6);
    assert_int_equal(before, device_count);
    assert_int_equal(around, 1);
    tern_module_remove_hook(net, hook);
    check_same(tern_forward(parallel, x), plain, 1e-6);
    tern_module_free(parallel);
    tern_module_free(net);
}

static tern_status call_that_makes_tensors(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0], *one = tern_ones(tern_dims(6), .dtype = TERN_FLOAT64);
    if (kind == TERN_CUDA &&
        !is_on(tern_zeros(tern_dims(1), .device = tern_cuda(-1)), tern_device_of(x)))
        return TERN_ERR_DEVICE;
    out->at[out->count++] = tern_add(tern_to_dtype(x, TERN_FLOAT64), one);
    return tern_error_code();
}

// Where "cuda" is, and what is made without a device: where the piece is.
static void the_default_device_follows_the_piece(void **state)
{
    (void)state;
    odd_call = call_that_makes_tensors;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    assert_int_equal(tern_set_default_device(devices[0]), TERN_OK);
    tern_tensor *y = tern_forward(parallel, tern_to(small_input(8), devices[0]));
    assert_int_equal(tern_set_default_device(tern_cpu(0)), TERN_OK);
    assert_non_null(y);
    if (kind == TERN_CUDA)
        assert_int_equal(tern_cuda_current_device(), 0);
    tern_module_free(parallel);
}

static void without_recording_nothing_is_recorded(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_no_grad {
        tern_tensor *y = tern_forward(parallel, small_input(8));
        assert_false(tern_requires_grad(y));
    }
    assert_true(tern_requires_grad(tern_forward(parallel, small_input(8))));
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- changes between steps ----------------------------------------------------------------------

static void check_agrees(tern_module *parallel, tern_module *net, tern_tensor *x)
{
    check_same(tern_forward(parallel, x), tern_forward(net, tern_to(x, devices[0])), 1e-6);
}

static void replicas_follow_every_change_of_the_module(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(12);
    check_agrees(parallel, net, x);
    tern_no_grad {
        (void)!tern_mul_scalar_(tern_module_parameter(net, "0.weight"), 2);
    }
    check_agrees(parallel, net, x);
    tern_tensor *weight = tern_full(tern_dims(8, 6), 0.1, .device = devices[0]);
    assert_int_equal(tern_module_set_parameter(net, "0.weight", weight), TERN_OK);
    check_agrees(parallel, net, x);
    assert_int_equal(tern_module_set_parameter(net, "0.bias", NULL), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module *tanh = tern_nn_tanh();
    assert_int_equal(tern_module_set_child(net, "1", tanh), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module *wide = tern_nn_sequential(tern_nn_linear(8, 4), tern_nn_linear(4, 3));
    assert_int_equal(tern_module_set_child(net, "2", tern_module_to(wide, devices[0])), TERN_OK);
    check_agrees(parallel, net, x);
    tern_module_to_dtype(net, TERN_FLOAT64);
    tern_tensor *x64 = tern_to_dtype(x, TERN_FLOAT64);
    assert_int_equal(tern_dtype_of(tern_forward(parallel, x64)), TERN_FLOAT64);
    tern_module_to_dtype(net, TERN_FLOAT32);
    check_agrees(parallel, net, x);
    tern_module_free(parallel);
    tern_module_free(net);
}

// Autograd does not see it; the replicas do.
static void what_is_written_by_its_address_is_seen(void **state)
{
    (void)state;
    if (kind != TERN_CPU)
        return;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    float *weight = tern_data(tern_module_parameter(net, "0.weight"));
    tern_tensor *x = small_input(12);
    for (int i = 0; i < 3; i++) {
        weight[i] += 1;
        check_agrees(parallel, net, x);
    }
    tern_module_free(parallel);
    tern_module_free(net);
}

static void a_net_that_moves_away_is_an_error_until_it_is_back(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(small_net(), devices[0]);
    tern_module *parallel = parallel_of(net, device_count);
    tern_tensor *x = small_input(12), *y = tern_forward(parallel, x);
    assert_non_null(tern_module_to(parallel, devices[1]));
    char sentence[300];
    snprintf(sentence, sizeof sentence,
             "data_parallel: \"0.weight\" of the module is on %s, but must be on %s, the first of "
             "the devices; move it there with tern_module_to",
             tern_device_string(devices[1]), tern_device_string(devices[0]));
    assert_null_with(tern_forward(parallel, x), TERN_ERR_DEVICE, sentence);
    assert_non_null(tern_module_to(parallel, devices[0]));
    check_same(tern_forward(parallel, x), y, 0);
    tern_module_free(parallel);
    tern_module_free(net);
}

// ---- failures -----------------------------------------------------------------------------------

static int failing_device;

static tern_status call_that_fails(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    if (tern_device_of(x).index == failing_device)
        x = tern_matmul(x, tern_ones(tern_dims(3, 3), .device = tern_device_of(x)));
    out->at[out->count++] = x;
    return tern_error_code();
}

static void a_replica_that_fails_is_named_by_its_device(void **state)
{
    (void)state;
    odd_call = call_that_fails;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    for (failing_device = 0; failing_device < device_count; failing_device++) {
        char sentence[100];
        snprintf(sentence, sizeof sentence, "[in module (Odd), replica on %s]",
                 tern_device_string(devices[failing_device]));
        assert_null(tern_forward(parallel, small_input(8)));
        assert_non_null(strstr(tern_error_message(), sentence));
        assert_error(TERN_ERR_SHAPE, "matmul: ");
    }
    assert_non_null(tern_forward(parallel, small_input(8)));
    tern_module_free(parallel);
}

static tern_status call_of_odd_shapes(const tern_tensors *in, tern_tensors *out)
{
    tern_tensor *x = in->at[0];
    const int64_t width = tern_device_of(x).index + 1;
    out->at[out->count++] = tern_narrow(x, 1, 0, width);
    return tern_error_code();
}

static void outputs_that_do_not_fit_are_an_error(void **state)
{
    (void)state;
    odd_call = call_of_odd_shapes;
    tern_module *parallel =
        tern_nn_data_parallel(odd_new(), .devices = devices, .count = device_count);
    assert_null(tern_forward(parallel, small_input(8)));
    assert_error(TERN_ERR_SHAPE, "cat: ");
    tern_module_free(parallel);
}

static void what_cannot_be_wrapped_is_refused(void **state)
{
    (void)state;
    const tern_device twice[] = {devices[0], devices[0]}, mixed[] = {tern_cpu(0), tern_cuda(0)};
    const tern_device missing[] = {devices[0], {kind, 63}};
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = twice, .count = 2), TERN_ERR_ARG,
                     "is listed twice");
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = missing, .count = 2),
                     TERN_ERR_DEVICE, ":63");
    if (kind == TERN_CUDA)
        assert_null_with(tern_nn_data_parallel(small_net(), .devices = mixed, .count = 2),
                         TERN_ERR_ARG, "have to be of one type");
    assert_null_with(tern_nn_data_parallel(small_net(), .devices = devices, .count = 0),
                     TERN_ERR_ARG, "0 devices");
    assert_null_with(tern_nn_data_parallel(small_net(), .count = 2), TERN_ERR_NULL,
                     ".devices is NULL");
    tern_module *inner = tern_nn_data_parallel(small_net(), .devices = devices, .count = 2);
    tern_module *net = tern_nn_sequential(inner, tern_nn_relu());
    assert_null_with(tern_nn_data_parallel(net, .devices = devices, .count = 2), TERN_ERR_STATE,
                     "\"0\" is data parallel already");
    // One that gets into it later.
    tern_module *parallel =
        tern_nn_data_parallel(tern_nn_sequential(tern_nn_relu()), .devices = devices, .count = 2);
    inner = tern_nn_data_parallel(tern_nn_relu(), .devices = devices, .count = 2);
    assert_int_equal(tern_module_set_child(parallel, "module.0", inner), TERN_OK);
    assert_null_with(tern_forward(parallel, small_input(8)), TERN_ERR_STATE,
                     "has one in it that is data parallel itself");
    tern_module_free(parallel);
}

// ---- modules with memory of their own -----------------------------------------------------------

typedef struct owner {
    tern_module base;
    float *factor; // owned
} owner;

static _Atomic int owned;

static tern_status call_owner(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    out->at[out->count++] = tern_mul_scalar(in->at[0], (double)*((owner *)module)->factor);
    return tern_error_code();
}

static void free_owner(tern_module *module)
{
    owned -= ((owner *)module)->factor != NULL;
    free(((owner *)module)->factor);
}

static tern_status copy_owner(tern_module *to, const tern_module *from)
{
    owner *self = (owner *)to;
    self->factor = malloc(sizeof *self->factor);
    assert_non_null(self->factor);
    *self->factor = *((const owner *)from)->factor;
    owned++;
    return TERN_OK;
}

static const tern_module_class owner_class = {.name = "Owner",
                                              .size = sizeof(owner),
                                              .call = call_owner,
                                              .free = free_owner,
                                              .copy = copy_owner};
static const tern_module_class miser_class = {
    .name = "Miser", .size = sizeof(owner), .call = call_owner, .free = free_owner};

static tern_module *owner_new(const tern_module_class *klass)
{
    owner *self = (owner *)tern_module_new(klass);
    assert_non_null(self);
    self->factor = malloc(sizeof *self->factor);
    assert_non_null(self->factor);
    *self->factor = 3;
    owned++;
    return tern_module_done(&self->base);
}

static void memory_of_a_class_is_copied_or_it_is_refused(void **state)
{
    (void)state;
    tern_module *parallel =
        tern_nn_data_parallel(owner_new(&owner_class), .devices = devices, .count = device_count);
    tern_tensor *x = small_input(8);
    for (int i = 0; i < 3; i++) {
        check_same(tern_forward(parallel, x), tern_mul_scalar(x, 3 + i), 1e-6);
        assert_int_equal(owned, device_count);
        *((owner *)tern_module_child(parallel, "module"))->factor += 1;
    }
    tern_module_free(parallel);
    assert_int_equal(owned, 0);
    parallel =
        tern_nn_data_parallel(owner_new(&miser_class), .devices = devices, .count = device_count);
    assert_null_with(tern_forward(parallel, x), TERN_ERR_UNSUPPORTED,
                     "the module (Miser) cannot be copied: its class has a free and no copy");
    tern_module_free(parallel);
    assert_int_equal(owned, 0);
}

int main(int argc, char **argv)
{
    const int nothing = choose_parallel_devices(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(what_replicas_change_is_lost_but_for_the_first),
        CHECK_TEST(what_only_replicas_change_is_lost_too),
        CHECK_TEST(running_statistics_are_those_of_the_first_piece),
        CHECK_TEST(hooks_run_with_every_piece),
        CHECK_TEST(the_default_device_follows_the_piece),
        CHECK_TEST(without_recording_nothing_is_recorded),
        CHECK_TEST(replicas_follow_every_change_of_the_module),
        CHECK_TEST(what_is_written_by_its_address_is_seen),
        CHECK_TEST(a_net_that_moves_away_is_an_error_until_it_is_back),
        CHECK_TEST(a_replica_that_fails_is_named_by_its_device),
        CHECK_TEST(outputs_that_do_not_fit_are_an_error),
        CHECK_TEST(what_cannot_be_wrapped_is_refused),
        CHECK_TEST(memory_of_a_class_is_copied_or_it_is_refused),
    };
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
