// SPDX-License-Identifier: Apache-2.0
// Headers of numpy's arrays, and the arrays.
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    tern_contents contents = {.file = file_of(data, nbytes)};
    begin_call();
    const bool failed = tern_npy_contents(&contents);
    if (failed)
        tern_contents_free(&contents);
    end_call(failed, nbytes);
    if (!failed)
        use_contents(&contents, nbytes);
    return 0;
}
