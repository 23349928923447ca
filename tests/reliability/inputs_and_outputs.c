// SPDX-License-Identifier: Apache-2.0
// Reading files, serving batches, printing, walking.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "data/data_test.h"
#include "reliability/operations.h"

// ---- data ---------------------------------------------------------------------------------------

#define SAMPLES 200
#define PIXELS  35

// More bytes than are read at once, packed, and as many labels, plain.
int operations_begin(void)
{
    static unsigned char images[16 + SAMPLES * PIXELS] = {0, 0, 8, 3, 0, 0, 0, SAMPLES,
                                                          0, 0, 0, 5, 0, 0, 0, 7};
    static unsigned char labels[8 + SAMPLES] = {0, 0, 8, 1, 0, 0, 0, SAMPLES};
    static unsigned char packed[2 * sizeof images];
    for (size_t i = 0; i < SAMPLES * PIXELS; i++)
        images[16 + i] = (unsigned char)(i * i >> 3);
    for (int i = 0; i < SAMPLES; i++)
        labels[8 + i] = (unsigned char)(i % 3);
    if (make_directory())
        return -1;
    size_t length = gzip_bytes(packed, sizeof packed, images, sizeof images, false);
    write_file("train-images-idx3-ubyte.gz", packed, length);
    write_file("train-labels-idx1-ubyte", labels, sizeof labels);
    return 0;
}

void operations_end(void)
{
    remove_directory();
}

static tern_status load_mnist(void)
{
    w.set = tern_data_mnist(directory, TERN_TRAIN);
    return w.set ? TERN_OK : tern_error_code();
}

static tern_status read_gzip(void)
{
    return world_see(tern_idx_read(path_of("train-images-idx3-ubyte.gz")));
}

static tern_status read_plain(void)
{
    return world_see(tern_idx_read(path_of("train-labels-idx1-ubyte")));
}

static tern_status prepare_loader(void)
{
    TERN_TRY(load_mnist());
    w.loader = tern_loader_new(w.set, .batch_size = 80, .shuffle = true);
    return w.loader ? TERN_OK : tern_error_code();
}

// Samples of two tensors, the second of which is a view: it is gathered as an operation.
static tern_status prepare_moving_loader(void)
{
    tern_scope scope = tern_scope_open();
    tern_tensor *y = tern_transpose(tern_randn(tern_dims(3, 9)), 0, 1);
    w.set = tern_data_tensors(tern_randn(tern_dims(9, 2)), y);
    tern_scope_close(scope);
    w.generator = tern_generator_new(5);
    w.loader = tern_loader_new(w.set, .batch_size = 4, .shuffle = true, .device = tern_cpu(1),
                               .generator = w.generator);
    return w.loader ? TERN_OK : tern_error_code();
}

static tern_status epoch(void)
{
    tern_batch b;
    while (tern_loader_next(w.loader, &b))
        for (int i = 0; i < b.count; i++)
            TERN_TRY(world_see(b.at[i]));
    return tern_error_code();
}

static tern_status create_loader(void)
{
    w.loader = tern_loader_new(w.set, .batch_size = 4);
    return w.loader ? TERN_OK : tern_error_code();
}

static tern_status get_samples(void)
{
    tern_batch b;
    TERN_TRY(tern_dataset_get(w.set, (const int64_t[]){3, 1}, 2, &b));
    return world_see(b.x);
}

static tern_status move_samples(void)
{
    return tern_dataset_to(w.set, tern_cpu(1)) ? get_samples() : tern_error_code();
}

// ---- single samples -----------------------------------------------------------------------------

static int64_t count_nine(const tern_dataset *self)
{
    (void)self;
    return 9;
}

