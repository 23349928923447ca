// SPDX-License-Identifier: Apache-2.0
// safetensors files, whose checksums are made right first.
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/bytes.h"
#include "reader.h"

#define HEADER_SUM "\"tern.header_crc32c\":\""

static void mend_header(uint8_t *data, size_t nbytes)
{
    const size_t before = strlen(HEADER_SUM);
    if (nbytes < 8 || get_u64(data) > nbytes - 8)
        return;
    const size_t length = get_u64(data);
    uint8_t *sum = memmem(data + 8, length, HEADER_SUM, before);
    if (!sum || (size_t)(data + 8 + length - sum) < before + 8)
        return;
    memcpy(sum + before, "00000000", 8);
    const uint32_t value = tern_crc32c(0, data + 8, length);
    for (int i = 0; i < 8; i++)
        sum[before + (size_t)i] = (uint8_t)("0123456789abcdef"[value >> (28 - 4 * i) & 15]);
}

static void mend_elements(tern_archive *c, const uint8_t *data, size_t nbytes)
{
    for (int64_t i = 0; i < c->storage_count; i++) {
        tern_file_storage *s = &c->storages[i];
        must(s->at >= 0 && s->nbytes >= 0 && s->nbytes <= (int64_t)nbytes - s->at,
             "elements outside of the file");
        s->sum = tern_crc32c(0, data + s->at, (size_t)s->nbytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = copy_of(data, nbytes);
    mend_header(copy, nbytes);
    tern_archive archive = {.file = file_of(copy, nbytes)};
    begin_call();
    const bool failed = tern_safetensors_read_archive(&archive);
    if (failed)
        tern_archive_free(&archive);
    end_call(failed, nbytes);
    if (!failed) {
        mend_elements(&archive, copy, nbytes);
        use_archive(&archive, nbytes);
    }
    free(copy);
    return 0;
}
