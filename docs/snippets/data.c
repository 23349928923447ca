// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/data.md.
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const void *bytes, size_t nbytes)
{
    FILE *file = fopen(path, "wb");
    expect(file && fwrite(bytes, 1, nbytes, file) == nbytes && fclose(file) == 0);
}

// Classes cat and dog of four images each.
static void write_photos(void)
{
    static const char *const classes[] = {"cat", "dog"};
    mkdir("photos", 0777);
    for (int c = 0; c < 2; c++) {
        char path[64];
        snprintf(path, sizeof path, "photos/%s", classes[c]);
        mkdir(path, 0777);
        for (int i = 0; i < 4; i++) {
            snprintf(path, sizeof path, "photos/%s/%d.png", classes[c], i);
            expect(!tern_image_write(path, tern_rand(tern_dims(3, 40, 30 + 10 * i))));
        }
    }
}

static void folder(void)
{
    if (tern_image_reason(TERN_IMAGE_PNG)) // this build reads no PNG
        return;
    write_photos();
    // [folder]
    tern_dataset *photos = tern_data_image_folder("photos"); // photos/cat/1.png, photos/dog/7.png
    tern_transform *fit =
        tern_transform_compose(tern_transform_resize(32), tern_transform_center_crop(32, 32));
    tern_dataset *fitting = tern_data_transform(photos, fit);
    tern_dataset *all = tern_data_cache(fitting); // decoded and resized once
    // [/folder]
    tern_dataset *train = NULL, *test = NULL;
    // [split]
    tern_dataset *parts[2];
    if (!tern_data_random_split(all, 2, parts, .fractions = (double[]){0.75, 0.25}))
        train = parts[0], test = parts[1];
    // [/split]
    expect(tern_dataset_count(train) == 6 && tern_dataset_count(test) == 2);
    // [augment]
    tern_transform *change = tern_transform_compose(
        tern_transform_random_crop(32, .padding = 4), tern_transform_random_horizontal_flip(0.5),
        tern_transform_normalize(tern_channels(0.485, 0.456, 0.406),
                                 tern_channels(0.229, 0.224, 0.225)));
    tern_dataset *varied = tern_data_transform(train, change);
    // [/augment]
    // [loader]
    tern_loader *loader = tern_loader_new(varied, .batch_size = 4, .shuffle = true, .workers = 2);
    tern_each_batch (b, loader)
        printf("%lld images\n", (long long)b.size); // b.x (4, 3, 32, 32), b.y (4)
    printf("%.0f %% of the epoch was waiting\n", 100 * tern_loader_wait_share(loader));
    // [/loader]
    expect(!tern_error_pending());
    // [names]
    char path[256];
    tern_sample first;
    if (!tern_dataset_item(test, 0, &first) && tern_dataset_sample_name(test, 0, path, sizeof path))
        printf("%s is a %s\n", path, tern_dataset_class_name(test, (int64_t)tern_item(first.y)));
    // [/names]
    write_file("photos/cat/1.png", "\x89PNG\r\n\x1a\n", 8);
    tern_sample sample;
    expect(tern_dataset_item(photos, 1, &sample) != TERN_OK);
    expect_error(TERN_ERR_FORMAT);
    tern_free(loader, varied, test, train, all, fitting, photos);
    tern_transform_free(change);
    tern_transform_free(fit);
}

static void csv(void)
{
    static const char flowers[] = "length,width,colour,species\n"
                                  "5.1,3.5,red,setosa\n"
                                  "6.2,,blue,virginica\n";
    write_file("train.csv", flowers, sizeof flowers - 1);
    write_file("test.csv", flowers, sizeof flowers - 1);
    // [csv]
    tern_dataset *train = tern_data_csv("train.csv", .label = "species", .fill_empty = true);
    tern_dataset *test =
        tern_data_csv("test.csv", .label = "species", .fill_empty = true, .like = train);
    // [/csv]
    expect(tern_dataset_count(train) == 2 && tern_dataset_count(test) == 2);
    tern_free(train, test);
    static const char ragged[] = "a,b\n1,2\n3\n";
    write_file("ragged.csv", ragged, sizeof ragged - 1);
    expect(!tern_data_csv("ragged.csv"));
    expect_error(TERN_ERR_FORMAT);
}

static void text(void)
{
    write_file("book.txt", "It is a truth universally acknowledged", 38);
    // [text]
    tern_dataset *book = tern_data_text("book.txt", 16, .stride = 8); // y is x, one byte further on
    // [/text]
    expect(tern_dataset_count(book) == 3);
    tern_dataset_free(book);
}

static void samplers(void)
{
    tern_dataset *set = tern_data_tensors(tern_rand(tern_dims(10, 3)));
    double weights[10] = {1, 1, 1, 1, 1, 5, 5, 5, 5, 5};
    // [weighted]
    tern_sampler *sampler = tern_sampler_weighted(weights, 10, 100); // rare classes more often
    tern_loader *loader = tern_loader_new(set, .batch_size = 10, .sampler = sampler);
    // [/weighted]
    expect(tern_loader_batches(loader) == 10);
    tern_free(loader, sampler, set);
}

// [stream]
// The numbers of a file, one a line, until it ends.
typedef struct lines {
    tern_dataset base;
    FILE *file;
} lines;

static tern_status lines_next(tern_dataset *self, const tern_sample_context *context, int64_t index,
                              tern_sample *out)
{
    (void)context, (void)index;
    double number;
    if (fscanf(((lines *)self)->file, "%lf", &number) == 1)
        out->at[out->count++] = tern_full(tern_dims(), number);
    return tern_error_code(); // without a tensor it is the end
}

static const tern_dataset_class lines_class = {
    .name = "lines", .size = sizeof(lines), .next = lines_next};
// [/stream]

static void streams(void)
{
    write_file("numbers.txt", "1 2 3 4 5", 9);
    lines *log = (lines *)tern_dataset_new(&lines_class);
    log->file = fopen("numbers.txt", "r");
    tern_loader *loader = tern_loader_new(&log->base, .batch_size = 2, .workers = 1);
    int64_t samples = 0;
    tern_each_batch (b, loader)
        samples += b.size;
    expect(samples == 5);
    fclose(log->file);
    tern_free(loader, &log->base);
}

static void images(void)
{
    tern_tensor *batch = tern_rand(tern_dims(8, 3, 16, 16));
    // [images]
    tern_tensor *grid = tern_image_grid(batch, .columns = 4);
    if (tern_image_write("batch.png", grid))
        tern_error_print(stderr);
    // [/images]
    expect(!tern_error_pending());
}

int main(void)
{
    char directory[] = "/tmp/tern-docs-XXXXXX";
    if (!mkdtemp(directory) || chdir(directory))
        return 1;
    tern_scope scope = tern_scope_open();
    folder();
    csv();
    text();
    samplers();
    streams();
    images();
    tern_scope_close(scope);
    return finished();
}
