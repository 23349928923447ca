// SPDX-License-Identifier: Apache-2.0
// image.h and image_data.h
#include "errors.h"

#define NO_FORM(function, op, call)                                                                \
    REFUSES(function, "a dtype that images do not have", TERN_ERR_DTYPE,                           \
            op ": .dtype is int64|uint8 or float32", call(.dtype = TERN_INT64))                    \
    REFUSES(function, "no pixels at most", TERN_ERR_ARG,                                           \
            op ": .max_pixels is 0, but must be 1 or more", call(.max_pixels = 0))

// ---- single images ------------------------------------------------------------------------------

CANNOT_FAIL(tern_image_reason, "what is no format has a reason too",
            tern_image_reason(TERN_IMAGE_FORMAT_UNSPECIFIED) != NULL)
TAKES(tern_image_reason, "a number that is no format", tern_image_reason(77) != NULL)

#define READ(...) tern_image_read("/nowhere/at-all", __VA_ARGS__)
REFUSES(tern_image_read_with, "options that are NULL", TERN_ERR_NULL, "image_read: options is NULL",
        tern_image_read_with(NULL))
REFUSES(tern_image_read_with, "a path that is NULL", TERN_ERR_NULL, "image_read: path is NULL",
        tern_image_read(NULL))
REFUSES(tern_image_read_with, "a file that is not there", TERN_ERR_IO,
        "image_read: |/nowhere/at-all", READ(.channels = 1))
REFUSES(tern_image_read_with, "a directory", TERN_ERR_IO, "image_read: / is a directory",
        tern_image_read("/"))
REFUSES(tern_image_read_with, "a file of another format", TERN_ERR_FORMAT,
        "image_read: |is no PNG or JPEG file", tern_image_read(__FILE__))
REFUSES(tern_image_read_with, "no layout", TERN_ERR_ARG,
        "image_read: .layout must be TERN_CHW or TERN_HWC", READ(.layout = 0))
REFUSES(tern_image_read_with, "two channels", TERN_ERR_ARG,
        "image_read: .channels is 2, but must be 1, 3, 4, or 0", READ(.channels = 2))
NO_FORM(tern_image_read_with, "image_read", READ)

#define DECODE(...) tern_image_decode("x", 1, __VA_ARGS__)
REFUSES(tern_image_decode_with, "options that are NULL", TERN_ERR_NULL,
        "image_decode: options is NULL", tern_image_decode_with(NULL))
REFUSES(tern_image_decode_with, "bytes that are NULL", TERN_ERR_NULL, "image_decode: bytes is NULL",
        tern_image_decode(NULL, 3))
REFUSES(tern_image_decode_with, "fewer bytes than none", TERN_ERR_ARG,
        "image_decode: nbytes is -1, but must be 0 or more", tern_image_decode("x", -1))
REFUSES(tern_image_decode_with, "no bytes", TERN_ERR_FORMAT, "image_decode: the image is empty",
        tern_image_decode("x", 0))
REFUSES(tern_image_decode_with, "bytes that are no image", TERN_ERR_FORMAT,
        "image_decode: the image is no PNG or JPEG file", tern_image_decode("x", 1))
REFUSES(tern_image_decode_with, "no layout", TERN_ERR_ARG, "image_decode: .layout must be",
        DECODE(.layout = 9))
REFUSES(tern_image_decode_with, "five channels", TERN_ERR_ARG, "image_decode: .channels is 5",
        DECODE(.channels = 5))
NO_FORM(tern_image_decode_with, "image_decode", DECODE)

#define IN_PROC "/proc/tern.png" // where no file can be made
REFUSES(tern_image_write_with, "options that are NULL", TERN_ERR_NULL,
        "image_write: options is NULL", tern_image_write_with(NULL))
REFUSES(tern_image_write_with, "a path that is NULL", TERN_ERR_NULL, "image_write: path is NULL",
        tern_image_write(NULL, f->x))
REFUSES(tern_image_write_with, "an image that is NULL", TERN_ERR_NULL, "image_write: image is NULL",
        tern_image_write(IN_PROC, NULL))
REFUSES(tern_image_write_with, "a dead image", TERN_ERR_STATE, "image_write: image",
        tern_image_write(IN_PROC, f->dead))
REFUSES(tern_image_write_with, "a name that says no format", TERN_ERR_ARG,
        "image_write: the ending of \"/proc/a.gif\" says no format",
        tern_image_write("/proc/a.gif", f->x))
REFUSES(tern_image_write_with, "a quality of 0", TERN_ERR_ARG,
        "image_write: .quality is 0, but must be 1 to 100",
        tern_image_write(IN_PROC, f->x, .quality = 0))
REFUSES(tern_image_write_with, "no layout", TERN_ERR_ARG, "image_write: .layout must be",
        tern_image_write(IN_PROC, f->x, .layout = 0))
REFUSES(tern_image_write_with, "a vector", TERN_ERR_SHAPE, "image_write: the image is (3,)",
        tern_image_write(IN_PROC, f->vector))
REFUSES(tern_image_write_with, "no pixels", TERN_ERR_SHAPE, "image_write: the image is (0, 3)",
        tern_image_write(IN_PROC, f->empty))
