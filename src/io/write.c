// SPDX-License-Identifier: Apache-2.0
// Which format a file is to be, and the call that writes one.
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <tern/io.h>

#include "base/cancel.h"
#include "device/capture.h"
#include "io/file.h"
#include "io/json.h"
#include "io/archive_entries.h"

static const char op[] = "state_write";

static const struct {
    const char *ending;
    tern_file_format format;
} endings[] = {
    {".safetensors", TERN_FILE_SAFETENSORS},
    {".pt", TERN_FILE_TORCH},
    {".pth", TERN_FILE_TORCH},
    {".pkl", TERN_FILE_TORCH},
    {".bin", TERN_FILE_TORCH},
    {".tar", TERN_FILE_TORCH},
    {".ckpt", TERN_FILE_TORCH},
    {".npy", TERN_FILE_NPY},
    {".npz", TERN_FILE_NPZ},
};

static tern_status format_of(const char *path, tern_file_format *format)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i].ending) == 0)
            return *format = endings[i].format, TERN_OK;
    return tern_error_raise(TERN_ERR_ARG,
                            "%s: the ending of \"%.200s\" says no format; it is one of "
                            ".safetensors, .pt, .pth, .pkl, .bin, .tar, .ckpt (PyTorch's), .npy "
                            "and .npz, or .format says which",
                            op, tern_file_shown(path));
}

static tern_status write_values(tern_save *save, const tern_archive_entries *entries,
                                const tern_state_write_options *o, tern_file_format format)
{
    switch (format) {
    case TERN_FILE_TORCH:
        return tern_torch_write(save, entries);
    case TERN_FILE_NPY:
        return tern_npy_write(save, entries);
    case TERN_FILE_NPZ:
        return tern_npz_write(save, entries);
    case TERN_FILE_SAFETENSORS:
    case TERN_FILE_UNSPECIFIED:
        break;
    }
    return tern_safetensors_write(save, entries, o->metadata_format, o->tied_once);
}

static tern_status write_file(const tern_archive_entries *entries,
                              const tern_state_write_options *o, tern_file_format format)
{
    tern_save save;
    TERN_TRY(tern_save_begin(&save, op, o->path));
    tern_status status = write_values(&save, entries, o, format);
    if (!status)
        return tern_save_commit(&save);
    tern_save_abandon(&save);
    return status;
}

static tern_status check(const tern_state_write_options *o, tern_file_format *format)
{
    TERN_TRY(tern_check_state(op, o->state));
    if (!o->path)
        return tern_null_error(op, "path");
    TERN_TRY(tern_capture_refuse(op, "the values would be there after a replay"));
    *format = o->format;
    TERN_CHECK(*format >= TERN_FILE_UNSPECIFIED && *format <= TERN_FILE_NPZ, TERN_ERR_ARG,
               "%s: .format is %d, which is none", op, (int)*format);
    if (*format == TERN_FILE_UNSPECIFIED)
        TERN_TRY(format_of(o->path, format));
    const bool plain = !o->metadata_format && !o->tied_once;
    TERN_CHECK(plain || *format == TERN_FILE_SAFETENSORS, TERN_ERR_ARG,
               "%s: .%s is for safetensors alone", op,
               o->tied_once ? "tied_once" : "metadata_format");
    TERN_CHECK(!o->metadata_format ||
                   tern_utf8_valid(o->metadata_format, strlen(o->metadata_format)),
               TERN_ERR_ARG, "%s: .metadata_format is not UTF-8", op);
    return TERN_OK;
}

tern_status tern_state_write_with(const tern_state_write_options *options)
{
    tern_file_format format = TERN_FILE_UNSPECIFIED;
    tern_archive_entries entries;
    if (!options)
        return tern_null_error(op, "options");
    TERN_TRY(check(options, &format));
    int saved = errno, cancel_state = tern_cancel_disable();
    tern_status status = tern_archive_entries_begin(&entries, options->state);
    if (!status) {
        status = write_file(&entries, options, format);
        tern_archive_entries_free(&entries);
    }
    tern_cancel_restore(cancel_state);
    errno = saved;
    return status;
}
