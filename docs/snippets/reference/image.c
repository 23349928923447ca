// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/image.h, for the site.
#include "examples.h"

// Where the build reads no PNG files the examples that do cannot run.
static bool can_read(void)
{
    return !tern_image_reason(TERN_IMAGE_PNG);
}

static void show_image_write(void)
{
    tern_tensor *image = tern_rand(tern_dims(3, 32, 48));
    // [tern_image_write]
    if (tern_image_write("cat.png", image)) // in [0, 1], (3, H, W)
        tern_error_print(stderr);
    // [/tern_image_write]
    expect(!tern_error_pending());
}

static void show_image_read(void)
{
    if (!can_read())
        return;
    // [tern_image_read]
    tern_tensor *bytes = tern_image_read("cat.png"); // uint8 (3, H, W)
    tern_tensor *x = tern_image_read("cat.png", .dtype = TERN_FLOAT32, .channels = 1);
    // [/tern_image_read]
    expect(tern_size(bytes, 2) == 48 && tern_size(x, 0) == 1);
}

static void show_image_decode(void)
{
    unsigned char bytes[1 << 14];
    FILE *file = fopen("cat.png", "rb");
    int64_t nbytes = file ? (int64_t)fread(bytes, 1, sizeof bytes, file) : 0;
    expect(file && fclose(file) == 0);
    if (!can_read())
        return;
    // [tern_image_decode]
    tern_tensor *image = tern_image_decode(bytes, nbytes, .layout = TERN_HWC);
    // [/tern_image_decode]
    expect(tern_size(image, 2) == 3);
}

static void show_image_grid(void)
{
    tern_tensor *batch = tern_rand(tern_dims(10, 3, 32, 32));
    // [tern_image_grid]
    tern_tensor *grid = tern_image_grid(batch, .columns = 5); // (3, 70, 172)
    // [/tern_image_grid]
    expect(tern_size(grid, 1) == 70 && tern_size(grid, 2) == 172);
}

int image_examples(void)
{
    show_image_write();
    show_image_read();
    show_image_decode();
    show_image_grid();
    return failures;
}
