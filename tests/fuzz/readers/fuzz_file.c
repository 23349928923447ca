// SPDX-License-Identifier: Apache-2.0
// Whole files of any format, by their first bytes; the checksums of zip archives are made right.
#include <stdlib.h>

#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = copy_of(data, nbytes);
    mend_zip(copy, nbytes);
    tern_contents contents;
    tern_file *file = file_of(copy, nbytes);
    begin_call();
    const bool failed = tern_contents_read(&contents, file);
    if (failed)
        tern_contents_free(&contents);
    end_call(failed, nbytes);
    if (!failed)
        use_contents(&contents, nbytes);
    free(copy);
    return 0;
}
