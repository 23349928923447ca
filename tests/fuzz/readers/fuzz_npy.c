// SPDX-License-Identifier: Apache-2.0
// Headers of numpy's arrays, and the arrays.
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    tern_archive archive = {.file = file_of(data, nbytes)};
    begin_call();
    const bool failed = tern_npy_read_archive(&archive);
    if (failed)
        tern_archive_free(&archive);
    end_call(failed, nbytes);
    if (!failed)
        use_archive(&archive, nbytes);
    return 0;
}
