// SPDX-License-Identifier: Apache-2.0
// Reading files, serving batches, printing, walking.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "data/data_test.h"
#include "operations.h"

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

static tern_status get_and_free(tern_dataset *set)
{
    tern_batch b;
    if (!set)
        return tern_error_code();
    tern_status status = tern_dataset_get(set, (const int64_t[]){3, 1}, 2, &b);
    if (!status)
        status = world_see(b.x);
    tern_dataset_free(set);
    return status;
}

static tern_status read_csv(void)
{
    static const char rows[] = "city,n,kind\nRome,1,b\nBern,2,a\nRome,3,c\nOslo,4,a\n";
    write_file("rows.csv", rows, sizeof rows - 1);
    return get_and_free(tern_data_csv(path_of("rows.csv"), .label = "kind"));
}

static tern_status read_text(void)
{
    write_file("text.txt", "To be, or not to be", 19);
    return get_and_free(tern_data_text(path_of("text.txt"), 3, .stride = 2));
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

// Each of the second half through a function, kept, behind those of the first half.
static tern_status negate(const tern_sample_context *context, int64_t index, tern_sample *sample,
                          void *user)
{
    (void)context;
    (void)index;
    (void)user;
    sample->x = tern_neg(sample->x);
    return tern_error_code();
}

static tern_status see_rest(tern_dataset *part[2])
{
    tern_dataset *map = tern_data_map(part[1], negate), *cache = tern_data_cache(map);
    tern_dataset *both = tern_data_concat(part[0], cache);
    tern_batch b;
    tern_status status = tern_dataset_get(both, (const int64_t[]){8, 0, 8}, 3, &b);
    if (!status)
        status = world_see(b.x);
    tern_free(both, cache, map);
    return status;
}

static tern_status compose_datasets(void)
{
    tern_dataset *part[2] = {NULL};
    tern_generator *generator = tern_generator_new(7);
    tern_status status = tern_data_random_split(w.set, 2, part, .fractions = (double[]){0.5, 0.5},
                                                .generator = generator);
    if (!status)
        status = see_rest(part);
    tern_free(part[0], part[1]);
    tern_generator_free(generator);
    return status;
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

// ---- files of states and checkpoints ------------------------------------------------------------

static tern_status prepare_state(void)
{
    TERN_TRY(world_make_net());
    w.state = tern_module_state_dict(w.net);
    if (!w.state)
        return tern_error_code();
    TERN_TRY(tern_state_set_double(w.state, "lr", 0.125));
    return tern_state_set_text(w.state, "kind", "net");
}

static tern_status write_state(void)
{
    return tern_state_write(w.state, path_of("state.safetensors"));
}

static tern_status prepare_file(void)
{
    TERN_TRY(prepare_state());
    return write_state();
}

static tern_status read_state(void)
{
    tern_state *state = tern_state_read(path_of("state.safetensors"));
    tern_status status = state ? TERN_OK : tern_error_code();
    for (int64_t i = 0; !status && i < tern_state_count(state); i++)
        if (tern_state_type_at(state, i) == TERN_STATE_TENSOR)
            status = world_see(tern_state_tensor(state, tern_state_name_at(state, i)));
    tern_state_free(state);
    return status;
}

static tern_status name_parts(void)
{
    TERN_TRY(tern_checkpoint_module(w.checkpoint, "model", w.net));
    TERN_TRY(tern_checkpoint_optim(w.checkpoint, "optim", w.optim));
    TERN_TRY(tern_checkpoint_loader(w.checkpoint, "train", w.loader));
    return tern_checkpoint_generator(w.checkpoint, "order", w.generator);
}

static tern_status make_checkpoint(void)
{
    w.checkpoint =
        tern_checkpoint_new(directory, .keep_last = 1, .keep_best = "accuracy", .mode = TERN_MAX);
    tern_status status = w.checkpoint ? name_parts() : tern_error_code();
    if (status) {
        tern_checkpoint_free(w.checkpoint);
        w.checkpoint = NULL;
    }
    return status;
}

// A net after a step, and a loader in the middle of an epoch.
static tern_status prepare_parts(void)
{
    TERN_TRY(prepare_place());
    TERN_TRY(world_make_net_and_batch());
    TERN_TRY(world_forward());
    w.optim = tern_optim_adam(w.net);
    TERN_TRY(tern_backward(w.loss));
    return tern_optim_step(w.optim);
}

// Over one of a step before, and better than that.
static tern_status prepare_save(void)
{
    unlink(path_of("step-00000001.safetensors"));
    unlink(path_of("step-00000002.safetensors"));
    unlink(path_of("best.safetensors"));
    TERN_TRY(prepare_parts());
    TERN_TRY(make_checkpoint());
    return tern_checkpoint_save(w.checkpoint, 1, .metric = 0.5);
}

static tern_status save_checkpoint(void)
{
    return tern_checkpoint_save(w.checkpoint, 2, .metric = 0.75);
}

static tern_status load_checkpoint(void)
{
    int64_t step;
    const int resumed = tern_checkpoint_resume(w.checkpoint, &step);
    world_see_bytes(&resumed, sizeof resumed);
    return resumed < 0 ? tern_error_code() : TERN_OK;
}

// The newest is damaged, so that it is passed over.
static tern_status prepare_damage(void)
{
    TERN_TRY(prepare_save());
    write_file("step-00000002.safetensors", "damaged", 7);
    return TERN_OK;
}

// What is refused for another reason is refused for that, or for want of memory.
static tern_status refused(tern_status status, tern_status due)
{
    if (status != due)
        return status ? status : tern_error_raise(TERN_ERR_STATE, "it was not refused");
    tern_error_clear();
    return TERN_OK;
}

static tern_status prepare_damage_of_all(void)
{
    TERN_TRY(prepare_damage());
    write_file("step-00000001.safetensors", "", 0);
    write_file("best.safetensors", "PK", 2);
    return TERN_OK;
}

static tern_status load_no_checkpoint(void)
{
    return refused(load_checkpoint(), TERN_ERR_FORMAT);
}

// One part more than the file has.
static tern_status prepare_misfit(void)
{
    static double number;
    TERN_TRY(prepare_save());
    return tern_checkpoint_number(w.checkpoint, "best", &number);
}

static tern_status load_misfit(void)
{
    return refused(load_checkpoint(), TERN_ERR_ARG);
}

// Where no file can be made.
static tern_status prepare_nowhere(void)
{
    TERN_TRY(prepare_parts());
    w.checkpoint = tern_checkpoint_new("/proc");
    return w.checkpoint ? name_parts() : tern_error_code();
}

static tern_status save_nowhere(void)
{
    return refused(save_checkpoint(), TERN_ERR_IO);
}

static tern_status save_weights(void)
{
    return tern_module_save(w.net, path_of("net.safetensors"));
}

static tern_status prepare_weights(void)
{
    TERN_TRY(world_make_net());
    return save_weights();
}

static tern_status load_weights(void)
{
    return tern_module_load(w.net, path_of("net.safetensors"));
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
    {"compose_datasets", 15, .prepare = prepare_single_samples, .run = compose_datasets},
    {"read_csv", 15, .run = read_csv},
    {"read_text", 4, .run = read_text},
    {"move_samples", 8, .prepare = load_mnist, .run = move_samples},
    {"epoch", 10, .prepare = prepare_loader, .run = epoch, .goes_on = true, .keeps = true},
    {"moving_epoch", 24, .prepare = prepare_moving_loader, .run = epoch, .goes_on = true,
     .keeps = true},
    {"get_single_samples", 15, .prepare = prepare_single_samples, .run = get_single_samples},
    {"epoch_of_single_samples", 40, .prepare = prepare_single_samples, .run = epoch,
     .goes_on = true, .keeps = true},
    {"save_and_load_place", 10, .prepare = prepare_place, .run = save_and_load_place},
    {"write_state", 3, .prepare = prepare_state, .run = write_state},
    {"read_state", 10, .prepare = prepare_file, .run = read_state},
    {"make_checkpoint", 5, .prepare = prepare_parts, .run = make_checkpoint},
    {"save_checkpoint", 40, .prepare = prepare_save, .run = save_checkpoint},
    {"load_checkpoint", 60, .prepare = prepare_save, .run = load_checkpoint},
    {"load_older_checkpoint", 60, .prepare = prepare_damage, .run = load_checkpoint, .keeps = true},
    {"load_no_checkpoint", 3, .prepare = prepare_damage_of_all, .run = load_no_checkpoint,
     .keeps = true},
    {"load_misfit", 40, .prepare = prepare_misfit, .run = load_misfit},
    {"save_nowhere", 40, .prepare = prepare_nowhere, .run = save_nowhere},
    {"save_weights", 10, .prepare = world_make_net, .run = save_weights},
    {"load_weights", 15, .prepare = prepare_weights, .run = load_weights},
    {"print_tensor", 3, .prepare = world_make_batch, .run = print_tensor},
    {"print_summary", 25, .prepare = world_make_net_and_batch, .run = print_summary},
    {"walk", 8, .prepare = world_make_net_and_batch, .run = walk},
    {0},
};
