// SPDX-License-Identifier: Apache-2.0
// data.h
#include "errors.h"

#define LIST(...) ((tern_tensor *[]){__VA_ARGS__})
#define NO_DATASET(function, op, ...)                                                              \
    REFUSES(function, "a dataset that is NULL", TERN_ERR_NULL, op ": dataset is NULL", __VA_ARGS__)

// ---- datasets -----------------------------------------------------------------------------------

CANNOT_FAIL(tern_dataset_retain, "NULL stays NULL", !tern_dataset_retain(NULL))
// The second time only the loader has a reference.
static int free_twice(tern_tensor *x)
{
    tern_dataset *dataset = tern_data_tensors(x);
    tern_loader *loader = tern_loader_new(dataset);
    tern_dataset_free(dataset);
    tern_dataset_free(dataset);
    tern_loader_free(loader);
    return 1;
}

REFUSES(tern_dataset_free, "a dataset that only a loader still holds", TERN_ERR_STATE,
        "dataset_free: data_tensors was freed already|loader", free_twice(f->x))
TAKES(tern_dataset_retain, "NULL", tern_dataset_retain(NULL) == NULL)
TAKES(tern_dataset_free, "NULL", (tern_dataset_free(NULL), 1))
NO_DATASET(tern_dataset_count, "dataset_count", tern_dataset_count(NULL) == -1)

static tern_batch unread;
static const int64_t zero, two = 2, below = -1;

static tern_status get(tern_dataset *dataset, const int64_t *index, int64_t count)
{
    tern_status status = tern_dataset_get(dataset, index, count, &unread);
    return unread.count == 0 && unread.x == NULL ? status : TERN_OK;
}

NO_DATASET(tern_dataset_get, "dataset_get", get(NULL, &zero, 1))
REFUSES(tern_dataset_get, "an index that is NULL", TERN_ERR_NULL, "dataset_get: index is NULL",
        get(f->dataset, NULL, 1))
REFUSES(tern_dataset_get, "out that is NULL", TERN_ERR_NULL, "dataset_get: out is NULL",
        tern_dataset_get(f->dataset, &zero, 1, NULL))
REFUSES(tern_dataset_get, "no samples", TERN_ERR_ARG, "dataset_get: count is 0",
        get(f->dataset, &zero, 0))
REFUSES(tern_dataset_get, "a number past the end", TERN_ERR_INDEX,
        "dataset_get: index[0] is 2|0 to 1", get(f->dataset, &two, 1))
REFUSES(tern_dataset_get, "a negative number", TERN_ERR_INDEX, "dataset_get: index[0] is -1|0 to 1",
        get(f->dataset, &below, 1))

static tern_sample unlooked;

static tern_status item_of(tern_dataset *dataset, int64_t index)
{
    tern_status status = tern_dataset_item(dataset, index, &unlooked);
    return unlooked.count == 0 && unlooked.x == NULL ? status : TERN_OK;
}

NO_DATASET(tern_dataset_item, "dataset_item", item_of(NULL, 0))
REFUSES(tern_dataset_item, "out that is NULL", TERN_ERR_NULL, "dataset_item: out is NULL",
        tern_dataset_item(f->dataset, 0, NULL))
REFUSES(tern_dataset_item, "a number past the end", TERN_ERR_INDEX,
        "dataset_item: index is 2|0 to 1", item_of(f->dataset, 2))
REFUSES(tern_dataset_item, "a negative number", TERN_ERR_INDEX, "dataset_item: index is -1|0 to 1",
        item_of(f->dataset, -1))

// ---- a sample's random numbers ------------------------------------------------------------------

static const tern_sample_context any_epoch = {.seed = 3, .epoch = 1};

REFUSES(tern_sample_rand, "a context that is NULL", TERN_ERR_NULL, "sample_rand: context is NULL",
        isnan(tern_sample_rand(NULL, 0, 0)))
REFUSES(tern_sample_rand, "a draw before the first", TERN_ERR_ARG,
        "sample_rand: k is -1|0 to 4294967295", isnan(tern_sample_rand(&any_epoch, 0, -1)))
REFUSES(tern_sample_randint, "a context that is NULL", TERN_ERR_NULL,
        "sample_randint: context is NULL", tern_sample_randint(NULL, 0, 0, 5, 9) == 5)
REFUSES(tern_sample_randint, "a draw past the last", TERN_ERR_ARG,
        "sample_randint: k is 4294967296|0 to 4294967295",
        tern_sample_randint(&any_epoch, 0, INT64_C(1) << 32, 5, 9) == 5)
