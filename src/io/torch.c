// SPDX-License-Identifier: Apache-2.0
#include "io/contents.h"

tern_status tern_torch_zip_contents(tern_contents *contents, const struct tern_zip *zip)
{
    (void)zip;
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s is of PyTorch's", contents->file->op,
                            contents->file->path);
}
