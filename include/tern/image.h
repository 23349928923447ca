// SPDX-License-Identifier: Apache-2.0
/// @file
/// Images: PNG and JPEG files to tensors and back, and many images as one.
///
///     tern_tensor *x = tern_image_read("cat.jpg", .dtype = TERN_FLOAT32); // (3, H, W) in [0, 1]
///     tern_tensor *all = tern_image_grid(batch, .columns = 4);            // of (N, 3, H, W)
///     if (!all || tern_image_write("samples.png", all))
///         tern_error_print(stderr);
///
/// What a file is, is seen from its first bytes, whatever its name. Pixels are those that
/// torchvision's ImageFolder gives, PIL's `Image.open(path).convert("RGB")`. A file is read whole
/// or not at all: a damaged or truncated one is TERN_ERR_FORMAT, with its name in the sentence.
/// PNG is read through libpng and JPEG read and written through libjpeg-turbo, where the build has
/// them; PNG is always written.
///
/// Failed calls return NULL or a status, with an error pending: TERN_ERR_IO when a file cannot be
/// opened, read or written, TERN_ERR_FORMAT for its bytes, TERN_ERR_UNSUPPORTED for a format that
/// this build leaves out, TERN_ERR_ARG, TERN_ERR_NULL, TERN_ERR_NOMEM. Threads: any.
#ifndef TERN_IMAGE_H
#define TERN_IMAGE_H

#include <math.h>
#include <tern/options.h>
#include <tern/dtype.h>
#include <tern/error.h>
#include <tern/scope.h>

TERN_BEGIN_DECLS

/// Formats of files.
typedef enum tern_image_format {
    TERN_IMAGE_FORMAT_UNSPECIFIED = 0, ///< none
    TERN_IMAGE_PNG,                    ///< .png
    TERN_IMAGE_JPEG                    ///< .jpg, .jpeg
} tern_image_format;
/// Why this build does not read a format, "this build has no libpng (meson -Dpng=enabled)"; NULL,
/// and no error, when it does. Static storage.
TERN_API const char *tern_image_reason(tern_image_format format);

/// The order of an image's dimensions.
typedef enum tern_image_layout {
    TERN_IMAGE_LAYOUT_UNSPECIFIED = 0, ///< refused
    TERN_CHW,                          ///< (channels, height, width): a plane a channel
    TERN_HWC                           ///< (height, width, channels): a pixel after the other
} tern_image_layout;

// ---- reading ------------------------------------------------------------------------------------

/// `tern_image_read("cat.png", .dtype = TERN_FLOAT32)`.
typedef struct tern_image_read_options {
    tern_dtype dtype;         ///< TERN_UINT8, or TERN_FLOAT32: byte / 255
    tern_image_layout layout; ///< of the result
    int64_t channels;         ///< 3: RGB; 1: grey; 4: RGB and alpha; 0: as they are stored
    bool exif;                ///< turns the image as its EXIF orientation says
    int64_t max_pixels;       ///< height * width, at most; >= 1. PIL warns above the same number
    char reserved_;
    const char *path; ///< the file
} tern_image_read_options;
#define TERN_IMAGE_READ_DEFAULTS_                                                                  \
    .dtype = TERN_UINT8, .layout = TERN_CHW, .channels = 3, .exif = false, .max_pixels = 89478485
#define TERN_IMAGE_READ_FIELDS_ 1, 0, (path), (text)
TERN_API tern_image_read_options tern_image_read_defaults(void);
/// Reads a PNG or JPEG file into a tensor on the CPU, a temporary of the innermost scope.
///
/// 3 channels are PIL's convert("RGB"): grey three times, a palette's colours, alpha and
/// transparent colours dropped, CMYK as (255 - C) * (255 - K) / 255 of values that are stored
/// inverted, whatever the file says of Adobe. Of 16 bits the upper 8 stay; of a grey PNG of 16 bits
/// the value, at most 255, as PIL has it. 1 channel is its convert("L"), (19595 R + 38470 G + 7471
/// B + 32768) / 65536. 4 channels have the alpha of the file, else 255. As stored: 1 grey, 2 grey
/// and alpha, 3, 4; CMYK becomes 3.
///
/// EXIF orientation is ignored, as there, without .exif. An image with more than .max_pixels is
/// refused before memory is taken for it (TERN_ERR_ARG). A PNG whose checksums are wrong, which PIL
/// partly reads, is refused, and so is a JPEG that ends before its end marker; one whose data are
/// damaged otherwise is read as libjpeg does, which PIL shows.
TERN_API tern_tensor *tern_image_read_with(const tern_image_read_options *options);
#define tern_image_read(...)                                                                       \
    TERN_WITH_(tern_image_read, tern_image_read, TERN_IMAGE_READ, __VA_ARGS__)

