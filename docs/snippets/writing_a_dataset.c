// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/writing-a-dataset.md.
#include "check.h"

// [noisy]
// Sample i is (i, i + noise).
typedef struct noisy {
    tern_dataset base; // first
    int64_t count;
} noisy;

static int64_t noisy_count(const tern_dataset *self)
{
    return ((const noisy *)self)->count;
}

static tern_status noisy_item(const tern_dataset *self, const tern_sample_context *context,
                              int64_t index, tern_sample *out)
{
    (void)self;
    tern_tensor *x = tern_full(tern_dims(1), (double)index, .device = tern_cpu(0));
    out->at[out->count++] = x;
    out->at[out->count++] = tern_add_scalar(x, tern_sample_rand(context, index, 0));
    return tern_error_code();
}

static const tern_dataset_class noisy_class = {
    .name = "noisy", .size = sizeof(noisy), .count = noisy_count, .item = noisy_item};
// [/noisy]

static tern_dataset *noisy_new(int64_t count)
{
    // [new]
    noisy *set = (noisy *)tern_dataset_new(&noisy_class);
    if (set)
        set->count = count;
    // [/new]
    return (tern_dataset *)set;
}

// [shifted]
// The samples of another dataset, whose x (C, H, W) is moved by up to `pixels` in both directions.
typedef struct shifted {
    tern_dataset base;
    tern_dataset *inner; // a reference of its own
    int64_t pixels;
} shifted;

static int64_t shifted_count(const tern_dataset *self)
{
    return tern_dataset_count(((const shifted *)self)->inner);
}

static tern_status shifted_item(const tern_dataset *dataset, const tern_sample_context *context,
                                int64_t index, tern_sample *out)
{
    const shifted *self = (const shifted *)dataset;
    const int64_t p = self->pixels;
    if (tern_dataset_item(self->inner, index, out))
        return tern_error_code();
    tern_shape size = tern_shape_of(out->x);
    tern_tensor *full = tern_zeros(tern_dims(size.dim[0], size.dim[1] + 2 * p, size.dim[2] + 2 * p),
                                   .device = tern_device_of(out->x));
    tern_copy_(tern_narrow(tern_narrow(full, 1, p, size.dim[1]), 2, p, size.dim[2]), out->x);
    int64_t top = tern_sample_randint(context, index, 0, 0, 2 * p + 1);
    int64_t left = tern_sample_randint(context, index, 1, 0, 2 * p + 1);
    out->at[0] = tern_narrow(tern_narrow(full, 1, top, size.dim[1]), 2, left, size.dim[2]);
    return tern_error_code();
}

static void shifted_free(tern_dataset *self)
{
    tern_dataset_free(((shifted *)self)->inner);
}

static const tern_dataset_class shifted_class = {
    .name = "shifted",
    .size = sizeof(shifted),
    .count = shifted_count,
    .item = shifted_item,
    .free = shifted_free,
};

static tern_dataset *shifted_new(tern_dataset *inner, int64_t pixels)
{
    shifted *self = (shifted *)tern_dataset_new(&shifted_class);
    if (!self)
        return NULL;
    self->inner = tern_dataset_retain(inner);
    self->pixels = pixels;
    return &self->base;
}
// [/shifted]

static tern_status ragged_item(const tern_dataset *self, const tern_sample_context *context,
                               int64_t index, tern_sample *out)
{
    (void)self, (void)context;
    out->at[out->count++] = tern_zeros(tern_dims(3, index < 17 ? 5 : 4));
    return tern_error_code();
}

static const tern_dataset_class ragged_class = {
    .name = "lines", .size = sizeof(noisy), .count = noisy_count, .item = ragged_item};

static tern_status broken_item(const tern_dataset *self, const tern_sample_context *context,
                               int64_t index, tern_sample *out)
{
    (void)self, (void)context, (void)index;
    out->at[out->count++] = tern_idx_read("image-17.idx");
    return tern_error_code();
}

static const tern_dataset_class broken_class = {
    .name = "photos", .size = sizeof(noisy), .count = noisy_count, .item = broken_item};

static void refused(const tern_dataset_class *class_of_it, tern_status code)
{
    tern_dataset *set = tern_dataset_new(class_of_it);
    ((noisy *)set)->count = 20;
    tern_loader *loader = tern_loader_new(set, .batch_size = 20);
    tern_each_batch (b, loader)
        expect(false);
    expect_error(code);
    tern_loader_free(loader);
    tern_dataset_free(set);
}