REFUSES(tern_sample_randint, "bounds with nothing between", TERN_ERR_ARG,
        "sample_randint: low is 5 and high 5", tern_sample_randint(&any_epoch, 0, 0, 5, 5) == 5)

NO_DATASET(tern_dataset_to, "dataset_to", tern_dataset_to(NULL, tern_cpu(0)) == NULL)
REFUSES(tern_dataset_to, "a device that does not exist", TERN_ERR_DEVICE, "dataset_to: |cpu:2",
        tern_dataset_to(f->dataset, tern_cpu(2)))

REFUSES(tern_data_mnist_with, "options that are NULL", TERN_ERR_NULL, "data_mnist: options is NULL",
        tern_data_mnist_with(NULL))
REFUSES(tern_data_mnist_with, "a directory that is NULL", TERN_ERR_NULL,
        "data_mnist: directory is NULL", tern_data_mnist(NULL, TERN_TRAIN))
REFUSES(tern_data_mnist_with, "no split", TERN_ERR_ARG, "data_mnist: |split|TERN_TRAIN|TERN_TEST",
        tern_data_mnist("/", TERN_SPLIT_UNSPECIFIED))
REFUSES(tern_data_mnist_with, "a directory that is not there", TERN_ERR_IO,
        "data_mnist: |/nowhere/at-all", tern_data_mnist("/nowhere/at-all", TERN_TRAIN))
REFUSES(tern_data_mnist_with, "a directory without the files", TERN_ERR_IO,
        "data_mnist: /dev|t10k-images-idx3-ubyte", tern_data_mnist("/dev", TERN_TEST))
REFUSES(tern_data_mnist_with, "no classes", TERN_ERR_ARG, "data_mnist: classes is 0|1 to 256",
        tern_data_mnist("/dev", TERN_TRAIN, .classes = 0))

REFUSES(tern_data_tensors_new, "tensors that are NULL", TERN_ERR_NULL,
        "data_tensors: tensors is NULL", tern_data_tensors_new(1, NULL))
REFUSES(tern_data_tensors_new, "a NULL among them", TERN_ERR_NULL, "data_tensors: |NULL",
        tern_data_tensors_new(2, LIST(f->x, NULL)))
REFUSES(tern_data_tensors_new, "one that died", TERN_ERR_STATE,
        "data_tensors: |(float32 (2, 3)|died", tern_data_tensors_new(2, LIST(f->x, f->dead)))
REFUSES(tern_data_tensors_new, "none", TERN_ERR_ARG, "data_tensors: |0|1 to 8",
        tern_data_tensors_new(0, LIST(f->x)))
REFUSES(tern_data_tensors_new, "nine", TERN_ERR_ARG, "data_tensors: |9|1 to 8",
        tern_data_tensors_new(9, LIST(f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x, f->x)))
REFUSES(tern_data_tensors_new, "numbers of samples that differ", TERN_ERR_SHAPE,
        "data_tensors: |(2, 3)|(4, 5)", tern_data_tensors_new(2, LIST(f->x, f->wide)))
REFUSES(tern_data_tensors_new, "a 0-dim tensor", TERN_ERR_SHAPE,
        "data_tensors: tensor 0 has no dimension", tern_data_tensors_new(1, LIST(f->scalar)))

// ---- a dataset of one's own ---------------------------------------------------------------------

static int64_t four(const tern_dataset *self)
{
    (void)self;
    return 4;
}

static int64_t less_than_none(const tern_dataset *self)
{
    (void)self;
    return -7;
}

static tern_status give_nothing(const tern_dataset *self, const tern_sample_context *context,
                                const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    (void)self;
    (void)index;
    (void)count;
    (void)out;
    return TERN_OK;
}

static tern_status give_too_few(const tern_dataset *self, const tern_sample_context *context,
                                const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    (void)self;
    (void)index;
    out->at[out->count++] = tern_zeros(tern_dims(count + 1, 3));
    return TERN_OK;
}

static tern_status give_null(const tern_dataset *self, const tern_sample_context *context,
                             const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    (void)self;
    (void)index;
    (void)count;
    out->at[out->count++] = NULL;
    return TERN_OK;
}

static tern_status fail_without_a_word(const tern_dataset *self, const tern_sample_context *context,
                                       const int64_t *index, int64_t count, tern_batch *out)
{
    (void)context;
    (void)self;
    (void)index;
    (void)count;
    (void)out;
    return TERN_ERR_UNSUPPORTED;
}

