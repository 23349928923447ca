// SPDX-License-Identifier: Apache-2.0
/// @file
/// Files of named values: safetensors, PyTorch's, npy and npz.
///
///     tern_state *state = tern_module_state_dict(net);
///     if (tern_state_write(state, "net.safetensors"))
///         tern_error_print(stderr);
///     tern_state_free(state);
///
///     tern_state *weights = tern_state_read("net.pt", .map_location = "cpu"); // saved by PyTorch
///     if (!weights || tern_module_load_state_dict(net, weights))
///         tern_error_print(stderr);
///     tern_state_free(weights);
///
/// What a file is, is seen from its bytes when it is read, and from the ending of its name when it
/// is written. Nothing that a file says is ever executed, and every length in it is checked: a
/// damaged or hostile file is TERN_ERR_FORMAT, and memory grows with the bytes that are really
/// there. A file is written whole or not at all: into a temporary file of the same folder, which
/// takes its name when everything is on the disk.
///
/// Failed calls return NULL or a status, with an error pending: TERN_ERR_IO when a file cannot be
/// opened, read or written, TERN_ERR_FORMAT for its bytes, TERN_ERR_DTYPE for a dtype that tern
/// does not have, TERN_ERR_UNSUPPORTED for what a later version of tern wrote, TERN_ERR_NOMEM.
/// Threads: any; two may read one file, and of two that write one the last wins.
#ifndef TERN_IO_H
#define TERN_IO_H

#include <stdio.h>
#include <tern/state.h>

TERN_BEGIN_DECLS

/// How values are laid out in a file.
typedef enum tern_file_format {
    TERN_FILE_UNSPECIFIED = 0, ///< by the ending of the name
    TERN_FILE_SAFETENSORS,     ///< .safetensors
    TERN_FILE_TORCH,           ///< what torch.save writes: .pt .pth .pkl .bin .tar .ckpt
    TERN_FILE_NPY,             ///< .npy: one tensor
    TERN_FILE_NPZ              ///< .npz: tensors by name
} tern_file_format;

/// `tern_state_read("net.pt", .map_location = "cpu")`.
typedef struct tern_state_read_options {
    const char *map_location; ///< where tensors go; NULL: where they were saved
    const char *only;         ///< a pattern of names as of fnmatch(3), "model.*"; NULL: all
    char reserved_;
    const char *path; ///< the file
} tern_state_read_options;
#define TERN_STATE_READ_DEFAULTS_ .map_location = NULL, .only = NULL
#define TERN_STATE_READ_FIELDS_   1, 0, (path), (text)
TERN_API tern_state_read_options tern_state_read_defaults(void);
/// Reads the values of a file; the state is freed with tern_state_free. Tensors that share memory
/// in a file of PyTorch's share it here. Such a file may be a state dict or a dictionary of values
/// and dictionaries ("model.0.weight", "optimizer.param_groups.0.lr", "epoch"); None is left out,
/// and a bool is the integer 0 or 1. The tensor of an npy file is "array", one that was saved alone
/// by PyTorch "tensor".
///
/// .map_location is a device for all, "cpu", or a list of pairs, "cuda:1=cuda:0,cuda:2=cpu", for
/// tensors that were saved on the first of a pair. PyTorch's files alone say where that was, what
/// others hold goes to the CPU. NULL on failure: TERN_ERR_DEVICE for a tensor of a device that is
/// not here, where .map_location does not say where it goes; TERN_ERR_ARG for a .map_location that
/// is neither, and where no name fits .only. Waits for the devices. TERN_ERR_STATE while the
/// calling thread captures.
TERN_API tern_state *tern_state_read_with(const tern_state_read_options *options);
#define tern_state_read(...)                                                                       \
    TERN_WITH_(tern_state_read, tern_state_read, TERN_STATE_READ, __VA_ARGS__)

/// `tern_state_write(state, "net.safetensors")`.
typedef struct tern_state_write_options {
    tern_file_format format;     ///< by the ending unless said
    const char *metadata_format; ///< of safetensors: the "format" in its metadata; "tern". Some
                                 ///< readers want "pt"
    bool tied_once;              ///< of safetensors: tensors that are one are written once, under
                                 ///< the first name, and read under each by tern alone; false
    char reserved_;
    const tern_state *state; ///< what is written
    const char *path;        ///< the file
} tern_state_write_options;
#define TERN_STATE_WRITE_DEFAULTS_                                                                 \
    .format = TERN_FILE_UNSPECIFIED, .metadata_format = NULL, .tied_once = false
#define TERN_STATE_WRITE_FIELDS_ 2, 0, (state, path), (state, text)
TERN_API tern_state_write_options tern_state_write_defaults(void);
/// Writes a state to a file, over what has the name; a link stays one, and what it leads to is
/// replaced. The same state gives the same bytes. Numbers, texts and bytes are kept by safetensors
/// and PyTorch's format (bytes as a tensor of uint8, which there they stay); npy takes one tensor
/// and npz tensors alone, without bfloat16 (TERN_ERR_DTYPE). TERN_ERR_ARG for a name whose ending
/// says no format. Tensors that are not contiguous or not on the CPU are copied meanwhile. Waits
/// for the devices and the disk. TERN_ERR_STATE while the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_state_write_with(const tern_state_write_options *options);
#define tern_state_write(...)                                                                      \
    tern_status_of_(TERN_WITH_(tern_state_write, tern_state_write, TERN_STATE_WRITE, __VA_ARGS__))

/// Prints what a file holds, without its elements: the format, then a line for each value with its
/// name, dtype, shape and bytes, those that tern cannot load included, then the sums.
TERN_API TERN_NODISCARD tern_status tern_state_list(const char *path, FILE *file);

/// Reads all of a file and checks every checksum it has, without keeping the elements. A file
/// without any (npy, safetensors of other programs, PyTorch's with `set_crc32_options(False)`) is
/// read as well; a warning says so (tern_set_log).
TERN_API TERN_NODISCARD tern_status tern_state_verify(const char *path);

TERN_END_DECLS

#endif
