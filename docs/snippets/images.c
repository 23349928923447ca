// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/images.md.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "check.h"

static tern_module *small_net(void)
{
    // [net]
    tern_module *net = tern_nn_sequential(
        tern_nn_conv2d(1, 32, 3, .padding = 1), tern_nn_batch_norm2d(32), tern_nn_relu(),
        tern_nn_max_pool2d(2), // (N, 32, 14, 14)
        tern_nn_conv2d(32, 64, 3, .padding = 1), tern_nn_batch_norm2d(64), tern_nn_relu(),
        tern_nn_max_pool2d(2), // (N, 64, 7, 7)
        tern_nn_flatten(), tern_nn_linear(64 * 7 * 7, 10));
    // [/net]
    return net;
}

static void shapes(void)
{
    tern_module *net = small_net();
    // [summary]
    if (tern_module_summary_print(net, tern_dims(1, 1, 28, 28), stdout))
        tern_error_print(stderr);
    // [/summary]
    tern_module_free(net);
}

static void options(void)
{
    // [options]
    tern_module *a = tern_nn_conv2d(3, 64, 3, .stride = 2, .padding = 1); // both sizes
    tern_module *b = tern_nn_conv2d(3, 64, .kernel_size = {3, 5}, .padding = {1, 2});
    tern_module *c = tern_nn_conv2d(3, 64, 5, .padding = TERN_SAME_PADDING); // 'same'
    tern_module *d = tern_nn_conv2d(64, 64, 3, .groups = 64);                // depthwise
    tern_module *e = tern_nn_conv2d(3, 64, 3, .padding = 1, .padding_mode = TERN_PAD_REFLECT);
    // [/options]
    tern_module *all[] = {a, b, c, d, e};
    for (int i = 0; i < 5; i++) {
        expect(all[i] != NULL);
        tern_module_free(all[i]);
    }
}

static void order(void)
{
    tern_module *net = small_net(), *conv = tern_nn_conv2d(3, 8, 3);
    tern_tensor *photo = tern_rand(tern_dims(2, 32, 48, 3));
    expect(!tern_forward(conv, photo));
    expect_error(TERN_ERR_SHAPE);
    // [order]
    tern_tensor *x = tern_permute(photo, tern_axes(0, 3, 1, 2)); // (N, H, W, C) to (N, C, H, W)
    tern_tensor *y = tern_forward(conv, x);
    // [/order]
    expect(y && tern_size(y, 1) == 8);
    tern_tensor *grey = tern_rand(tern_dims(2, 1, 32, 48));
    // [grey]
    tern_tensor *colours = tern_expand(grey, tern_dims(2, 3, 32, 48)); // shares grey's memory
    // [/grey]
    expect(tern_forward(conv, colours) != NULL);
    expect(!tern_forward(net, tern_rand(tern_dims(2, 1, 32, 32))));
    expect_error(TERN_ERR_SHAPE);
    tern_module_free(conv);
    tern_module_free(net);
}

static void modes(void)
{
    tern_module *norm = tern_nn_batch_norm2d(4);
    tern_tensor *x = tern_rand(tern_dims(8, 4, 5, 5));
    // [modes]
    tern_forward(norm, x);  // training: by the batch; the running statistics follow
    tern_module_eval(norm); // by the running statistics, which stay
    tern_tensor *y = tern_forward(norm, x);
    tern_module_train(norm, true);
    // [/modes]
    expect(y != NULL);
    expect(tern_item(tern_module_buffer(norm, "num_batches_tracked")) == 1);
    tern_module_free(norm);
    // [cumulative]
    norm = tern_nn_batch_norm2d(4, .momentum = NAN); // the mean of all batches so far
    // [/cumulative]
    expect(!tern_forward(norm, tern_rand(tern_dims(1, 4, 1, 1))));
    expect_error(TERN_ERR_SHAPE);
    tern_module_free(norm);
}

