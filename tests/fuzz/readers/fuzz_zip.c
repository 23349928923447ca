// SPDX-License-Identifier: Apache-2.0
// The directory of a zip archive, and its entries.
#include <stdlib.h>
#include <string.h>

#include "io/zip.h"
#include "reader.h"

#define MOST 65536

static void check_entry(const tern_zip *zip, const tern_zip_entry *entry, size_t nbytes)
{
    static uint8_t data[MOST];
    must(tern_zip_find(zip, entry->name) == entry, "an entry is not found");
    must(entry->at >= 0 && entry->packed >= 0 && entry->packed <= (int64_t)nbytes - entry->at,
         "an entry outside of the file");
    must(entry->size >= 0 && (entry->deflated || entry->size == entry->packed), "a wrong size");
    const int64_t wanted = entry->size < MOST ? entry->size : MOST;
    begin_call();
    end_call(tern_zip_read(zip, entry, data, wanted), nbytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    uint8_t *copy = copy_of(data, nbytes);
    mend_zip(copy, nbytes);
    tern_zip zip;
    tern_arena arena = {.blocks = NULL};
    tern_file *file = file_of(copy, nbytes);
    begin_call();
    const bool failed = tern_zip_open(&zip, file, &arena);
    end_call(failed, nbytes);
    for (int64_t i = 0; !failed && i < zip.count; i++)
        check_entry(&zip, &zip.at[i], nbytes);
    must(failed || !tern_zip_find(&zip, "\x01 is not there"), "what is not there is found");
    tern_arena_free(&arena);
    free(copy);
    return 0;
}
