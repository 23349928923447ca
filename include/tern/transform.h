// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is done to images between a dataset and a net: crops, flips, colours, under torchvision's
/// names.
///
///     tern_transform *augment = tern_transform_compose(
///         tern_transform_random_crop(28, .padding = 2),
///         tern_transform_random_horizontal_flip(0.5),
///         tern_transform_normalize(tern_channels(0.286), tern_channels(0.353)));
///     tern_dataset *train = tern_data_transform(images, augment);   // holds both
///
/// Images are x of a batch, (N, C, H, W), or of a sample, (C, H, W), on any device; float32, from 0
/// to 1 where colours are concerned; crops, flips and erasing take uint8 as well. What is random
/// about a sample is drawn by tern_sample_rand, so by the seed and epoch of its context and its
/// number alone: neither the batch it is in, nor workers, nor the device change it. Crops, flips
/// and erasing have the same bits on every device, the others are within 1e-6.
///
/// A transform counts its references, is freed by tern_transform_free, and never changes: several
/// threads may use one. Constructors return NULL on failure: TERN_ERR_ARG for numbers out of
/// their range, TERN_ERR_NOMEM.
#ifndef TERN_TRANSFORM_H
#define TERN_TRANSFORM_H

#include <tern/data.h>
#include <tern/ops/resize.h>
#include <tern/options.h>
#include <tern/sizes.h>

TERN_BEGIN_DECLS

/// A change of images, with parameters that may be random.
typedef struct tern_transform tern_transform;

/// One more reference. Returns the transform. NULL stays NULL.
TERN_API tern_transform *tern_transform_retain(tern_transform *transform);
/// Gives a reference back; the last one frees the transform. NULL is fine.
TERN_API void tern_transform_free(tern_transform *transform);

// ---- using them ---------------------------------------------------------------------------------

/// The samples of `dataset` with their x transformed; it holds a reference of both. The dataset
/// draws from another seed than the transform (tern_dataset_get). Classes, names and what is saved
/// are the dataset's; tern_dataset_to moves it, and the transform then runs there. NULL on
/// failure: TERN_ERR_NULL; TERN_ERR_ARG for a transform that mixes samples (tern_transform_mixup,
/// tern_transform_cutmix), which takes whole batches: tern_transform_batch.
TERN_API tern_dataset *tern_data_transform(tern_dataset *dataset, tern_transform *transform);

/// Replaces the tensors of a batch by transformed ones, temporaries of the innermost scope without
/// history; `batch->index` says which samples they are. In a loop over a loader:
///
///     tern_sample_context context = {.seed = 42, .epoch = tern_loader_epoch(loader)};
///     tern_each_batch (b, loader)
///         if (!tern_transform_batch(mixup, &context, &b))
///             step(b.x, b.y);
///
/// Fails as the transform does, and leaves the batch as it was: TERN_ERR_SHAPE and TERN_ERR_DTYPE
/// for an x that it does not take.
TERN_API TERN_NODISCARD tern_status tern_transform_batch(const tern_transform *transform,
                                                         const tern_sample_context *context,
                                                         tern_batch *batch);
/// x (C, H, W) or (N, C, H, W) transformed, to look at: image n is sample n of epoch 0 under
/// `seed`. A temporary of the innermost scope without history. NULL on failure, as
/// tern_transform_batch.
TERN_API TERN_NODISCARD tern_tensor *tern_transform_apply(const tern_transform *transform,
                                                          tern_tensor *x, uint64_t seed);

/// One after another, each with random numbers of its own. Takes over the references of its parts,
/// also when it fails; a part that is NULL has failed before. NULL on failure.
TERN_API tern_transform *tern_transform_compose_new(int64_t count, tern_transform *const *parts);
/// `tern_transform_compose(crop, flip, normalize)`.
#define tern_transform_compose(...)                                                                \
    TERN_ITEMS_(tern_transform *, (NULL), tern_transform_compose_new, __VA_ARGS__)

// ---- numbers of options -------------------------------------------------------------------------

/// Channels of an image, at most.
#define TERN_MAX_CHANNELS 16

/// A number for each channel, or one for all. Made by tern_channels; of zeros it is a 0 for all.
typedef struct tern_channel_list {
    int count;                    ///< 0, 1, or the number of channels
    double at[TERN_MAX_CHANNELS]; ///< the numbers
} tern_channel_list;

/// Numbers from an array. More than TERN_MAX_CHANNELS are kept as a count, which every user
/// refuses.
TERN_API tern_channel_list tern_channel_list_make(int count, const double *values)
    TERN_READS_(2, 1);