REFUSES(tern_image_write_with, "integers", TERN_ERR_DTYPE, "image_write: the image is int64",
        tern_image_write(IN_PROC, f->ints))
REFUSES(tern_image_write_with, "a place for no file", TERN_ERR_IO,
        "image_write: cannot write|tern.png", tern_image_write(IN_PROC, f->x))

REFUSES(tern_image_grid_with, "options that are NULL", TERN_ERR_NULL, "image_grid: options is NULL",
        tern_image_grid_with(NULL))
REFUSES(tern_image_grid_with, "images that are NULL", TERN_ERR_NULL, "image_grid: images is NULL",
        tern_image_grid(NULL))
REFUSES(tern_image_grid_with, "dead images", TERN_ERR_STATE, "image_grid: images",
        tern_image_grid(f->dead))
REFUSES(tern_image_grid_with, "a vector", TERN_ERR_SHAPE, "image_grid: the images are (3,)",
        tern_image_grid(f->vector))
REFUSES(tern_image_grid_with, "no images", TERN_ERR_SHAPE, "image_grid: the images are (0, 3)",
        tern_image_grid(f->empty))
REFUSES(tern_image_grid_with, "no columns", TERN_ERR_ARG,
        "image_grid: .columns is 0, but must be 1 or more", tern_image_grid(f->x, .columns = 0))
REFUSES(tern_image_grid_with, "less padding than none", TERN_ERR_ARG,
        "image_grid: .padding is -1, but must be 0 to 1000000",
        tern_image_grid(f->x, .padding = -1))
REFUSES(tern_image_grid_with, "a range that begins above its end", TERN_ERR_ARG,
        "image_grid: .low is 2 and .high 1", tern_image_grid(f->x, .low = 2, .high = 1))
REFUSES(tern_image_grid_with, "bytes to normalize", TERN_ERR_DTYPE,
        "image_grid: .normalize is for floating elements, and the images are uint8",
        tern_image_grid(f->bytes, .normalize = true))

// ---- datasets -----------------------------------------------------------------------------------

#define FOLDER(...) tern_data_image_folder("/nowhere/at-all", __VA_ARGS__)
REFUSES(tern_data_image_folder_with, "options that are NULL", TERN_ERR_NULL,
        "data_image_folder: options is NULL", tern_data_image_folder_with(NULL))
REFUSES(tern_data_image_folder_with, "a directory that is NULL", TERN_ERR_NULL,
        "data_image_folder: directory is NULL", tern_data_image_folder(NULL))
REFUSES(tern_data_image_folder_with, "a directory that is not there", TERN_ERR_IO,
        "data_image_folder: |/nowhere/at-all", tern_data_image_folder("/nowhere/at-all"))
REFUSES(tern_data_image_folder_with, "channels as they are stored", TERN_ERR_ARG,
        "data_image_folder: .channels is 0, but must be 1, 3 or 4", FOLDER(.channels = 0))
NO_FORM(tern_data_image_folder_with, "data_image_folder", FOLDER)

REFUSES(tern_data_pack_with, "options that are NULL", TERN_ERR_NULL, "data_pack: options is NULL",
        tern_data_pack_with(NULL))
REFUSES(tern_data_pack_with, "a directory that is NULL", TERN_ERR_NULL,
        "data_pack: directory is NULL", tern_data_pack(NULL, IN_PROC))
REFUSES(tern_data_pack_with, "a path that is NULL", TERN_ERR_NULL, "data_pack: path is NULL",
        tern_data_pack("/nowhere/at-all", NULL))
REFUSES(tern_data_pack_with, "a directory that is not there", TERN_ERR_IO,
        "data_pack: |/nowhere/at-all", tern_data_pack("/nowhere/at-all", IN_PROC))
REFUSES(tern_data_pack_with, "no pixels at most", TERN_ERR_ARG, "data_pack: .max_pixels is 0",
        tern_data_pack("/nowhere/at-all", IN_PROC, .max_pixels = 0))

REFUSES(tern_data_pack_with, "encoded images to be turned", TERN_ERR_ARG,
        "data_pack: .exif is for .raw", tern_data_pack("/nowhere/at-all", IN_PROC, .exif = true))

#define PACKED(...) tern_data_packed("/nowhere/at-all", __VA_ARGS__)
REFUSES(tern_data_packed_with, "options that are NULL", TERN_ERR_NULL,
        "data_packed: options is NULL", tern_data_packed_with(NULL))
REFUSES(tern_data_packed_with, "a path that is NULL", TERN_ERR_NULL, "data_packed: path is NULL",
        tern_data_packed(NULL))
REFUSES(tern_data_packed_with, "a file that is not there", TERN_ERR_IO,
        "data_packed: |/nowhere/at-all", tern_data_packed("/nowhere/at-all"))
REFUSES(tern_data_packed_with, "a file of another format", TERN_ERR_FORMAT,
        "data_packed: |is no safetensors", tern_data_packed(__FILE__))
REFUSES(tern_data_packed_with, "channels as they are stored", TERN_ERR_ARG,
        "data_packed: .channels is 0", PACKED(.channels = 0))
NO_FORM(tern_data_packed_with, "data_packed", PACKED)
