// SPDX-License-Identifier: Apache-2.0
// An example of each constructor of tern/image_data.h, for the site.
#include <sys/stat.h>
#include "examples.h"

// pets/cat/1.png and pets/dog/1.png, all black.
static void write_pets(void)
{
    tern_tensor *image = tern_zeros(tern_dims(3, 32, 48));
    expect(mkdir("pets", 0700) == 0 && mkdir("pets/cat", 0700) == 0);
    expect(mkdir("pets/dog", 0700) == 0);
    expect(tern_image_write("pets/cat/1.png", image) == TERN_OK);
    expect(tern_image_write("pets/dog/1.png", image) == TERN_OK);
}

static void show_data_image_folder(void)
{
    // [tern_data_image_folder]
    tern_dataset *data = tern_data_image_folder("pets"); // pets/cat/1.png, pets/dog/1.png
    const char *name = tern_dataset_class_name(data, 0); // cat
    // [/tern_data_image_folder]
    expect(strcmp(name, "cat") == 0);
    tern_dataset_free(data);
}

static void show_data_pack(void)
{
    // [tern_data_pack]
    if (tern_data_pack("pets", "pets.safetensors", .raw = true)) // of one size
        tern_error_print(stderr);
    // [/tern_data_pack]
    expect(!tern_error_pending());
}

static void show_data_packed(void)
{
    // [tern_data_packed]
    tern_dataset *data = tern_data_packed("pets.safetensors"); // the same samples
    int64_t count = tern_dataset_count(data);
    // [/tern_data_packed]
    expect(count == 2);
    tern_dataset_free(data);
}

int image_data_examples(void)
{
    if (tern_image_reason(TERN_IMAGE_PNG)) // this build cannot run them
        return failures;
    write_pets();
    show_data_image_folder();
    show_data_pack();
    show_data_packed();
    return failures;
}