REFUSES(tern_dataset_new, "a class that is NULL", TERN_ERR_NULL,
        "dataset_new: dataset_class is NULL", tern_dataset_new(NULL))
REFUSES(tern_dataset_new, "a class without a count", TERN_ERR_NULL,
        "dataset_new: the class's count is NULL",
        tern_dataset_new(&(tern_dataset_class){
            .name = "odd", .size = sizeof(tern_dataset), .get = give_nothing}))
REFUSES(tern_dataset_new, "a class without item and get", TERN_ERR_NULL,
        "dataset_new: the class's item is NULL",
        tern_dataset_new(&(tern_dataset_class){
            .name = "odd", .size = sizeof(tern_dataset), .count = four}))
REFUSES(tern_dataset_new, "a size too small for a dataset", TERN_ERR_ARG,
        "dataset_new: |odd|3 bytes",
        tern_dataset_new(&(tern_dataset_class){
            .name = "odd", .size = 3, .count = four, .get = give_nothing}))

static tern_status get_from(tern_dataset_count_fn *size, tern_dataset_get_fn *give)
{
    static tern_dataset_class own = {.name = "own", .size = sizeof(tern_dataset)};
    own.count = size;
    own.get = give;
    tern_dataset *dataset = tern_dataset_new(&own);
    tern_status status = get(dataset, &zero, 1);
    tern_dataset_free(dataset);
    return status;
}

REFUSES(tern_dataset_get, "a dataset of less than no samples", TERN_ERR_STATE,
        "dataset_get: own|-7", get_from(less_than_none, give_nothing))
REFUSES(tern_dataset_get, "a dataset that gives nothing", TERN_ERR_ARG,
        "dataset_get: own gave 0 tensors", get_from(four, give_nothing))
REFUSES(tern_dataset_get, "a dataset that gives another number", TERN_ERR_SHAPE,
        "dataset_get: own|(2, 3)|1 samples", get_from(four, give_too_few))
REFUSES(tern_dataset_get, "a dataset that gives NULL", TERN_ERR_NULL, "dataset_get: x is NULL",
        get_from(four, give_null))
REFUSES(tern_dataset_get, "a dataset that does not say why", TERN_ERR_UNSUPPORTED,
        "dataset_get: own|why", get_from(four, fail_without_a_word))

// ---- one that makes single samples --------------------------------------------------------------

static tern_status item_nothing(const tern_dataset *self, const tern_sample_context *context,
                                int64_t index, tern_sample *out)
{
    (void)self, (void)context, (void)index, (void)out;
    return TERN_OK;
}

static tern_status item_null(const tern_dataset *self, const tern_sample_context *context,
                             int64_t index, tern_sample *out)
{
    (void)self, (void)context, (void)index;
    out->at[out->count++] = NULL;
    return TERN_OK;
}

static tern_status item_without_a_word(const tern_dataset *self, const tern_sample_context *context,
                                       int64_t index, tern_sample *out)
{
    (void)self, (void)context, (void)index, (void)out;
    return TERN_ERR_IO;
}

// Each is longer than the one before.
static tern_status item_growing(const tern_dataset *self, const tern_sample_context *context,
                                int64_t index, tern_sample *out)
{
    (void)self, (void)context;
    out->at[out->count++] = tern_zeros(tern_dims(index + 1));
    return TERN_OK;
}

// The first by tern_dataset_item, the first two together by tern_dataset_get.
static tern_status made_by(tern_dataset_item_fn *item, bool together)
{
    static tern_dataset_class own = {.name = "own", .size = sizeof(tern_dataset), .count = four};
    own.item = item;
    tern_dataset *dataset = tern_dataset_new(&own);
    tern_status status = together ? get(dataset, (const int64_t[]){0, 1}, 2) : item_of(dataset, 0);
    tern_dataset_free(dataset);
    return status;
}

REFUSES(tern_dataset_item, "a dataset that gives nothing", TERN_ERR_ARG,
        "dataset_item: own gave 0 tensors|sample 0 of own", made_by(item_nothing, false))
REFUSES(tern_dataset_item, "a dataset that gives NULL", TERN_ERR_NULL,
        "dataset_item: x is NULL|sample 0 of own", made_by(item_null, false))