static void last_layer(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(8, 4), tern_nn_linear(4, 1000));
    // [last]
    tern_module_requires_grad_(net, false);                     // keep what is there
    if (tern_module_set_child(net, "1", tern_nn_linear(4, 10))) // a new last layer
        tern_error_print(stderr);
    tern_optim *opt = tern_optim_adam(tern_module_child(net, "1"), .lr = 1e-3);
    // [/last]
    expect(opt != NULL);
    tern_optim_free(opt);
    tern_module_free(net);
}

static void functions(void)
{
    tern_tensor *x = tern_rand(tern_dims(2, 3, 8, 8)), *weight = tern_rand(tern_dims(4, 3, 3, 3));
    // [functions]
    tern_tensor *y = tern_conv2d(x, weight, NULL, .padding = 1, .activation = TERN_ACT_RELU);
    tern_tensor *half = tern_avg_pool2d(y, 2);
    tern_tensor *back = tern_interpolate(half, .scale = {2, 2}, .mode = TERN_BILINEAR);
    // [/functions]
    expect(back && tern_size(back, 3) == 8);
}

static void write_pets(void)
{
    tern_tensor *image = tern_rand(tern_dims(3, 8, 12));
    expect(mkdir("pets", 0700) == 0 && mkdir("pets/cat", 0700) == 0);
    expect(mkdir("pets/dog", 0700) == 0);
    expect(tern_image_write("pets/cat/1.png", image) == TERN_OK);
    expect(tern_image_write("pets/dog/1.png", image) == TERN_OK);
}

static void picture(void)
{
    tern_tensor *batch = tern_rand(tern_dims(2, 3, 8, 12));
    // [picture]
    tern_tensor *cat = tern_image_read("pets/cat/1.png", .dtype = TERN_FLOAT32); // (3, H, W)
    tern_tensor *both = tern_image_grid(batch, .columns = 2);                    // of (N, 3, H, W)
    if (!both || tern_image_write("both.png", both))
        tern_error_print(stderr);
    // [/picture]
    expect(tern_size(cat, 2) == 12);
}

static void damage(const char *path)
{
    expect(truncate(path, 20) == 0);
}

static void folder(void)
{
    // [folder]
    tern_dataset *pets = tern_data_image_folder("pets"); // pets/cat/1.png, pets/dog/1.png, ...
    tern_loader *loader = tern_loader_new(pets, .batch_size = 2, .shuffle = true);
    // [/folder]
    expect(tern_loader_batches(loader) == 1);
    // [pack]
    if (tern_data_pack("pets", "pets.safetensors"))
        tern_error_print(stderr);
    tern_dataset *packed = tern_data_packed("pets.safetensors"); // the same samples
    // [/pack]
    expect(tern_dataset_count(packed) == 2);
    damage("pets/dog/1.png");
    tern_sample sample;
    expect(tern_dataset_item(pets, 1, &sample) != TERN_OK);
    expect_error(TERN_ERR_FORMAT);
    tern_loader_free(loader);
    tern_dataset_free(pets);
    tern_dataset_free(packed);
}

// In a folder of their own. Where the build reads no PNG files there is nothing to show but the
// sentence.
static void pictures(void)
{
    char here[] = "/tmp/tern-docs-XXXXXX", command[64];
    if (tern_image_reason(TERN_IMAGE_PNG)) {
        puts("tern: data_image_folder: pets/dog/1.png ends within its PNG header [in sample 1 of "
             "data_image_folder, from dog/1.png]");
        return;
    }
    expect(mkdtemp(here) && chdir(here) == 0);
    write_pets();
    picture();
    folder();
    snprintf(command, sizeof command, "rm -rf %s", here);
    expect(system(command) == 0);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(0);
    shapes();
    options();
    order();
    modes();
    last_layer();
    functions();
    pictures();
    tern_scope_close(scope);
    return finished();
}
