// SPDX-License-Identifier: Apache-2.0
// Modules with memory of their own: freed once, copied by their class, and refused where it cannot.
#include "support/own_module.h"

#include "support/memory_hook.h"

static int owners, frees, fail_copy_at, copies;

// Adds what it keeps in memory of its own.
typedef struct owner {
    tern_module base;
    tern_tensor *zero;
    double *shift;
} owner;

static tern_status call_owner(tern_module *module, const tern_tensors *in, tern_tensors *out)
{
    const owner *self = (const owner *)module;
    out->at[out->count++] = tern_add_scalar(tern_add(in->at[0], self->zero), *self->shift);
    return tern_error_code();
}

static void free_owner(tern_module *module)
{
    owner *self = (owner *)module;
    frees++;
    owners -= self->shift != NULL;
    free(self->shift);
}

static tern_status copy_owner(tern_module *to, const tern_module *from)
{
    owner *self = (owner *)to;
    assert_ptr_equal(self->zero, tern_module_parameter(to, "zero")); // bound already
    assert_ptr_not_equal(self->zero, ((const owner *)from)->zero);
    if (++copies == fail_copy_at)
        return tern_error_raise(TERN_ERR_IO, "no copy today");
    self->shift = malloc(sizeof *self->shift);
    *self->shift = *((const owner *)from)->shift;
    owners++;
    return TERN_OK;
}

static const tern_module_class owner_class = {.name = "Owner",
                                              .size = sizeof(owner),
                                              .call = call_owner,
                                              .free = free_owner,
                                              .copy = copy_owner};
static const tern_module_class no_copy_class = {
    .name = "NoCopy", .size = sizeof(owner), .call = call_owner, .free = free_owner};

static tern_module *owner_new(const tern_module_class *module_class, double shift)
{
    owner *self = (owner *)tern_module_new(module_class);
    self->shift = malloc(sizeof *self->shift);
    *self->shift = shift;
    owners++;
    tern_module_add_parameter(&self->base, "zero", &self->zero, tern_zeros(tern_dims(1)));
    return tern_module_done(&self->base);
}

static void start_counting(void)
{
    owners = frees = fail_copy_at = copies = 0;
}

static void memory_of_the_classs_own_is_copied_by_it_and_freed_once(void **state)
{
    (void)state;
    start_counting();
    tern_module *m = tern_nn_sequential(owner_new(&owner_class, 1), owner_new(&owner_class, 10));
    tern_module *copy = tern_module_copy(m);
    assert_int_equal(owners, 4);
    *((owner *)tern_module_child(m, "0"))->shift = 1000;
    tern_module_free(m);
    assert_true(owners == 2 && frees == 2);
    assert_tensor(tern_forward(copy, tern_ones(tern_dims(1))), tern_dims(1), 12);
    tern_module_free(copy);
    assert_true(owners == 0 && frees == 4);
}

static void a_constructor_that_fails_frees_what_the_class_made(void **state)
{
    (void)state;
    start_counting();
    owner *self = (owner *)tern_module_new(&owner_class);
    self->shift = malloc(sizeof *self->shift);
    owners++;
    assert_null(tern_module_add_parameter(&self->base, "", NULL, tern_zeros(tern_dims(1))));
    assert_null(tern_module_done(&self->base));
    assert_error(TERN_ERR_ARG, "cannot be a name");
    assert_true(owners == 0 && frees == 1);
}

static void a_copy_that_fails_half_way_leaves_nothing_and_frees_nothing_twice(void **state)
{
    (void)state;
    start_counting();
    tern_module *m = tern_nn_sequential(owner_new(&owner_class, 1), owner_new(&owner_class, 2),
                                        owner_new(&owner_class, 3));
    const int64_t tensors = tern_live_tensors();
    fail_copy_at = 2;
    assert_null_with(tern_module_copy(m), TERN_ERR_IO, "no copy today");
    assert_int_equal(tern_live_tensors(), tensors);
    assert_true(owners == 3 && frees == 1); // that of the first
    assert_tensor(tern_forward(m, tern_ones(tern_dims(1))), tern_dims(1), 7);
    tern_module_free(m);
    assert_true(owners == 0 && frees == 4);
}