REFUSES(tern_dataset_item, "a dataset that does not say why", TERN_ERR_IO,
        "dataset_item: own|why|sample 0 of own", made_by(item_without_a_word, false))
REFUSES(tern_dataset_get, "a sample that cannot be made", TERN_ERR_IO,
        "dataset_get: own|why|sample 0 of own", made_by(item_without_a_word, true))
REFUSES(tern_dataset_get, "a sample unlike the first", TERN_ERR_SHAPE,
        "dataset_get: sample 1 of own: tensor 0 is (2,) float32, but sample 0 gave (1,) float32",
        made_by(item_growing, true))

static tern_status stay(tern_dataset *dataset, tern_device device)
{
    (void)dataset;
    (void)device;
    return TERN_ERR_UNSUPPORTED;
}

static tern_dataset *moved(tern_dataset_to_fn *to)
{
    static tern_dataset_class own = {.name = "own", .size = sizeof(tern_dataset)};
    own.count = four;
    own.get = give_nothing;
    own.to = to;
    tern_dataset *dataset = tern_dataset_new(&own);
    tern_dataset *same = tern_dataset_to(dataset, tern_cpu(1));
    tern_dataset_free(dataset);
    return same;
}

REFUSES(tern_dataset_to, "a class that cannot be moved", TERN_ERR_UNSUPPORTED,
        "dataset_to: own|cpu:1|no `to`|.device", moved(NULL))
REFUSES(tern_dataset_to, "a class that does not say why", TERN_ERR_UNSUPPORTED,
        "dataset_to: own|cpu:1|why", moved(stay))

// ---- loader -------------------------------------------------------------------------------------

CANNOT_FAIL(tern_loader_free, "NULL is fine", (tern_loader_free(NULL), 1))
TAKES(tern_loader_free, "NULL", (tern_loader_free(NULL), 1))
REFUSES(tern_loader_new_with, "options that are NULL", TERN_ERR_NULL, "loader_new: options is NULL",
        tern_loader_new_with(NULL))
NO_DATASET(tern_loader_new_with, "loader_new", tern_loader_new(NULL))
REFUSES(tern_loader_new_with, "batches of nothing", TERN_ERR_ARG, "loader_new: batch_size is 0",
        tern_loader_new(f->dataset, .batch_size = 0))
REFUSES(tern_loader_new_with, "a device that does not exist", TERN_ERR_DEVICE, "loader_new: |cpu:2",
        tern_loader_new(f->dataset, .device = tern_cpu(2)))