#ifndef __cplusplus
/// Numbers of channels: `tern_channels(0.485, 0.456, 0.406)`, `tern_channels(0.5)`.
#define tern_channels(...)                                                                         \
    tern_channel_list_make((int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                \
                           (double[]){__VA_ARGS__})
#endif

/// From which a number is drawn, uniformly: `.scale = {0.8, 1.2}`. In C `.degrees = 10`, one number
/// above 0, stands for what the option says of a single number.
typedef struct tern_range {
    double low;  ///< the least
    double high; ///< at least that; 0 below `low`: `low` is a single number
} tern_range;

// ---- values -------------------------------------------------------------------------------------

/// uint8 to float32, divided by 255; float32 stays as it is. (ToDtype(float32, scale=True))
TERN_API tern_transform *tern_transform_to_float(void);
/// (x - mean) / std, for float32; std is not 0. (Normalize)
TERN_API tern_transform *tern_transform_normalize(tern_channel_list mean, tern_channel_list std);

// ---- crops and flips ----------------------------------------------------------------------------

/// `tern_transform_random_crop(28, .padding = 2)`, `tern_transform_random_crop(224, 320)`.
typedef struct tern_transform_random_crop_options {
    tern_sizes padding;         ///< of each side, >= 0: of rows, of columns
    bool pad_if_needed;         ///< pads an image that is too small, as much as it takes
    tern_channel_list fill;     ///< what constant padding consists of
    tern_pad_mode padding_mode; ///< constant, reflect (less than the size) or replicate ("edge")
    char reserved_;
    int64_t height; ///< of the result
    int64_t width;  ///< likewise; 0: the height
} tern_transform_random_crop_options;

#define TERN_TRANSFORM_RANDOM_CROP_DEFAULTS_                                                       \
    .padding = TERN_EACH_(0), .pad_if_needed = false, .fill = {0},                                 \
    .padding_mode = TERN_PAD_CONSTANT, .width = 0
#define TERN_TRANSFORM_RANDOM_CROP_FIELDS_ 1, 1, (height, width), (int64)
TERN_API tern_transform_random_crop_options tern_transform_random_crop_defaults(void);
/// A window of the padded image, at a place that is drawn. An image that is smaller is
/// TERN_ERR_SHAPE. (RandomCrop)
TERN_API tern_transform *tern_transform_random_crop_with(
    const tern_transform_random_crop_options *options);
#define tern_transform_random_crop(...)                                                            \
    TERN_WITH_(tern_transform_random_crop, tern_transform_random_crop, TERN_TRANSFORM_RANDOM_CROP, \
               __VA_ARGS__)

/// The middle of the image, (.., height, width); zeros around one that is smaller. (CenterCrop)
TERN_API tern_transform *tern_transform_center_crop(int64_t height, int64_t width);
/// Mirrored from left to right with probability p, 0 to 1. (RandomHorizontalFlip)
TERN_API tern_transform *tern_transform_random_horizontal_flip(double p);
/// Mirrored from top to bottom with probability p, 0 to 1. (RandomVerticalFlip)
TERN_API tern_transform *tern_transform_random_vertical_flip(double p);

// ---- a transform of your own --------------------------------------------------------------------

/// Transforms a batch: sets `batch->at[]` to new tensors, whose first size is `batch->size`; what
/// they were belongs to others and is not changed. x and y are filled in by the caller; size,
/// count and index stay. Sample n may use tern_sample_rand(context, batch->index[n], k) for k from
/// `first_draw` to `first_draw + self->draws - 1`. Runs without recording, perhaps on several
/// threads at once. An error that is pending afterwards is a failure, whatever is returned.
typedef tern_status tern_transform_apply_fn(const tern_transform *self,
                                            const tern_sample_context *context, int64_t first_draw,
                                            tern_batch *batch);
/// Frees what the transform holds, but not `self`.
typedef void tern_transform_free_fn(tern_transform *self);

/// A kind of transform; static storage. Initialise it by name: members may be added in the middle.
typedef struct tern_transform_class {
    const char *name;               ///< in messages
    size_t size;                    ///< bytes of the struct that begins with a tern_transform
    int64_t draws;                  ///< random numbers of a sample, at most
    tern_transform_apply_fn *apply; ///< required
    tern_transform_free_fn *free;   ///< may be NULL
    bool mixes; ///< a sample's result depends on the others of its batch, so that it is no
                ///< transform of a dataset
} tern_transform_class;

/// The first member of every transform's struct.
struct tern_transform {
    const tern_transform_class *klass; ///< set by tern_transform_new
    int64_t draws;                     ///< likewise, the class's; a constructor may change it
    bool mixes;                        ///< likewise
    int64_t refs_;                     ///< the library's own
};

/// A transform with one reference, the rest of its struct zeroed. NULL on failure.
TERN_API tern_transform *tern_transform_new(const tern_transform_class *transform_class);

/// `function(user, x)` for the x of a batch, (N, ..); the result has its N. It must depend on each
/// sample alone, may run on several threads at once, and returns NULL with a pending error to
/// fail. `free` is called with `user` when the transform dies, and when this call fails; may be
/// NULL. (Lambda)
TERN_API tern_transform *tern_transform_lambda(tern_tensor *(*function)(void *user, tern_tensor *x),
                                               void *user, tern_free_fn *free);

TERN_END_DECLS

#ifdef __cplusplus
template <typename... Values> inline tern_channel_list tern_channels(Values... values)
{
    const double list[] = {0, static_cast<double>(values)...};
    return tern_channel_list_make(static_cast<int>(sizeof...(values)), list + 1);
}
#endif

#endif