// A view of something that is drawn, and a number.
static tern_status drawn_item(const tern_dataset *self, const tern_sample_context *context,
                              int64_t index, tern_sample *out)
{
    (void)self;
    tern_tensor *x = tern_full(tern_dims(2, 3), tern_sample_rand(context, index, 0));
    out->at[out->count++] = tern_transpose(tern_add_scalar(x, (double)index), 0, 1);
    out->at[out->count++] = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status prepare_single_samples(void)
{
    static const tern_dataset_class drawn_class = {
        .name = "drawn", .size = sizeof(tern_dataset), .count = count_nine, .item = drawn_item};
    w.set = tern_dataset_new(&drawn_class);
    w.generator = tern_generator_new(5);
    w.loader = tern_loader_new(w.set, .batch_size = 4, .shuffle = true, .generator = w.generator);
    return w.loader ? TERN_OK : tern_error_code();
}

static tern_status get_single_samples(void)
{
    tern_sample sample;
    tern_batch b;
    TERN_TRY(tern_dataset_item(w.set, 5, &sample));
    TERN_TRY(tern_dataset_get(w.set, (const int64_t[]){3, 1}, 2, &b));
    TERN_TRY(world_see(sample.x));
    return world_see(b.x);
}

// ---- a loader's state ---------------------------------------------------------------------------

// In the middle of an epoch.
static tern_status prepare_place(void)
{
    TERN_TRY(prepare_single_samples());
    tern_batch b;
    return tern_loader_next(w.loader, &b) ? TERN_OK : tern_error_code();
}

static tern_status save_and_load_place(void)
{
    tern_state *state = tern_loader_state_dict(w.loader);
    tern_status status = tern_loader_load_state_dict(w.loader, state);
    tern_state_free(state);
    return status;
}

// ---- looking ------------------------------------------------------------------------------------

// What `print` writes is seen.
static tern_status see_text(tern_status (*print)(FILE *))
{
    char text[8192] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    if (!file)
        abort();
    tern_status status = print(file);
    fclose(file);
    if (!status)
        world_see_bytes(text, strlen(text));
    return status;
}

static tern_status print_tensor_to(FILE *file)
{
    return tern_print(w.x, file);
}

static tern_status print_tensor(void)
{
    return see_text(print_tensor_to);
}

static tern_status print_summary_to(FILE *file)
{
    return tern_module_summary_print(w.net, tern_dims(6, 3, 4), file);
}

static tern_status print_summary(void)
{
    return see_text(print_summary_to);
}

static tern_status walk(void)
{
    int64_t counts[] = {tern_module_num_parameters(w.net), tern_module_num_buffers(w.criterion),
                        tern_module_num_elements(w.net, true)};
    world_see_bytes(counts, sizeof counts);
    TERN_TRY(tern_error_code());
    TERN_TRY(world_see(tern_module_buffer_at(w.criterion, 0, NULL, 0)));
    return world_see(tern_module_parameter_at(w.net, 4, NULL, 0));
}

const operation inputs_and_outputs[] = {
    {"load_mnist", 8, .run = load_mnist},
    {"read_gzip", 4, .run = read_gzip},
    {"read_plain", 2, .run = read_plain},
    {"create_loader", 1, .prepare = load_mnist, .run = create_loader},
    {"get_samples", 3, .prepare = load_mnist, .run = get_samples},
    {"move_samples", 8, .prepare = load_mnist, .run = move_samples},
    {"epoch", 10, .prepare = prepare_loader, .run = epoch, .goes_on = true, .keeps = true},
    {"moving_epoch", 24, .prepare = prepare_moving_loader, .run = epoch, .goes_on = true,
     .keeps = true},
    {"get_single_samples", 15, .prepare = prepare_single_samples, .run = get_single_samples},
    {"epoch_of_single_samples", 40, .prepare = prepare_single_samples, .run = epoch,
     .goes_on = true, .keeps = true},
    {"save_and_load_place", 10, .prepare = prepare_place, .run = save_and_load_place},
    {"print_tensor", 3, .prepare = world_make_batch, .run = print_tensor},
    {"print_summary", 25, .prepare = world_make_net_and_batch, .run = print_summary},
    {"walk", 8, .prepare = world_make_net_and_batch, .run = walk},
    {0},
};
