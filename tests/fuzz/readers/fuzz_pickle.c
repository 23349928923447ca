// SPDX-License-Identifier: Apache-2.0
// The stack machine alone, and what becomes of its value. The first byte says which kind of file
// the pickle is of.
#include "io/torch.h"
#include "reader.h"

static tern_status flatten(tern_archive *archive, const tern_pickle *p,
                           tern_torch_storages *storages)
{
    TERN_TRY(tern_torch_find_storages(storages, p));
    for (int64_t i = 0; i < storages->count; i++) {
        tern_torch_storage *s = &storages->at[i];
        TERN_TRY(tern_torch_add_storage(archive, p, s, (tern_file_storage){.at = 0}));
        must(tern_torch_storage_nbytes(p, s) >= 0, "a storage of fewer than 0 bytes");
        must(tern_torch_storage_at(storages, s->key) == s, "a storage is not found");
    }
    return tern_torch_flatten(archive, p, storages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
    static tern_pickle p;
    const bool old = nbytes > 0 && data[0] & 1;
    tern_archive archive = {.file = file_of(data, nbytes)};
    tern_torch_storages storages = {.at = NULL};
    const int64_t skipped = nbytes > 0;
    p = (tern_pickle){.name = "data.pkl", .storage_items = old ? 6 : 5, .whole = !old};
    p.source = (tern_pickle_source){
        .file = archive.file, .at = skipped, .left = (int64_t)nbytes - skipped};
    begin_call();
    tern_status status = tern_pickle_run(&p);
    if (!status)
        status = flatten(&archive, &p, &storages);
    tern_torch_storages_free(&storages);
    tern_pickle_free(&p);
    end_call(status, nbytes);
    tern_archive_free(&archive);
    return 0;
}
