// SPDX-License-Identifier: Apache-2.0
// Images changed by given parameters against torchvision's functional forms, case by case;
// test_transforms_golden [DEVICE].
#include "support/check.h"
#include "data/transform/color.h"
#include "golden_compare.h"

#define MAX_TESTS 1024

static tern_device device;
static struct CMUnitTest tests[MAX_TESTS];

static int64_t whole(const golden_case *g, const char *word)
{
    return (int64_t)golden_number(g, word, 0);
}

static tern_channel_list channels(const golden_case *g, const char *word)
{
    tern_channel_list list = {0};
    list.count = golden_numbers(g, word, list.at, TERN_MAX_CHANNELS);
    return list;
}

static tern_image_box box_of(const golden_case *g)
{
    return (tern_image_box){whole(g, "top"), whole(g, "left"), whole(g, "height"),
                            whole(g, "width")};
}

// ---- the calls ----------------------------------------------------------------------------------

static tern_tensor *crop(const golden_case *g, tern_tensor *x)
{
    const tern_image_box box = box_of(g);
    const tern_channel_list fill = channels(g, "fill");
    const tern_pad_mode modes[] = {0, TERN_PAD_CONSTANT, TERN_PAD_REFLECT, TERN_PAD_REPLICATE};
    const tern_pad_mode mode = modes[whole(g, "mode")];
    tern_image_maps maps = {.fill = &fill};
    assert_int_equal(tern_image_maps_new(&maps, 2, box.height, box.width), TERN_OK);
    for (int64_t n = 0; n < 2; n++) {
        tern_image_map_window(maps.rows + n * box.height, box.height, box.top, tern_size(x, 2),
                              mode, false);
        tern_image_map_window(maps.cols + n * box.width, box.width, box.left, tern_size(x, 3), mode,
                              false);
    }
    tern_tensor *y = tern_image_gather("crop", x, &maps);
    tern_image_maps_free(&maps);
    return y;
}

static tern_tensor *apply(tern_transform *transform, tern_tensor *x)
{
    tern_tensor *y = tern_transform_apply(transform, x, 0);
    tern_transform_free(transform);
    return y;
}

static tern_image_resize_mode resize_mode(const golden_case *g)
{
    const tern_interpolate_mode modes[] = {
        [1] = TERN_NEAREST, [2] = TERN_NEAREST_EXACT, [4] = TERN_BILINEAR, [6] = TERN_BICUBIC};
    return (tern_image_resize_mode){modes[whole(g, "mode")], whole(g, "antialias") != 0};
}

static tern_tensor *resized_crop(const golden_case *g, tern_tensor *x)
{
    const tern_image_box box = {whole(g, "top"), whole(g, "left"), whole(g, "box_height"),
                                whole(g, "box_width")};
    const tern_image_box boxes[] = {box, box};
    return tern_image_resized_crop("resized_crop", x, boxes, 2, whole(g, "height"),
                                   whole(g, "width"), resize_mode(g));
}

static tern_tensor *affine(const golden_case *g, tern_tensor *x)
{
    const tern_image_motion motion = {.angle = golden_number(g, "angle", 0),
                                      .x = golden_number(g, "translate", 0),
                                      .y = golden_number(g, "translate", 1),
                                      .scale = golden_number(g, "scale", 0),
                                      .shear_x = golden_number(g, "shear", 0),
                                      .shear_y = golden_number(g, "shear", 1),
                                      .center_x = golden_number(g, "center", 0),
                                      .center_y = golden_number(g, "center", 1)};
    const tern_image_matrix matrix = tern_image_affine(&motion), matrices[] = {matrix, matrix};
    const tern_channel_list fill = channels(g, "fill");
    return tern_image_warp("affine", x, matrices, resize_mode(g).mode, &fill);
}

// Of two samples whose numbers draw what the case says.
static tern_tensor *trivial_augment(const golden_case *g, tern_tensor *x)
{
    const tern_sample_context context = {.seed = 3, .epoch = 1};
    int64_t index[2], found = 0;
    for (int64_t i = 0; found < 2; i++)
        if (tern_sample_randint(&context, i, 0, 0, 14) == whole(g, "kind") &&
            tern_sample_randint(&context, i, 1, 0, 31) == whole(g, "bin") &&
            (tern_sample_rand(&context, i, 2) < 0.5) == (whole(g, "negative") != 0))
            index[found++] = i;
    tern_transform *transform =
        tern_transform_trivial_augment(.interpolation = TERN_BILINEAR, .fill = channels(g, "fill"));
    tern_batch b = {.size = 2, .count = 1, .index = index, .at = {x}};
    const tern_status status = tern_transform_batch(transform, &context, &b);
    tern_transform_free(transform);
    return status ? NULL : b.x;
}