#define NO_LOADER(name, ...)                                                                       \
    REFUSES(tern_loader_##name, "a loader that is NULL", TERN_ERR_NULL,                            \
            "loader_" #name ": loader is NULL", __VA_ARGS__)
NO_LOADER(next, !tern_loader_next(NULL, &unread))
NO_LOADER(reset, (tern_loader_reset(NULL), 1))
NO_LOADER(batches, tern_loader_batches(NULL) == -1)
NO_LOADER(epoch, tern_loader_epoch(NULL) == -1)
NO_LOADER(position, tern_loader_position(NULL) == -1)
REFUSES(tern_loader_next, "a batch that is NULL", TERN_ERR_NULL, "loader_next: batch is NULL",
        !tern_loader_next(f->loader, NULL))

static int next_of(tern_dataset_count_fn *size, tern_dataset_get_fn *give)
{
    static tern_dataset_class own = {.name = "own", .size = sizeof(tern_dataset)};
    own.count = size;
    own.get = give;
    tern_dataset *dataset = tern_dataset_new(&own);
    tern_loader *loader = tern_loader_new(dataset);
    tern_batch batch = {.count = 5};
    bool more = tern_loader_next(loader, &batch);
    tern_loader_free(loader);
    tern_dataset_free(dataset);
    return !more && batch.count == 0;
}

REFUSES(tern_loader_next, "what the dataset cannot make", TERN_ERR_UNSUPPORTED,
        "loader_next: own|why", next_of(four, fail_without_a_word))
REFUSES(tern_loader_next, "a dataset that gives another number", TERN_ERR_SHAPE,
        "loader_next: own|(2, 3)", next_of(four, give_too_few))
HANDS_ON(tern_loader_next, "of the step before", !tern_loader_next(f->loader, &unread))
TAKES(tern_loader_next, "a loader and a batch", tern_loader_next(f->loader, &unread))

// ---- a loader's state ---------------------------------------------------------------------------

NO_LOADER(state_dict, tern_loader_state_dict(NULL) == NULL)
REFUSES(tern_loader_load_state_dict_with, "options that are NULL", TERN_ERR_NULL,
        "loader_load_state_dict: options is NULL", tern_loader_load_state_dict_with(NULL))
REFUSES(tern_loader_load_state_dict_with, "a loader that is NULL", TERN_ERR_NULL,
        "loader_load_state_dict: loader is NULL", tern_loader_load_state_dict(NULL, NULL))
REFUSES(tern_loader_load_state_dict_with, "a state that is NULL", TERN_ERR_NULL,
        "loader_load_state_dict: state is NULL", tern_loader_load_state_dict(f->loader, NULL))
REFUSES(tern_visit_loader, "a loader that is NULL", TERN_ERR_NULL, "visit_loader: loader is NULL",
        tern_visit_loader(NULL, "n", NULL))
REFUSES(tern_visit_loader, "a visitor that is NULL", TERN_ERR_NULL, "visit_part: visitor is NULL",
        tern_visit_loader(NULL, "n", f->loader))

// The state of a loader of single samples is loaded into one of `batch_size`, with one value
// changed.
static tern_status load_changed(tern_dataset *dataset, int64_t batch_size, const char *name,
                                int64_t value)
{
    tern_loader *from = tern_loader_new(dataset);
    tern_loader *to = tern_loader_new(dataset, .batch_size = batch_size);
    tern_state *state = tern_loader_state_dict(from);
    tern_status status = TERN_OK;
    if (name)
        status = tern_state_set_int(state, name, value);
    if (!status)
        status = tern_loader_load_state_dict(to, state);
    tern_state_free(state);
    tern_loader_free(from);
    tern_loader_free(to);
    return status;
}

REFUSES(tern_loader_load_state_dict_with, "batches of another size", TERN_ERR_ARG,
        "loader_load_state_dict: |batch_size|1 in the state and 2 here",
        load_changed(f->dataset, 2, NULL, 0))
REFUSES(tern_loader_load_state_dict_with, "another number of samples", TERN_ERR_ARG,
        "loader_load_state_dict: |samples|3 in the state and 2 here",
        load_changed(f->dataset, 1, "samples", 3))
REFUSES(tern_loader_load_state_dict_with, "another order", TERN_ERR_ARG,
        "loader_load_state_dict: |shuffle|1 in the state and 0 here",
        load_changed(f->dataset, 1, "shuffle", 1))
REFUSES(tern_loader_load_state_dict_with, "a place that is not there", TERN_ERR_ARG,
        "loader_load_state_dict: |position|3, more than 2",
        load_changed(f->dataset, 1, "position", 3))
REFUSES(tern_loader_load_state_dict_with, "what no loader has", TERN_ERR_ARG,
        "loader_load_state_dict: |extra", load_changed(f->dataset, 1, "extra", 3))

static int states_in_an_inner_loop(tern_loader *loader)
{
    int states = 0;
    tern_each_batch (b, loader)
        tern_each_batch (c, loader)
            states += tern_loader_state_dict(loader) != NULL;
    return states;
}

REFUSES(tern_loader_state_dict, "a loop inside another", TERN_ERR_STATE, "loader_state_dict: |loop",
        states_in_an_inner_loop(f->loader) == 0)

static int batches_of(tern_loader *loader)
{
    int batches = 0;
    tern_each_batch (b, loader)
        batches++;
    return batches;
}

static int batches_after_a_free(fixture *f)
{
    int batches = 0;
    tern_loader *loader = tern_loader_new(f->dataset);
    tern_each_batch (b, loader) {
        batches++;
        tern_loader_free(loader);
    }
    if (batches == 0) // an error was pending
        tern_loader_free(loader);
    return batches;
}

REFUSES(tern_epoch_guard_open_, "a loader that is NULL", TERN_ERR_NULL,
        "each_batch: loader is NULL", batches_of(NULL) == 0)
HANDS_ON(tern_epoch_guard_open_, "of the step before", batches_of(f->loader) == 0)
REFUSES(tern_epoch_guard_next_, "a loader that was freed in the loop", TERN_ERR_STATE,
        "each_batch: this loader was freed", batches_after_a_free(f) < 2)
CANNOT_FAIL(tern_epoch_guard_close_, "a loop that began no epoch",
            (tern_epoch_guard_close_(&(tern_epoch_guard_){0}), 1))
TAKES(tern_epoch_guard_open_, "a loader", batches_of(f->loader) > 0)