static void a_class_with_free_and_without_copy_is_refused_by_name(void **state)
{
    (void)state;
    start_counting();
    tern_module *m = tern_nn_sequential(
        tern_nn_relu(), tern_nn_sequential(owner_new(&no_copy_class, 1), tern_nn_relu()));
    const int64_t tensors = tern_live_tensors();
    assert_null_with(tern_module_copy(m), TERN_ERR_UNSUPPORTED,
                     "module_copy: 1.0 (NoCopy) cannot be copied: its class has a free and no "
                     "copy");
    assert_null_with(tern_module_copy(tern_module_child(m, "1.0")), TERN_ERR_UNSUPPORTED,
                     "module_copy: the module (NoCopy) cannot be copied");
    assert_int_equal(tern_live_tensors(), tensors);
    tern_module_free(m);
    assert_int_equal(owners, 0);
}

static void free_nothing(void *user)
{
    (void)user;
}

static void a_user_that_is_freed_with_its_module_is_refused(void **state)
{
    (void)state;
    int user = 0;
    tern_module *m = tern_nn_sequential(tern_nn_relu());
    assert_int_equal(tern_module_set_user(tern_module_child(m, "0"), &user, free_nothing), TERN_OK);
    assert_null_with(tern_module_copy(m), TERN_ERR_UNSUPPORTED,
                     "module_copy: 0 (ReLU) cannot be copied: it has a user that is freed with it");
    assert_int_equal(tern_module_set_user(tern_module_child(m, "0"), &user, NULL), TERN_OK);
    tern_module *copy = tern_module_copy(m);
    assert_ptr_equal(tern_module_user(tern_module_child(copy, "0")), &user);
    tern_module_free(m);
    tern_module_free(copy);
}

static void a_buffer_with_a_history_is_refused(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, NULL);
    scaled *self = (scaled *)m;
    assert_non_null(tern_mul_(self->offset, self->scale));
    assert_null_with(tern_module_copy(m), TERN_ERR_STATE,
                     "module_copy: \"offset\" of Scaled has a history");
    tern_module_free(m);
}

static void an_unfinished_module_is_not_copied(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&odd_class);
    assert_null_with(tern_module_copy(m), TERN_ERR_STATE,
                     "module_copy: the constructor of Odd did not end with tern_module_done");
    tern_module_free(tern_module_done(m));
}

static void whichever_allocation_fails_nothing_is_left(void **state)
{
    (void)state;
    start_counting();
    tern_module *m =
        tern_nn_sequential(owner_new(&owner_class, 1), scaled_new(2, scaled_new(3, NULL)));
    assert_int_equal(tern_backward(tern_forward(m, tern_ones(tern_dims(1)))), TERN_OK);
    tern_module *copy = NULL;
    int64_t n = 0;
    while (!copy) {
        const int64_t tensors = tern_live_tensors();
        fail_nth_allocation(++n);
        copy = tern_module_copy(m);
        fail_nth_allocation(0);
        if (copy)
            break;
        assert_error(TERN_ERR_NOMEM, "memory");
        assert_int_equal(tern_live_tensors(), tensors);
        assert_int_equal(owners, 1);
    }
    assert_true(n > 20);
    tern_module_free(m);
    tern_module_free(copy);
    assert_int_equal(owners, 0);
}

// Each has paths of its own, of which 16,384 are kept.
static void nets_that_are_gone_leave_no_more_and_more_paths(void **state)
{
    (void)state;
    const int64_t before = tern_memory_live_bytes();
    int64_t most = 0;
    for (int i = 1; i <= 25000; i++) {
        tern_scope step = tern_scope_open();
        tern_module *net =
            tern_nn_sequential(tern_nn_leaky_relu(i * 1e-5), tern_nn_leaky_relu(-i * 1e-5));
        assert_non_null(tern_forward(net, tern_ones(tern_dims(1))));
        tern_module_free(net);
        tern_scope_close(step);
        const int64_t held = tern_memory_live_bytes() - before;
        most = held > most ? held : most;
    }
    assert_true(most > 0 && most < 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(memory_of_the_classs_own_is_copied_by_it_and_freed_once),
        CHECK_TEST(a_constructor_that_fails_frees_what_the_class_made),
        CHECK_TEST(a_copy_that_fails_half_way_leaves_nothing_and_frees_nothing_twice),
        CHECK_TEST(a_class_with_free_and_without_copy_is_refused_by_name),
        CHECK_TEST(a_user_that_is_freed_with_its_module_is_refused),
        CHECK_TEST(a_buffer_with_a_history_is_refused),
        CHECK_TEST(an_unfinished_module_is_not_copied),
        CHECK_TEST(whichever_allocation_fails_nothing_is_left),
        CHECK_TEST(nets_that_are_gone_leave_no_more_and_more_paths),
    };
    setenv("TERN_CACHE", "0", 1);
    if (use_memory_hook())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, check_shutdown);
    return failed ? failed : memory.blocks != 0;
}
