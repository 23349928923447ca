// SPDX-License-Identifier: Apache-2.0
// checkpoint.h, as far as PyTorch's files of optimizers go
#include "errors.h"

REFUSES(tern_optim_save_torch, "an optimizer that is NULL", TERN_ERR_NULL,
        "optim_save_torch: optim is NULL", tern_optim_save_torch(NULL, "/nowhere/a.pt"))
REFUSES(tern_optim_save_torch, "a path that is NULL", TERN_ERR_NULL,
        "optim_save_torch: path is NULL", tern_optim_save_torch(f->optim, NULL))
REFUSES(tern_optim_save_torch, "a folder that is not there", TERN_ERR_IO,
        "optim_save_torch: |/nowhere/a.pt|No such file",
        tern_optim_save_torch(f->optim, "/nowhere/a.pt"))

REFUSES(tern_optim_load_torch_with, "options that are NULL", TERN_ERR_NULL,
        "optim_load_torch: options is NULL", tern_optim_load_torch_with(NULL))
REFUSES(tern_optim_load_torch_with, "an optimizer that is NULL", TERN_ERR_NULL,
        "optim_load_torch: optim is NULL", tern_optim_load_torch(NULL, "/nowhere/a.pt"))
REFUSES(tern_optim_load_torch_with, "a path that is NULL", TERN_ERR_NULL,
        "optim_load_torch: path is NULL", tern_optim_load_torch(f->optim, NULL))
REFUSES(tern_optim_load_torch_with, "a file that is not there", TERN_ERR_IO,
        "optim_load_torch: |/nowhere/a.pt", tern_optim_load_torch(f->optim, "/nowhere/a.pt"))
REFUSES(tern_optim_load_torch_with, "a file of another format", TERN_ERR_FORMAT,
        "optim_load_torch: |" __FILE_NAME__, tern_optim_load_torch(f->optim, __FILE__))

static tern_status load_with_long_prefix(fixture *f)
{
    char prefix[TERN_STATE_NAME_SIZE + 1];
    memset(prefix, 'x', sizeof prefix);
    prefix[sizeof prefix - 1] = 0;
    return tern_optim_load_torch(f->optim, "/nowhere/a.pt", .prefix = prefix);
}

REFUSES(tern_optim_load_torch_with, "a prefix that no name has", TERN_ERR_ARG,
        "optim_load_torch: .prefix has more than 1024 bytes", load_with_long_prefix(f))
