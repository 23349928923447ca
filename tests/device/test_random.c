// SPDX-License-Identifier: Apache-2.0
// Seeds: of all devices, of one, before and after its first use.
#include "device_check.h"

#define COUNT 64

static tern_tensor *drawn(tern_device device)
{
    tern_tensor *x = tern_rand(tern_dims(COUNT), .device = device);
    assert_true(is_on(x, device));
    return tern_to(x, tern_cpu(0));
}

static tern_tensor *masked(tern_device device)
{
    tern_tensor *x = tern_dropout(tern_ones(tern_dims(COUNT), .device = device), 0.5, true);
    return tern_to(x, tern_cpu(0));
}

static bool same(tern_tensor *a, tern_tensor *b)
{
    return tern_item_int(tern_all(tern_eq(a, b), TERN_ALL_AXES, false));
}

static void one_seed_serves_every_device_before_and_after_its_first_use(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_manual_seed(42);
    tern_tensor *first = drawn(here), *other = drawn(there), *cpu = drawn(tern_cpu(0));
    tern_tensor *mask = masked(here), *other_mask = masked(there);
    assert_true(same(first, other)); // each device has its own stream, of the same seed
    assert_true(same(mask, other_mask));
    assert_false(same(first, drawn(here))); // which goes on
    assert_false(same(mask, masked(here)));
    tern_manual_seed(42);
    assert_true(same(drawn(here), first));
    assert_true(same(drawn(there), other));
    assert_true(same(drawn(tern_cpu(0)), cpu));
    assert_true(same(masked(here), mask));
    tern_manual_seed(43);
    assert_false(same(drawn(here), first));
    assert_false(same(masked(there), other_mask));
}

static void a_seed_for_the_current_cuda_device_leaves_the_others(void **state)
{
    (void)state;
    NEEDS_TWO_DEVICES();
    tern_manual_seed(1);
    tern_tensor *first = drawn(here), *mask = masked(here), *other = drawn(there);
    tern_tensor *next = drawn(there), *cpu = drawn(tern_cpu(0)), *next_cpu = drawn(tern_cpu(0));
    tern_manual_seed(1);
    drawn(there);
    drawn(tern_cpu(0));
    assert_int_equal(tern_cuda_set_device(here.index), TERN_OK);
    tern_cuda_manual_seed(1);
    assert_true(same(drawn(here), first) && same(masked(here), mask));
    assert_true(same(drawn(there), next) && same(drawn(tern_cpu(0)), next_cpu));
    tern_cuda_manual_seed_all(1);
    assert_true(same(drawn(here), first) && same(drawn(there), other));
    assert_false(same(drawn(tern_cpu(0)), cpu));
}

static void a_generator_of_ones_own_serves_any_device(void **state)
{
    (void)state;
    tern_generator *generator = tern_generator_new(5);
    tern_tensor *a = tern_rand(tern_dims(COUNT), .device = here, .generator = generator);
    tern_tensor *b = tern_rand(tern_dims(COUNT), .device = here, .generator = generator);
    assert_int_equal(tern_generator_seed(generator, 5), TERN_OK);
    tern_tensor *again = tern_rand(tern_dims(COUNT), .device = here, .generator = generator);
    assert_false(same(a, b));
    assert_true(same(a, again));
    tern_generator_free(generator);
}

static void a_saved_state_brings_numbers_and_masks_back(void **state)
{
    (void)state;
    tern_generator *generator = tern_default_generator(here);
    const size_t size = tern_generator_state_size();
    void *saved = malloc(size);
    drawn(here);
    masked(here);
    assert_int_equal(tern_generator_save(generator, saved, size), TERN_OK);
    tern_tensor *numbers = drawn(here), *mask = masked(here);
    drawn(here);
    assert_int_equal(tern_generator_load(generator, saved, size), TERN_OK);
    assert_true(same(drawn(here), numbers));
    assert_true(same(masked(here), mask));
    free(saved);
}

static void a_mask_is_the_same_on_every_device(void **state)
{
    (void)state;
    tern_manual_seed(9);
    tern_tensor *x = tern_ones(tern_dims(COUNT, 33));
    tern_tensor *cpu = tern_dropout(x, 0.3, true);
    tern_tensor *device = tern_dropout(tern_to(x, here), 0.3, true);
    assert_true(same(cpu, tern_to(device, tern_cpu(0))));
}

static void a_permutation_is_the_same_on_every_device(void **state)
{
    (void)state;
    tern_manual_seed(9);
    tern_tensor *cpu = tern_randperm(100);
    tern_tensor *device = tern_randperm(100, .device = here);
    assert_true(is_on(device, here));
    assert_true(same(cpu, tern_to(device, tern_cpu(0))));
}

int main(int argc, char **argv)
{
    const int nothing = choose_devices(argc, argv);
    const struct CMUnitTest everywhere[] = {
        CHECK_TEST(one_seed_serves_every_device_before_and_after_its_first_use),
        CHECK_TEST(a_generator_of_ones_own_serves_any_device),
        CHECK_TEST(a_saved_state_brings_numbers_and_masks_back),
        CHECK_TEST(a_mask_is_the_same_on_every_device),
        CHECK_TEST(a_permutation_is_the_same_on_every_device),
    };
    const struct CMUnitTest on_cuda[] = {
        CHECK_TEST(a_seed_for_the_current_cuda_device_leaves_the_others),
    };
    if (nothing)
        return nothing;
    RUN_DEVICE_TESTS(everywhere, on_cuda);
}
