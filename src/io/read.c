// SPDX-License-Identifier: Apache-2.0
// Which format a file is, and the calls that read one.
#include <errno.h>
#include <string.h>
#include <tern/io.h>

#include "base/cancel.h"
#include "base/fork.h"
#include "base/mem.h"
#include "device/capture.h"
#include "base/bytes.h"
#include "io/locations.h"
#include "state/state.h"

#define SIGNATURE_BYTES 264 // bytes; the mark of tar ends there

// ---- by the first bytes -------------------------------------------------------------------------

static tern_status refuse(const tern_file *file, const char *what)
{
    return tern_error_raise(TERN_ERR_FORMAT, "%s: %s %s", file->op, file->path, what);
}

static bool begins(const unsigned char *bytes, size_t count, const char *with, size_t length)
{
    return count >= length && memcmp(bytes, with, length) == 0;
}

#define BEGINS(text) begins(bytes, count, text, sizeof text - 1)

// What is none of ours, but known.
static const char *unrecognized_format(const unsigned char *bytes, size_t count)
{
    if (count == 0)
        return "is empty";
    if (BEGINS("\x1f\x8b"))
        return "is compressed by gzip: unpack it first";
    if (BEGINS("\x89HDF"))
        return "is an HDF5 file, which tern does not read";
    if (BEGINS("GGUF"))
        return "is a GGUF file, which tern does not read";
    if (count >= 262 && memcmp(bytes + 257, "ustar", 5) == 0)
        return "is a tar archive, as PyTorch 0.1 wrote them: load and save it again with a later "
               "PyTorch";
    if (BEGINS("\x80"))
        return "is a pickle, but none that torch.save writes: save a state dict with torch.save";
    return "is no safetensors, PyTorch, npy or npz file";
}

tern_status tern_archive_read(tern_archive *archive, tern_file *file)
{
    unsigned char bytes[SIGNATURE_BYTES];
    size_t count;
    *archive = (tern_archive){.file = file};
    TERN_TRY(tern_file_stat(file));
    count = file->size < SIGNATURE_BYTES ? (size_t)file->size : SIGNATURE_BYTES;
    TERN_TRY(tern_file_read_at(file, 0, bytes, count));
    if (BEGINS("\x93NUMPY"))
        return tern_npy_read_archive(archive);
    if (BEGINS("PK\x03\x04") || BEGINS("PK\x05\x06"))
        return tern_zip_read_archive(archive);
    if (BEGINS("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e") ||
        BEGINS("\x80\x03\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"))
        return tern_torch_legacy_read_archive(archive);
    // A header of at most 100 000 000 bytes, whose length has five zeros at its end.
    const bool length = count >= 8 && get_u32(bytes + 4) == 0 && bytes[3] < 8;
    if (length && (count == 8 || bytes[8] == '{' || bytes[8] == ' '))
        return tern_safetensors_read_archive(archive);
    return refuse(file, unrecognized_format(bytes, count));
}

// ---- the calls ----------------------------------------------------------------------------------

typedef tern_status use_fn(tern_archive *archive, void *with);

static tern_status with_archive(const char *op, const char *path, use_fn *use, void *with)
{
    tern_file file;
    tern_archive archive;
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = tern_file_open(&file, op, path);
    if (!status) {
        status = tern_archive_read(&archive, &file);
        if (!status)
            status = use(&archive, with);
        tern_archive_free(&archive);
        tern_file_close(&file);
    }
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status;
}

typedef struct reading {
    tern_locations locations;
    const char *only;
    tern_state *state;
} reading;

static tern_status load(tern_archive *archive, void *with)
{
    reading *r = with;
    r->state = tern_archive_load(archive, &r->locations, r->only);
    return r->state ? TERN_OK : tern_error_code();
}

tern_state *tern_state_read_with(const tern_state_read_options *options)
{
    static const char op[] = "state_read";
    reading r = {.state = NULL};
    if (!options || !options->path) {
        (void)tern_null_error(op, options ? "path" : "options");
        return NULL;
    }
    r.only = options->only;
    if (tern_fork_check() || tern_capture_refuse(op, "what is read would be there once") ||
        tern_locations_parse(&r.locations, op, options->map_location))
        return NULL;
    return with_archive(op, options->path, load, &r) ? NULL : r.state;
}

// ---- without the elements -----------------------------------------------------------------------

// The first value of each storage.
static void name_storages(const tern_archive *c, const char **names)
{
    for (int64_t i = c->count - 1; i >= 0; i--)
        if (tern_file_value_has_elements(&c->values[i]))
            names[c->values[i].storage] = c->values[i].name;
}

// What cannot be checked is no error, but is not certain either.
static void report_unchecked(const tern_archive *c)
{
    for (int64_t i = 0; i < c->storage_count; i++)
        if (c->storages[i].checksum)
            return;
    if (c->storage_count > 0)
        tern_log_send(TERN_LOG_WARN,
                      "%s: %s has no checksums: damage to its elements would not be seen",
                      c->file->op, c->file->path);
}

static tern_status verify(tern_archive *archive, void *with)
{
    (void)with;
    const size_t nbytes = (size_t)(archive->storage_count + 1) * sizeof(char *);
    const char **names = tern_mem_alloc(nbytes);
    if (!names)
        return TERN_ERR_NOMEM;
    name_storages(archive, names);
    tern_status status = TERN_OK;
    for (int64_t i = 0; i < archive->storage_count && !status; i++)
        status = tern_archive_read_storage(archive, &archive->storages[i],
                                           names[i] ? names[i] : "a tied tensor", NULL);
    tern_mem_free(names, nbytes);
    if (!status)
        status = tern_file_check_same(archive->file);
    if (!status)
        report_unchecked(archive);
    return status;
}

tern_status tern_state_verify(const char *path)
{
    if (!path)
        return tern_null_error("state_verify", "path");
    return with_archive("state_verify", path, verify, NULL);
}

static tern_status list(tern_archive *archive, void *with)
{
    return tern_archive_list(archive, with);
}

tern_status tern_state_list(const char *path, FILE *file)
{
    if (!path || !file)
        return tern_null_error("state_list", path ? "file" : "path");
    return with_archive("state_list", path, list, file);
}
