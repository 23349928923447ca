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
/// are the dataset's; tern_dataset_to moves it, and the transform then runs there. A stream stays
/// one. NULL on failure: TERN_ERR_NULL; TERN_ERR_ARG for a transform that mixes samples
/// (tern_transform_mixup, tern_transform_cutmix), which takes whole batches: tern_transform_batch.
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
/// above 0, stands for what the option says of a single number; where it says nothing of one, only
/// `low` is set, and `high` stays the default's.
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

// ---- resizing -----------------------------------------------------------------------------------

/// `tern_transform_resize(256)`, `tern_transform_resize(224, 320, .antialias = false)`.
typedef struct tern_transform_resize_options {
    tern_interpolate_mode interpolation; ///< TERN_BILINEAR, TERN_BICUBIC, TERN_NEAREST or
                                         ///< TERN_NEAREST_EXACT
    bool antialias; ///< bilinear and bicubic: a smaller image is made of all pixels
    char reserved_;
    int64_t size;  ///< rows; without a width that of the shorter edge
    int64_t width; ///< columns; 0: the other edge grows or shrinks as the shorter one
} tern_transform_resize_options;

#define TERN_TRANSFORM_RESIZE_DEFAULTS_                                                            \
    .interpolation = TERN_BILINEAR, .antialias = true, .width = 0
#define TERN_TRANSFORM_RESIZE_FIELDS_ 1, 1, (size, width), (int64)
TERN_API tern_transform_resize_options tern_transform_resize_defaults(void);
/// Images of another size. (Resize)
TERN_API tern_transform *tern_transform_resize_with(const tern_transform_resize_options *options);
#define tern_transform_resize(...)                                                                 \
    TERN_WITH_(tern_transform_resize, tern_transform_resize, TERN_TRANSFORM_RESIZE, __VA_ARGS__)

/// `tern_transform_random_resized_crop(224, .scale = {0.2, 1})`.
typedef struct tern_transform_random_resized_crop_options {
    tern_range scale;                    ///< the part's share of the image's area
    tern_range ratio;                    ///< its width by its height; the logarithm is uniform
    tern_interpolate_mode interpolation; ///< as of tern_transform_resize
    bool antialias;                      ///< likewise
    char reserved_;
    int64_t height; ///< of the result
    int64_t width;  ///< likewise; 0: the height
} tern_transform_random_resized_crop_options;

#define TERN_TRANSFORM_RANDOM_RESIZED_CROP_DEFAULTS_                                               \
    .scale = {0.08, 1}, .ratio = {3.0 / 4, 4.0 / 3}, .interpolation = TERN_BILINEAR,               \
    .antialias = true, .width = 0
#define TERN_TRANSFORM_RANDOM_RESIZED_CROP_FIELDS_ 1, 1, (height, width), (int64)
/// What it is unless said.
TERN_API tern_transform_random_resized_crop_options
tern_transform_random_resized_crop_defaults(void);
/// A part of the image whose place, area and ratio are drawn, resized. Where ten draws of an area
/// and a ratio do not fit into the image, the middle of it. (RandomResizedCrop)
TERN_API tern_transform *tern_transform_random_resized_crop_with(
    const tern_transform_random_resized_crop_options *options);
#define tern_transform_random_resized_crop(...)                                                    \
    TERN_WITH_(tern_transform_random_resized_crop, tern_transform_random_resized_crop,             \
               TERN_TRANSFORM_RANDOM_RESIZED_CROP, __VA_ARGS__)

// ---- affine maps --------------------------------------------------------------------------------

/// How far images are moved at most, as shares of their size: `.translate = {0.1, 0.2}`.
typedef struct tern_translation {
    double x; ///< of the width, 0 to 1
    double y; ///< of the height, 0 to 1
} tern_translation;

/// `tern_transform_random_affine(.degrees = 10, .translate = {0.1, 0.1}, .scale = {0.9, 1.1})`.
typedef struct tern_transform_random_affine_options {
    tern_range degrees;                  ///< of the rotation; 10: -10 to 10
    tern_translation translate;          ///< to either side, in whole pixels
    tern_range scale;                    ///< above 0
    tern_range shear;                    ///< degrees along x; 10: -10 to 10
    tern_range shear_y;                  ///< likewise along y
    tern_interpolate_mode interpolation; ///< TERN_NEAREST or TERN_BILINEAR
    tern_channel_list fill;              ///< what lies outside
    char reserved_;
} tern_transform_random_affine_options;

#define TERN_TRANSFORM_RANDOM_AFFINE_DEFAULTS_                                                     \
    .degrees = {0, 0}, .translate = {0, 0}, .scale = {1, 1}, .shear = {0, 0}, .shear_y = {0, 0},   \
    .interpolation = TERN_NEAREST, .fill = {0}