TERN_REQUIRED_TYPE_(bytes, const void *)
/// `tern_image_decode(bytes, nbytes)`.
typedef struct tern_image_decode_options {
    tern_dtype dtype;         ///< the options of tern_image_read
    tern_image_layout layout; ///< likewise
    int64_t channels;         ///< likewise
    bool exif;                ///< likewise
    int64_t max_pixels;       ///< likewise
    char reserved_;
    const void *bytes; ///< what a file would hold
    int64_t nbytes;    ///< how many, >= 0
} tern_image_decode_options;
#define TERN_IMAGE_DECODE_DEFAULTS_ TERN_IMAGE_READ_DEFAULTS_
#define TERN_IMAGE_DECODE_FIELDS_   2, 0, (bytes, nbytes), (bytes, int64)
TERN_API tern_image_decode_options tern_image_decode_defaults(void);
/// tern_image_read of bytes in memory, which are borrowed; the tensor is a temporary likewise.
TERN_API tern_tensor *tern_image_decode_with(const tern_image_decode_options *options);
#define tern_image_decode(...)                                                                     \
    TERN_WITH_(tern_image_decode, tern_image_decode, TERN_IMAGE_DECODE, __VA_ARGS__)

// ---- writing ------------------------------------------------------------------------------------

/// `tern_image_write("cat.jpg", image, .quality = 90)`.
typedef struct tern_image_write_options {
    tern_image_layout layout; ///< of the image
    int64_t quality;          ///< of JPEG: 1 to 100
    char reserved_;
    const char *path;   ///< the file; its ending says the format: .png, .jpg or .jpeg
    tern_tensor *image; ///< (C, H, W), (H, W, C) or (H, W)
} tern_image_write_options;
#define TERN_IMAGE_WRITE_DEFAULTS_ .layout = TERN_CHW, .quality = 75
#define TERN_IMAGE_WRITE_FIELDS_   2, 0, (path, image), (text, tensor)
TERN_API tern_image_write_options tern_image_write_defaults(void);
/// Writes an image over what has the name, whole or not at all. Elements are uint8, or float32 or
/// float64 in [0, 1], which become bytes as by torchvision's save_image: min(max(255 x + 0.5, 0),
/// 255), cut to an integer; NaN is TERN_ERR_NUMERIC. PNG takes 1 to 4 channels (grey, grey and
/// alpha, RGB, RGB and alpha), JPEG 1 or 3, with chroma subsampled 4:2:0 as PIL does. The image may
/// be on any device. TERN_ERR_SHAPE, TERN_ERR_DTYPE. Waits for the device and the disk.
TERN_API TERN_NODISCARD tern_status tern_image_write_with(const tern_image_write_options *options);
#define tern_image_write(...)                                                                      \
    tern_status_of_(TERN_WITH_(tern_image_write, tern_image_write, TERN_IMAGE_WRITE, __VA_ARGS__))

// ---- many as one --------------------------------------------------------------------------------

/// `tern_image_grid(images, .columns = 4)`.
typedef struct tern_image_grid_options {
    int64_t columns;  ///< images in a row, >= 1; torchvision's nrow
    int64_t padding;  ///< pixels between images and around them, >= 0
    double pad_value; ///< of these
    bool normalize;   ///< (x - low) / max(high - low, 1e-5) of x within [low, high]
    double low;       ///< of that, finite; both NAN: the least and largest element
    double high;      ///< likewise
    bool scale_each;  ///< where these are looked for: in each image, not in all
    char reserved_;
    tern_tensor *images; ///< (N, C, H, W), (C, H, W) or (H, W)
} tern_image_grid_options;
#define TERN_IMAGE_GRID_DEFAULTS_                                                                  \
    .columns = 8, .padding = 2, .pad_value = 0, .normalize = false, .low = NAN, .high = NAN,       \
    .scale_each = false
#define TERN_IMAGE_GRID_FIELDS_ 1, 0, (images), (tensor)
TERN_API tern_image_grid_options tern_image_grid_defaults(void);
/// torchvision's make_grid: (C, rows * (H + padding) + padding, columns * (W + padding) + padding)
/// with the images in reading order; fewer images than .columns make one shorter row. One channel
/// becomes three, and a single image comes back without padding. A temporary of the innermost
/// scope, on the images' device and of their dtype, without history. Normalizing takes floating
/// elements (TERN_ERR_DTYPE), finite ones where their least and largest are looked for
/// (TERN_ERR_NUMERIC), and may wait for the device. TERN_ERR_SHAPE for other shapes, and for no
/// images.
TERN_API tern_tensor *tern_image_grid_with(const tern_image_grid_options *options);
#define tern_image_grid(...)                                                                       \
    TERN_WITH_(tern_image_grid, tern_image_grid, TERN_IMAGE_GRID, __VA_ARGS__)

TERN_END_DECLS

#endif
