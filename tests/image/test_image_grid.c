// SPDX-License-Identifier: Apache-2.0
// Grids of images, as torchvision's make_grid makes them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "image_test.h"

static tern_tensor *make(const golden_case *c, tern_device device)
{
    const golden_array *x = golden_find_array(c, "x");
    return tern_image_grid(tern_to(tern_from_data(x->shape, (const float *)x->data), device),
                           .columns = (int64_t)golden_number(c, "nrow", 0),
                           .padding = (int64_t)golden_number(c, "padding", 0),
                           .pad_value = golden_number(c, "pad_value", 0),
                           .normalize = golden_number(c, "normalize", 0) != 0,
                           .low = golden_number(c, "low", 0), .high = golden_number(c, "high", 0),
                           .scale_each = golden_number(c, "scale_each", 0) != 0);
}

static void compare(const golden_case *c)
{
    const golden_array *out = golden_find_array(c, "out");
    tern_tensor *grid = make(c, tern_cpu(0));
    if (!grid)
        fail_msg("%s: %s", c->name, tern_error_message());
    if (!tern_shape_equal(tern_shape_of(grid), out->shape))
        fail_msg("%s: another shape", c->name);
    const float *values = tern_data(grid), *expected = out->data;
    for (int64_t i = 0; i < out->numel; i++)
        if (values[i] != expected[i])
            fail_msg("%s [%lld]: %.9g instead of %.9g", c->name, (long long)i, (double)values[i],
                     (double)expected[i]);
}

static void a_grid_has_the_bits_of_make_grid(void **state)
{
    (void)state;
    const golden_file *family = golden_read("images");
    int count = 0;
    for (int i = 0; i < family->count; i++)
        if (strncmp(family->cases[i].name, "grid", 4) == 0) {
            compare(&family->cases[i]);
            count++;
        }
    assert_int_equal(count, 56);
}

static void bytes_stay_bytes_and_history_is_left_behind(void **state)
{
    (void)state;
    tern_tensor *bytes = tern_full(tern_dims(2, 3, 1, 1), 7, .dtype = TERN_UINT8);
    tern_tensor *grid = tern_image_grid(bytes, .padding = 1, .pad_value = 9);
    static const uint8_t plane[] = {9, 9, 9, 9, 9, 9, 7, 9, 7, 9, 9, 9, 9, 9, 9};
    uint8_t expected[45];
    for (int c = 0; c < 3; c++)
        memcpy(expected + 15 * c, plane, 15);
    assert_bytes("grid", grid, tern_dims(3, 3, 5), expected);
    tern_tensor *x = tern_ones(tern_dims(2, 3, 2, 2), .requires_grad = true);
    assert_false(tern_requires_grad(tern_image_grid(x)));
    tern_tensor *one = tern_image_grid(tern_narrow(x, 0, 0, 1));
    assert_false(tern_requires_grad(one));
    assert_ptr_not_equal(tern_data(one), tern_data(x)); // of its own
}

static void what_is_no_images_is_refused(void **state)
{
    (void)state;
    assert_null(tern_image_grid(tern_zeros(tern_dims(3))));
    assert_error(TERN_ERR_SHAPE, "image_grid: the images are (3,), but must be (count, channels");
    assert_null(tern_image_grid(tern_zeros(tern_dims(0, 3, 2, 2))));
    assert_error(TERN_ERR_SHAPE, "of 1 or more each");
    tern_tensor *x = tern_zeros(tern_dims(2, 3, 2, 2));
    assert_null(tern_image_grid(x, .columns = 0));
    assert_error(TERN_ERR_ARG, ".columns is 0, but must be 1 or more");
    assert_null(tern_image_grid(x, .padding = -1));
    assert_error(TERN_ERR_ARG, ".padding is -1, but must be 0 to 1000000");
    assert_null(tern_image_grid(x, .normalize = true, .low = 1, .high = 0));
    assert_error(TERN_ERR_ARG, ".low is 1 and .high 0");
    assert_null(tern_image_grid(x, .normalize = true, .low = 1));
    assert_error(TERN_ERR_ARG, "one is not without the other");
    assert_null(tern_image_grid(tern_to_dtype(x, TERN_UINT8), .normalize = true));
    assert_error(TERN_ERR_DTYPE, ".normalize is for floating elements, and the images are uint8");
    assert_null(tern_image_grid(x, .normalize = true, .low = -INFINITY, .high = INFINITY));
    assert_error(TERN_ERR_ARG, ".low is -inf and .high inf, but must be finite");
    assert_null(tern_image_grid(tern_to_dtype(x, TERN_UINT8), .pad_value = 256));
    assert_error(TERN_ERR_ARG, "image_grid: .pad_value 256 is out of the range of uint8");
}

static void what_has_no_least_element_is_not_normalized_by_it(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2, 3, 2, 2));
    ((float *)tern_data(x))[5] = NAN;
    for (int each = 0; each < 2; each++) {
        assert_null(tern_image_grid(x, .normalize = true, .scale_each = each));
        assert_error(TERN_ERR_NUMERIC, "image_grid: the elements of an image are nan to nan");
    }
    ((float *)tern_data(x))[5] = INFINITY;
    assert_null(tern_image_grid(x, .normalize = true));
    assert_error(TERN_ERR_NUMERIC, "are 1 to inf, so that it cannot be normalized");
    assert_non_null(tern_image_grid(x, .normalize = true, .low = 0, .high = 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_grid_has_the_bits_of_make_grid),
        DATA_TEST(bytes_stay_bytes_and_history_is_left_behind),
        DATA_TEST(what_is_no_images_is_refused),
        DATA_TEST(what_has_no_least_element_is_not_normalized_by_it),
    };
    return see_all_allocations() || cmocka_run_group_tests(tests, start_group, end_group);
}
