// SPDX-License-Identifier: Apache-2.0
// IDX files, plain and gzipped.
#include <tern/tern.h>

#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    tern_scope scope = tern_scope_open();
    (void)file_of(data, nbytes);
    const tern_tensor *t = tern_idx_read(file_name);
    must(!t == (tern_error_code() != TERN_OK), "a failure and a pending error are not the same");
    must(!t || tern_numel(t) > 0, "an array without elements");
    tern_error_clear();
    tern_scope_close(scope);
    return 0;
}