static tern_tensor *call(const golden_case *g, tern_tensor *x)
{
    const char *op = golden_text(g, "op");
    const tern_image_box box = box_of(g), boxes[] = {box, box};
    const tern_channel_list fill = channels(g, "fill");
    const tern_image_step step = {(tern_image_adjustment)whole(g, "kind"),
                                  golden_number(g, "amount", 0)};
    const tern_image_step steps[] = {step, step};
    const tern_image_resize_mode mode = resize_mode(g);
#define IS(name) (strcmp(op, name) == 0)
    return IS("crop")          ? crop(g, x)
           : IS("hflip")       ? apply(tern_transform_random_horizontal_flip(1), x)
           : IS("vflip")       ? apply(tern_transform_random_vertical_flip(1), x)
           : IS("center_crop") ? apply(tern_transform_center_crop(box.height, box.width), x)
           : IS("erase")       ? tern_image_erase("erase", x, boxes, &fill, NULL)
           : IS("resize")
               ? apply(tern_transform_resize(box.height, box.width, .interpolation = mode.mode,
                                             .antialias = mode.antialias),
                       x)
           : IS("resized_crop") ? resized_crop(g, x)
           : IS("affine")       ? affine(g, x)
           : IS("adjust")       ? tern_image_adjust("adjust", x, steps, 1)
           : IS("grayscale")    ? apply(tern_transform_grayscale(whole(g, "channels")), x)
           : IS("normalize")
               ? apply(tern_transform_normalize(channels(g, "mean"), channels(g, "std")), x)
           : IS("to_float")        ? apply(tern_transform_to_float(), x)
           : IS("trivial_augment") ? trivial_augment(g, x)
           : IS("mixup")           ? tern_image_mix(x, step.amount)
           : IS("cutmix")          ? tern_image_cut(x, &box)
                                   : NULL;
}

// ---- comparing ----------------------------------------------------------------------------------

// Images from 0 to 1 within 1e-6, or of the same bits.
static void compare(tern_tensor *t, const golden_array *stored, bool exact)
{
    if (!t)
        fail_msg("%s", tern_error_message());
    array got = array_of_tensor(t), want = golden_to_array(stored);
    assert_int_equal(got.dtype, want.dtype);
    assert_true(tern_shape_equal(got.shape, want.shape));
    real worst = 0;
    for (int64_t i = 0; i < got.numel; i++)
        worst = fmaxl(worst, fabsl(got.data[i] - want.data[i]));
    if (!(worst <= (exact ? 0 : 1e-6L)))
        fail_msg("%.3Lg away from torchvision's", worst);
    array_free(&got);
    array_free(&want);
}

static void run_case(void **state)
{
    const golden_case *g = *state;
    tern_scope scope = tern_scope_open();
    const golden_case *input = golden_find("transforms", golden_text(g, "input"));
    tern_tensor *x = golden_tensor(golden_find_array(input, "x"), device);
    compare(call(g, x), golden_find_array(g, "y"), whole(g, "exact") != 0);
    if (golden_find_array(g, "labels")) {
        tern_tensor *labels = tern_from_data(tern_dims(2), ((int64_t[]){3, 1}), .device = device);
        tern_tensor *y = tern_to_dtype(tern_one_hot(labels, 5), TERN_FLOAT32);
        compare(tern_image_mix(y, golden_number(g, "amount", 0)), golden_find_array(g, "labels"),
                false);
    }
    assert_no_error();
    tern_scope_close(scope);
}

int main(int argc, char **argv)
{
    const golden_file *file = golden_read("transforms");
    if (tern_device_parse(argc > 1 ? argv[1] : "cpu", &device))
        return tern_error_print(stderr);
    size_t count = 0;
    for (int i = 0; i < file->count && count < MAX_TESTS; i++)
        if (golden_text(&file->cases[i], "op"))
            tests[count++] = (struct CMUnitTest){file->cases[i].name, run_case, NULL, NULL,
                                                 (void *)(uintptr_t)&file->cases[i]};
    return _cmocka_run_group_tests("transforms_golden", tests, count, NULL, NULL);
}