#define TERN_TRANSFORM_RANDOM_AFFINE_FIELDS_ 0, 0, (), ()
TERN_API tern_transform_random_affine_options tern_transform_random_affine_defaults(void);
/// Rotated, moved, scaled and sheared about the middle, for float32. Coordinates are computed in
/// double, torchvision's in float32. (RandomAffine)
TERN_API tern_transform *tern_transform_random_affine_with(
    const tern_transform_random_affine_options *options);
#define tern_transform_random_affine(...)                                                          \
    TERN_WITH_(tern_transform_random_affine, tern_transform_random_affine,                         \
               TERN_TRANSFORM_RANDOM_AFFINE, __VA_ARGS__)

/// `tern_transform_random_rotation(.degrees = 30)`.
typedef struct tern_transform_random_rotation_options {
    tern_range degrees;                  ///< counter-clockwise; 30: -30 to 30
    tern_interpolate_mode interpolation; ///< TERN_NEAREST or TERN_BILINEAR
    tern_channel_list fill;              ///< what lies outside
    char reserved_;
} tern_transform_random_rotation_options;

#define TERN_TRANSFORM_RANDOM_ROTATION_DEFAULTS_                                                   \
    .degrees = {0, 0}, .interpolation = TERN_NEAREST, .fill = {0}
#define TERN_TRANSFORM_RANDOM_ROTATION_FIELDS_ 0, 0, (), ()
TERN_API tern_transform_random_rotation_options tern_transform_random_rotation_defaults(void);
/// Rotated about the middle, for float32; the size stays. (RandomRotation)
TERN_API tern_transform *tern_transform_random_rotation_with(
    const tern_transform_random_rotation_options *options);
#define tern_transform_random_rotation(...)                                                        \
    TERN_WITH_(tern_transform_random_rotation, tern_transform_random_rotation,                     \
               TERN_TRANSFORM_RANDOM_ROTATION, __VA_ARGS__)

// ---- colours ------------------------------------------------------------------------------------

/// `tern_transform_color_jitter(.brightness = 0.4, .hue = 0.1)`.
typedef struct tern_transform_color_jitter_options {
    tern_range brightness; ///< of a factor; 0.4: 0.6 to 1.4, but not below 0; 0: unchanged
    tern_range contrast;   ///< likewise: away from the mean grey
    tern_range saturation; ///< likewise: away from the pixel's grey
    tern_range hue;        ///< turns, -0.5 to 0.5; 0.1: -0.1 to 0.1; 0: unchanged
    char reserved_;
} tern_transform_color_jitter_options;

#define TERN_TRANSFORM_COLOR_JITTER_DEFAULTS_                                                      \
    .brightness = {0, 0}, .contrast = {0, 0}, .saturation = {0, 0}, .hue = {0, 0}
#define TERN_TRANSFORM_COLOR_JITTER_FIELDS_ 0, 0, (), ()
TERN_API tern_transform_color_jitter_options tern_transform_color_jitter_defaults(void);
/// Other colours, in an order that is drawn, for float32 images of 1 or 3 channels from 0 to 1.
/// (ColorJitter)
TERN_API tern_transform *tern_transform_color_jitter_with(
    const tern_transform_color_jitter_options *options);
#define tern_transform_color_jitter(...)                                                           \
    TERN_WITH_(tern_transform_color_jitter, tern_transform_color_jitter,                           \
               TERN_TRANSFORM_COLOR_JITTER, __VA_ARGS__)

/// 0.2989 red + 0.587 green + 0.114 blue, in 1 or 3 channels, for float32 images of 1 or 3.
/// (Grayscale)
TERN_API tern_transform *tern_transform_grayscale(int64_t channels);

/// `tern_transform_trivial_augment()`.
typedef struct tern_transform_trivial_augment_options {
    int64_t bins;                        ///< strengths that are drawn from, >= 2
    tern_interpolate_mode interpolation; ///< TERN_NEAREST or TERN_BILINEAR
    tern_channel_list fill;              ///< what lies outside
    char reserved_;
} tern_transform_trivial_augment_options;

#define TERN_TRANSFORM_TRIVIAL_AUGMENT_DEFAULTS_                                                   \
    .bins = 31, .interpolation = TERN_NEAREST, .fill = {0}
#define TERN_TRANSFORM_TRIVIAL_AUGMENT_FIELDS_ 0, 0, (), ()
TERN_API tern_transform_trivial_augment_options tern_transform_trivial_augment_defaults(void);
/// One change of fourteen, by a strength that is drawn: S. G. Müller and F. Hutter,
/// "TrivialAugment", ICCV 2021, its wide space. For float32 images of 1 or 3 channels from 0 to 1,
/// where torchvision's is for bytes. (TrivialAugmentWide)
TERN_API tern_transform *tern_transform_trivial_augment_with(
    const tern_transform_trivial_augment_options *options);
