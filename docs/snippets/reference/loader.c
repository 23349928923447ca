// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/loader.h, for the site.
#include "examples.h"

static void show_loader_new(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    tern_dataset *data = tern_data_tensors(x, y);
    // [tern_loader_new]
    tern_loader *loader = tern_loader_new(data, .batch_size = 4, .shuffle = true);
    int64_t batches = tern_loader_batches(loader); // 3 of 10 samples
    // [/tern_loader_new]
    expect(batches == 3);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

static void show_loader_state_dict(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 4);
    // [tern_loader_state_dict]
    tern_state *state = tern_loader_state_dict(loader);
    int64_t count = tern_state_count(state);
    // [/tern_loader_state_dict]
    expect(count > 0);
    tern_state_free(state);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

static void show_loader_load_state_dict(void)
{
    tern_tensor *x = tern_rand(tern_dims(10, 3)), *y = tern_randint(0, 2, tern_dims(10));
    tern_dataset *data = tern_data_tensors(x, y);
    tern_loader *loader = tern_loader_new(data, .batch_size = 4);
    tern_state *state = tern_loader_state_dict(loader);
    // [tern_loader_load_state_dict]
    if (tern_loader_load_state_dict(loader, state))
        tern_error_print(stderr);
    // [/tern_loader_load_state_dict]
    expect(!tern_error_pending());
    tern_state_free(state);
    tern_loader_free(loader);
    tern_dataset_free(data);
}

int loader_examples(void)
{
    show_loader_new();
    show_loader_state_dict();
    show_loader_load_state_dict();
    return failures;
}
