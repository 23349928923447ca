// SPDX-License-Identifier: Apache-2.0
// io.h
#include "errors.h"

// ---- reading ------------------------------------------------------------------------------------

REFUSES(tern_state_read_with, "options that are NULL", TERN_ERR_NULL, "state_read: options is NULL",
        tern_state_read_with(NULL))
REFUSES(tern_state_read_with, "a path that is NULL", TERN_ERR_NULL, "state_read: path is NULL",
        tern_state_read(NULL))
REFUSES(tern_state_read_with, "a file that is not there", TERN_ERR_IO,
        "state_read: |/nowhere/at-all", tern_state_read("/nowhere/at-all"))
REFUSES(tern_state_read_with, "a directory", TERN_ERR_IO, "state_read: / is a directory",
        tern_state_read("/"))
REFUSES(tern_state_read_with, "a device file", TERN_ERR_IO, "state_read: |/dev/null",
        tern_state_read("/dev/null"))
REFUSES(tern_state_read_with, "a file of another format", TERN_ERR_FORMAT,
        "state_read: |" __FILE_NAME__ "|is no safetensors, PyTorch, npy or npz file",
        tern_state_read(__FILE__))
REFUSES(tern_state_read_with, "a device that does not exist", TERN_ERR_DEVICE, "cpu:2",
        tern_state_read(__FILE__, .map_location = "cpu:2"))
REFUSES(tern_state_read_with, "a map_location that is no device", TERN_ERR_ARG, "tpu",
        tern_state_read(__FILE__, .map_location = "tpu"))
REFUSES(tern_state_read_with, "an empty map_location", TERN_ERR_ARG,
        "state_read: .map_location has no device", tern_state_read(__FILE__, .map_location = ""))
REFUSES(tern_state_read_with, "a pair without a first device", TERN_ERR_ARG,
        "state_read: .map_location has \"=cpu\"", tern_state_read(__FILE__, .map_location = "=cpu"))
REFUSES(tern_state_read_with, "a pair without a second device", TERN_ERR_ARG,
        "state_read: .map_location has no device",
        tern_state_read(__FILE__, .map_location = "cpu="))
REFUSES(tern_state_read_with, "a device among pairs", TERN_ERR_ARG,
        "state_read: .map_location has \"cpu\", which is no pair like cuda:1=cuda:0",
        tern_state_read(__FILE__, .map_location = "cuda:1=cpu,cpu"))

static const char *pairs(int count)
{
    static char text[65 * 11 + 1];
    text[0] = 0;
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "%scuda:%d=cpu", i ? "," : "", i % 10);
    return text;
}

REFUSES(tern_state_read_with, "65 pairs", TERN_ERR_ARG,
        "state_read: .map_location has more than 64 pairs",
        tern_state_read(__FILE__, .map_location = pairs(65)))
REFUSES(tern_state_read_with, "a device of 64 letters", TERN_ERR_ARG,
        "state_read: .map_location has no device in \"cccc",
        tern_state_read(__FILE__, .map_location = "cccccccccccccccccccccccccccccccc"
                                                  "cccccccccccccccccccccccccccccccc"))

// ---- writing ------------------------------------------------------------------------------------

#define WRITE(...) tern_state_write(f->state, __VA_ARGS__)

REFUSES(tern_state_write_with, "options that are NULL", TERN_ERR_NULL,
        "state_write: options is NULL", tern_state_write_with(NULL))
REFUSES(tern_state_write_with, "a state that is NULL", TERN_ERR_NULL, "state_write: state is NULL",
        tern_state_write(NULL, "/nowhere/a.safetensors"))
REFUSES(tern_state_write_with, "a path that is NULL", TERN_ERR_NULL, "state_write: path is NULL",
        WRITE(NULL))
REFUSES(tern_state_write_with, "a folder that is not there", TERN_ERR_IO,
        "state_write: |/nowhere/a.safetensors|No such file", WRITE("/nowhere/a.safetensors"))
REFUSES(tern_state_write_with, "an ending that says no format", TERN_ERR_ARG,
        "state_write: |\"/nowhere/a.weights\"|.safetensors, .pt", WRITE("/nowhere/a.weights"))
REFUSES(tern_state_write_with, "a format that is none", TERN_ERR_ARG,
        "state_write: .format is 5, which is none",
        WRITE("/nowhere/a", .format = (tern_file_format)5))
REFUSES(tern_state_write_with, "a directory", TERN_ERR_IO, "state_write: / is a directory",
        WRITE("/", .format = TERN_FILE_SAFETENSORS))
REFUSES(tern_state_write_with, "tied_once for another format", TERN_ERR_ARG,
        "state_write: .tied_once is for safetensors alone",
        WRITE("/nowhere/a.pt", .tied_once = true))
REFUSES(tern_state_write_with, "metadata_format for another format", TERN_ERR_ARG,
        "state_write: .metadata_format is for safetensors alone",
        WRITE("/nowhere/a.npz", .metadata_format = "pt"))
REFUSES(tern_state_write_with, "a metadata_format that is not UTF-8", TERN_ERR_ARG,
        "state_write: .metadata_format is not UTF-8",
        WRITE("/nowhere/a.safetensors", .metadata_format = "\xff"))

// ---- looking at a file --------------------------------------------------------------------------

REFUSES(tern_state_list, "a path that is NULL", TERN_ERR_NULL, "state_list: path is NULL",
        tern_state_list(NULL, stderr))
REFUSES(tern_state_list, "a file that is NULL", TERN_ERR_NULL, "state_list: file is NULL",
        tern_state_list("/nowhere/at-all", NULL))
REFUSES(tern_state_list, "a file that is not there", TERN_ERR_IO, "state_list: |/nowhere/at-all",
        tern_state_list("/nowhere/at-all", stderr))
REFUSES(tern_state_verify, "a path that is NULL", TERN_ERR_NULL, "state_verify: path is NULL",
        tern_state_verify(NULL))
REFUSES(tern_state_verify, "a file of another format", TERN_ERR_FORMAT,
        "state_verify: |" __FILE_NAME__, tern_state_verify(__FILE__))
