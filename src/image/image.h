// SPDX-License-Identifier: Apache-2.0
// What the readers and writers of formats share: bytes of a file on the one side, pixels on the
// other.
#ifndef TERN_SRC_IMAGE_IMAGE_H
#define TERN_SRC_IMAGE_IMAGE_H

#include <tern/image.h>
#include <tern/tensor.h>

#include "base/error.h"

// The largest height and width, so that sizes of rows are far from the ends of an int.
#define TERN_IMAGE_MAX_SIDE 1000000

// ---- what is asked for --------------------------------------------------------------------------

// The options that all calls that read images have.
typedef struct tern_image_form {
    tern_dtype dtype;
    tern_image_layout layout;
    int64_t channels; // 0: as they are stored
    bool exif;
    int64_t max_pixels;
} tern_image_form;

tern_status tern_image_form_check(const char *op, const tern_image_form *form);

// Encoded images. `op` names what reads it and `name` where it comes from, cut for messages; all is
// borrowed.
typedef struct tern_image_source {
    const char *op, *name;
    const uint8_t *bytes;
    size_t nbytes;
} tern_image_source;

// The format, by the first bytes; TERN_ERR_FORMAT for none.
tern_status tern_image_source_format(const tern_image_source *source, tern_image_format *format);

// A tensor of the form, on the CPU: a temporary of the innermost scope. `op` is static.
tern_tensor *tern_image_from_source(const tern_image_source *source, const tern_image_form *form);
tern_tensor *tern_image_from_file(const char *op, const char *path, const tern_image_form *form);

// ---- pixels -------------------------------------------------------------------------------------

typedef struct tern_pixels {
    int64_t height, width;
    int channels;  // 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
    uint8_t *data; // (height, width, channels)
    size_t nbytes;
} tern_pixels;

// Refuses sides that are 0 or too large, and more pixels than the form allows.
tern_status tern_image_check_size(const tern_image_source *source, const tern_image_form *form,
                                  int64_t height, int64_t width);
// Memory for pixels of these sizes, which were checked; contents undefined.
tern_status tern_pixels_alloc(tern_pixels *pixels, int64_t height, int64_t width, int channels);
void tern_pixels_free(tern_pixels *pixels); // a zeroed one is fine

// A tensor of the form.
tern_tensor *tern_pixels_to_tensor(const char *op, const tern_pixels *pixels,
                                   const tern_image_form *form);
// Refuses a tensor that is no image.
tern_status tern_image_check_form(const char *op, const tern_tensor *image,
                                  tern_image_layout layout);
// Bytes of an image; to be freed.
tern_status tern_pixels_from_tensor(tern_pixels *pixels, const char *op, tern_tensor *image,
                                    tern_image_layout layout);

// ---- orientation --------------------------------------------------------------------------------

// 1 to 8 as EXIF numbers them, of the TIFF data in `bytes`; 1 where it says none.
int tern_exif_orientation(const uint8_t *bytes, size_t nbytes);
// Turns and mirrors pixels so that they are shown upright.
tern_status tern_pixels_orient(tern_pixels *pixels, int orientation);

// ---- formats ------------------------------------------------------------------------------------

// Encoded bytes that grow; zeroed at the start.
typedef struct tern_image_bytes {
    uint8_t *data;
    int64_t nbytes, capacity;
} tern_image_bytes;
tern_status tern_image_bytes_add(tern_image_bytes *to, const void *bytes, size_t nbytes);
void tern_image_bytes_free(tern_image_bytes *bytes);

// Pixels of a source of that format, its orientation (1 without form->exif) in *orientation. The
// pixels are the caller's to free also on failure.
tern_status tern_png_read(const tern_image_source *source, const tern_image_form *form,
                          tern_pixels *pixels, int *orientation);
tern_status tern_jpeg_read(const tern_image_source *source, const tern_image_form *form,
                           tern_pixels *pixels, int *orientation);
// NULL: this build reads the format; else why not.
const char *tern_png_reason(void);
const char *tern_jpeg_reason(void);

// Appends an encoded image.
tern_status tern_png_encode(const char *op, const tern_pixels *pixels, tern_image_bytes *to);
// Of 1 or 3 channels.
tern_status tern_jpeg_encode(const char *op, const tern_pixels *pixels, int quality,
                             tern_image_bytes *to);

#endif
