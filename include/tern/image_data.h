// SPDX-License-Identifier: Apache-2.0
/// @file
/// Datasets of images: a folder of files, and one packed file.
///
///     // pets/cat/1.jpg, pets/cat/2.png, pets/dog/1.jpg, ...
///     tern_dataset *train = tern_data_image_folder("pets");
///     printf("%s\n", tern_dataset_class_name(train, 0)); // cat
///
///     // Many small files are slow to open: pack them once.
///     if (tern_data_pack("pets", "pets.safetensors"))
///         tern_error_print(stderr);
///     tern_dataset *same = tern_data_packed("pets.safetensors");
///
/// A sample is x (C, H, W) and y, its class as an int64 scalar, both on the CPU. Images may differ
/// in size: batches need equal ones. Pixels are those of tern_image_read. An image that cannot be
/// read fails its sample alone, with the file's name in the sentence. The caller frees a dataset
/// with tern_dataset_free. Threads: several may ask for samples of one.
#ifndef TERN_IMAGE_DATA_H
#define TERN_IMAGE_DATA_H

#include <tern/options.h>
#include <tern/data.h>
#include <tern/image.h>

TERN_BEGIN_DECLS

/// `tern_data_image_folder("pets")`.
typedef struct tern_data_image_folder_options {
    tern_dtype dtype;        ///< of x: TERN_FLOAT32, byte / 255, or TERN_UINT8
    int64_t channels;        ///< as in tern_image_read: 3, 1 or 4
    bool exif;               ///< likewise
    int64_t max_pixels;      ///< likewise
    bool allow_empty;        ///< classes may have no images
    bool skip_other_formats; ///< leaves out what cannot be read by its ending
    char reserved_;
    const char *directory; ///< whose folders are the classes
} tern_data_image_folder_options;
#define TERN_DATA_IMAGE_FOLDER_DEFAULTS_                                                           \
    .dtype = TERN_FLOAT32, .channels = 3, .exif = false, .max_pixels = 89478485,                   \
    .allow_empty = false, .skip_other_formats = false
#define TERN_DATA_IMAGE_FOLDER_FIELDS_ 1, 0, (directory), (text)
TERN_API tern_data_image_folder_options tern_data_image_folder_defaults(void);
/// torchvision's ImageFolder: the folders in `directory` are the classes, numbered in the order of
/// their names as bytes; their images, those of folders inside them too, are the samples, in the
/// order of the folder's path, then of the name. Links are followed. Images are the files that end
/// with .png, .jpg or .jpeg, in small or capital letters; other files are left out as there, but
/// one that it would read and tern does not (.ppm, .bmp, .pgm, .tif, .tiff, .webp, and what this
/// build has no library for) is TERN_ERR_UNSUPPORTED without .skip_other_formats.
///
/// Files are only listed here, and opened when a sample is asked for. NULL on failure: TERN_ERR_IO
/// for a folder that cannot be read, TERN_ERR_FORMAT for one without classes and, without
/// .allow_empty, for a class without images.
TERN_API tern_dataset *tern_data_image_folder_with(const tern_data_image_folder_options *options);
#define tern_data_image_folder(...)                                                                \
    TERN_WITH_(tern_data_image_folder, tern_data_image_folder, TERN_DATA_IMAGE_FOLDER, __VA_ARGS__)

/// `tern_data_pack("pets", "pets.safetensors", .raw = true)`.
typedef struct tern_data_pack_options {
    bool raw;                ///< pixels, where all images have one size; else the files' bytes
    bool exif;               ///< of raw: turned as tern_image_read does
    int64_t max_pixels;      ///< of raw: as in tern_image_read
    bool allow_empty;        ///< as in tern_data_image_folder
    bool skip_other_formats; ///< likewise
    char reserved_;
    const char *directory; ///< a folder as of tern_data_image_folder
    const char *path;      ///< the file
} tern_data_pack_options;
#define TERN_DATA_PACK_DEFAULTS_                                                                   \
    .raw = false, .exif = false, .max_pixels = 89478485, .allow_empty = false,                     \
    .skip_other_formats = false
#define TERN_DATA_PACK_FIELDS_ 2, 0, (directory, path), (text, text)
TERN_API tern_data_pack_options tern_data_pack_defaults(void);
/// Writes a folder of images as one file, over what has the name, whole or not at all. It is a
/// safetensors file of N images: "labels" int64 (N); "classes" and "names", uint8, each text with
/// a 0 behind it; "images", the files' bytes one after another, uint8, with "offsets" int64 (N +
/// 1), or raw, uint8 (N, H, W, 3). Fails as tern_data_image_folder; TERN_ERR_SHAPE for raw images
/// of several sizes, TERN_ERR_IO also for a file that changes meanwhile. Waits for the disk.
TERN_API TERN_NODISCARD tern_status tern_data_pack_with(const tern_data_pack_options *options);
#define tern_data_pack(...)                                                                        \
    tern_status_of_(TERN_WITH_(tern_data_pack, tern_data_pack, TERN_DATA_PACK, __VA_ARGS__))

/// `tern_data_packed("pets.safetensors")`.
typedef struct tern_data_packed_options {
    tern_dtype dtype;   ///< of x: TERN_FLOAT32, byte / 255, or TERN_UINT8
    int64_t channels;   ///< as in tern_image_read: 3, 1 or 4; 4 is refused of raw images
    bool exif;          ///< likewise; refused of raw images, which are turned when they are packed
    int64_t max_pixels; ///< likewise
    char reserved_;
    const char *path; ///< the file
} tern_data_packed_options;
#define TERN_DATA_PACKED_DEFAULTS_                                                                 \
    .dtype = TERN_FLOAT32, .channels = 3, .exif = false, .max_pixels = 89478485
#define TERN_DATA_PACKED_FIELDS_ 1, 0, (path), (text)
TERN_API tern_data_packed_options tern_data_packed_defaults(void);
/// The samples of tern_data_image_folder from a file that tern_data_pack wrote: in the same order,
/// with the same bits, names and classes. The file stays open; labels, offsets and names are in
/// memory, an image is read when it is asked for. NULL on failure: TERN_ERR_IO, TERN_ERR_FORMAT.
TERN_API tern_dataset *tern_data_packed_with(const tern_data_packed_options *options);
#define tern_data_packed(...)                                                                      \
    TERN_WITH_(tern_data_packed, tern_data_packed, TERN_DATA_PACKED, __VA_ARGS__)

TERN_END_DECLS

#endif