#define tern_transform_trivial_augment(...)                                                        \
    TERN_WITH_(tern_transform_trivial_augment, tern_transform_trivial_augment,                     \
               TERN_TRANSFORM_TRIVIAL_AUGMENT, __VA_ARGS__)

// ---- erasing and mixing -------------------------------------------------------------------------

/// `tern_transform_random_erasing(.p = 0.25)`.
typedef struct tern_transform_random_erasing_options {
    double p;                ///< probability, 0 to 1
    tern_range scale;        ///< the rectangle's share of the area
    tern_range ratio;        ///< its height by its width; the logarithm is uniform
    tern_channel_list value; ///< what it is filled with
    bool noise;              ///< with normal numbers instead ("random"): float32 only
    char reserved_;
} tern_transform_random_erasing_options;

#define TERN_TRANSFORM_RANDOM_ERASING_DEFAULTS_                                                    \
    .p = 0.5, .scale = {0.02, 0.33}, .ratio = {0.3, 3.3}, .value = {0}, .noise = false
#define TERN_TRANSFORM_RANDOM_ERASING_FIELDS_ 0, 0, (), ()
TERN_API tern_transform_random_erasing_options tern_transform_random_erasing_defaults(void);
/// Erases a rectangle: Z. Zhong et al., "Random Erasing Data Augmentation", AAAI 2020. Where ten
/// draws of an area and a ratio do not fit into the image, none. (RandomErasing)
TERN_API tern_transform *tern_transform_random_erasing_with(
    const tern_transform_random_erasing_options *options);
#define tern_transform_random_erasing(...)                                                         \
    TERN_WITH_(tern_transform_random_erasing, tern_transform_random_erasing,                       \
               TERN_TRANSFORM_RANDOM_ERASING, __VA_ARGS__)

/// `tern_transform_mixup(10)`, `tern_transform_cutmix(10, .alpha = 0.2)`.
typedef struct tern_transform_mix_options {
    double alpha; ///< of Beta(alpha, alpha), which lambda is drawn from; > 0
    char reserved_;
    int64_t classes; ///< labels are 0 to classes - 1
} tern_transform_mix_options;

#define TERN_TRANSFORM_MIX_DEFAULTS_ .alpha = 1
#define TERN_TRANSFORM_MIX_FIELDS_   1, 0, (classes), (int64)
TERN_API tern_transform_mix_options tern_transform_mix_defaults(void);
/// For batches, whose y are labels (N), int64, or probabilities (N, classes), float32:
/// lambda sample[n] + (1 - lambda) sample[n - 1], the first with the last, for x, float32, and for
/// y, which becomes (N, classes). One lambda a batch, drawn by the number of its first sample.
/// H. Zhang et al., "mixup", ICLR 2018. (MixUp)
TERN_API tern_transform *tern_transform_mixup_with(const tern_transform_mix_options *options);
#define tern_transform_mixup(...)                                                                  \
    TERN_WITH_(tern_transform_mixup, tern_transform_mix, TERN_TRANSFORM_MIX, __VA_ARGS__)
/// Likewise, but that a rectangle of each x, the share 1 - lambda of its area about a pixel that is
/// drawn, cut off at the border, comes from the sample before; y is mixed by what it then covers.
/// S. Yun et al., "CutMix", ICCV 2019. (CutMix)
TERN_API tern_transform *tern_transform_cutmix_with(const tern_transform_mix_options *options);
#define tern_transform_cutmix(...)                                                                 \
    TERN_WITH_(tern_transform_cutmix, tern_transform_mix, TERN_TRANSFORM_MIX, __VA_ARGS__)

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

/// What is done to the x of a batch, (N, ..): a tensor with its N, or NULL with a pending error. It
/// depends on each sample alone, and may run on several threads at once.
typedef tern_tensor *tern_transform_lambda_fn(void *user, tern_tensor *x);
/// A function as a transform. `free` is called with `user` when the transform dies, and when this
/// call fails; may be NULL. (Lambda)
TERN_API tern_transform *tern_transform_lambda(tern_transform_lambda_fn *function, void *user,
                                               tern_free_fn *free);

TERN_END_DECLS

#ifdef __cplusplus
template <typename... Values> inline tern_channel_list tern_channels(Values... values)
{
    const double list[] = {0, static_cast<double>(values)...};
    return tern_channel_list_make(static_cast<int>(sizeof...(values)), list + 1);
}
#endif

#endif
