// SPDX-License-Identifier: Apache-2.0
// JPEG files.
#include <stdlib.h>
#include <string.h>

#include "image_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = copy_of(data, nbytes);
    if (nbytes >= 3)
        memcpy(copy, "\xff\xd8\xff", 3);
    decode_in_every_form(copy, nbytes);
    free(copy);
    return 0;
}