static double sum_of_noise(uint64_t seed)
{
    tern_dataset *set = noisy_new(10);
    tern_manual_seed(seed);
    tern_loader *loader = tern_loader_new(set, .batch_size = 4, .shuffle = true);
    double sum = 0;
    tern_each_batch (b, loader)
        sum += tern_item(tern_sum_all(tern_sub(b.y, b.x)));
    tern_loader_free(loader);
    tern_dataset_free(set);
    return sum;
}

static void shifts(void)
{
    tern_dataset *inner = tern_data_tensors(tern_ones(tern_dims(6, 1, 4, 4)));
    tern_dataset *set = shifted_new(inner, 2);
    tern_dataset_free(inner);
    // [test]
    tern_sample sample;
    assert(tern_dataset_count(set) == 6);
    assert(!tern_dataset_item(set, 5, &sample));
    assert(tern_shape_equal(tern_shape_of(sample.x), tern_dims(1, 4, 4)));
    double first = tern_item(tern_sum_all(sample.x));
    assert(first >= 4 && first <= 16); // 2 to 4 rows and columns of ones are left
    // [/test]
    tern_loader *loader = tern_loader_new(set, .batch_size = 6);
    tern_each_batch (b, loader)
        expect(tern_shape_equal(tern_shape_of(b.x), tern_dims(6, 1, 4, 4)));
    tern_loader_free(loader);
    tern_dataset_free(set);
}

// [sentences]
// Sample i is a sentence, its words as numbers from 1 on, and a class.
typedef struct sentences {
    tern_dataset base; // first
    int64_t count;
    const int64_t *const *words; // of sentence i: words[i][0] to words[i][length[i] - 1]
    const int64_t *length, *label;
} sentences;

static int64_t sentences_count(const tern_dataset *self)
{
    return ((const sentences *)self)->count;
}

// Collates sentences of different lengths: the batch is as wide as its longest one, and what the
// others lack is 0.
static tern_status sentences_get(const tern_dataset *dataset, const tern_sample_context *context,
                                 const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    const sentences *self = (const sentences *)dataset;
    int64_t longest = 0;
    for (int64_t i = 0; i < count; i++)
        if (self->length[index[i]] > longest)
            longest = self->length[index[i]];
    const tern_device cpu = tern_cpu(0);
    tern_tensor *x = tern_zeros(tern_dims(count, longest), .dtype = TERN_INT64, .device = cpu);
    tern_tensor *y = tern_empty(tern_dims(count), .dtype = TERN_INT64, .device = cpu);
    int64_t *row = tern_data(x), *label = tern_data(y);
    for (int64_t i = 0; row && label && i < count; i++, row += longest) {
        label[i] = self->label[index[i]];
        memcpy(row, self->words[index[i]], (size_t)self->length[index[i]] * sizeof *row);
    }
    out->at[out->count++] = x;
    out->at[out->count++] = y;
    return tern_error_code();
}

static const tern_dataset_class sentences_class = {
    .name = "sentences", .size = sizeof(sentences), .count = sentences_count, .get = sentences_get};
// [/sentences]

// Two batches, of sentences of up to 3 and 2 words.
static void sentences_of_different_lengths(void)
{
    static const int64_t one[] = {4}, three[] = {1, 2, 3}, two[] = {5, 6};
    static const int64_t *const words[] = {one, three, two}, length[] = {1, 3, 2};
    sentences *set = (sentences *)tern_dataset_new(&sentences_class);
    set->words = words, set->length = length, set->label = length, set->count = 3;
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = 2);
    double sum = 0, lengths_of_first = 0;
    tern_each_batch (b, loader) {
        // [mask]
        tern_tensor *is_word = tern_to_dtype(tern_ne_scalar(b.x, 0), TERN_FLOAT32); // (N, longest)
        tern_tensor *lengths = tern_sum(is_word, tern_axes(1), false);              // (N)
        // [/mask]
        expect(tern_size(b.x, 1) == (b.size == 2 ? 3 : 2) && tern_size(b.y, 0) == b.size);
        sum += tern_item(tern_sum_all(b.x));
        lengths_of_first += tern_item(tern_select(lengths, 0, 0));
    }
    expect(sum == 21 && lengths_of_first == 3);
    tern_loader_free(loader);
    tern_dataset_free(&set->base);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    double sum = sum_of_noise(3);
    expect(sum > 0 && sum < 10 && sum_of_noise(3) == sum && sum_of_noise(4) != sum);
    shifts();
    sentences_of_different_lengths();
    refused(&ragged_class, TERN_ERR_SHAPE);
    refused(&broken_class, TERN_ERR_IO);
    tern_scope_close(scope);
    return finished();
}
