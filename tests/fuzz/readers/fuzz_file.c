// SPDX-License-Identifier: Apache-2.0
// Whole files of any format, by their first bytes; the checksums of zip archives are made right.
#include <stdlib.h>

#include <tern/tern.h>

#include "reader.h"

// The same by its name.
static void read_by_name(void)
{
    tern_state *state = tern_state_read(file_name, .map_location = "cpu");
    must(!state == (tern_error_code() != TERN_OK), "a read without a state and without an error");
    tern_state_free(state);
    tern_error_clear();
    const bool failed = tern_state_verify(file_name);
    must(failed == (tern_error_code() != TERN_OK),
         "a failure and a pending error are not the same");
    tern_error_clear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = copy_of(data, nbytes);
    mend_zip(copy, nbytes);
    tern_archive archive;
    tern_file *file = file_of(copy, nbytes);
    begin_call();
    const bool failed = tern_archive_read(&archive, file);
    if (failed)
        tern_archive_free(&archive);
    end_call(failed, nbytes);
    if (!failed)
        use_archive(&archive, nbytes);
    read_by_name();
    free(copy);
    return 0;
}
