// SPDX-License-Identifier: Apache-2.0
#include "data/file/names.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/file.h"
#include "io/json.h"

// No names of classes are longer together.
#define MAX_BYTES (64 << 10)

static tern_status read_text(tern_class_names *names, tern_file *file)
{
    TERN_TRY(tern_file_stat(file));
    TERN_CHECK(file->size <= MAX_BYTES, TERN_ERR_FORMAT,
               "%s: %s has %lld bytes, more than names of classes have", file->op, file->path,
               (long long)file->size);
    names->nbytes = (size_t)file->size + 1;
    names->text = tern_mem_alloc(names->nbytes);
    if (!names->text)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_file_read_at(file, 0, names->text, names->nbytes - 1));
    TERN_CHECK(!memchr(names->text, 0, names->nbytes - 1) &&
                   tern_utf8_valid(names->text, names->nbytes - 1),
               TERN_ERR_FORMAT, "%s: %s is no text in UTF-8", file->op, file->path);
    return TERN_OK;
}

// Empty lines, as CIFAR-10 has one at the end, are none.
static tern_status cut_lines(tern_class_names *names, const tern_file *file, int64_t wanted)
{
    char *at = names->text;
    while (*at) {
        const size_t length = strcspn(at, "\r\n"), end = strspn(at + length, "\r\n");
        if (length > 0 && names->count < wanted)
            names->name[names->count] = at;
        names->count += length > 0;
        char *next = at + length + end;
        at[length] = 0;
        at = next;
    }
    TERN_CHECK(names->count == wanted, TERN_ERR_FORMAT,
               "%s: %s has the names of %lld classes, but must of %lld", file->op, file->path,
               (long long)names->count, (long long)wanted);
    return TERN_OK;
}

static tern_status read_names(tern_class_names *names, tern_file *file, int64_t count)
{
    TERN_TRY(read_text(names, file));
    names->name = tern_mem_alloc((size_t)count * sizeof *names->name);
    return names->name ? cut_lines(names, file, count) : TERN_ERR_NOMEM;
}

tern_status tern_class_names_read(tern_class_names *names, const char *op, const char *path,
                                  int64_t count)
{
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return TERN_OK;
    tern_file file;
    tern_class_names read = {0};
    TERN_TRY(tern_file_open(&file, op, path));
    tern_status status = read_names(&read, &file, count);
    tern_file_close(&file);
    if (status) {
        read.count = count; // that is what there is memory for
        tern_class_names_free(&read);
        return status;
    }
    *names = read;
    return TERN_OK;
}

const char *tern_class_names_at(const tern_class_names *names, int64_t label)
{
    return label < names->count ? names->name[label] : NULL;
}

void tern_class_names_free(tern_class_names *names)
{
    tern_mem_free(names->name, (size_t)names->count * sizeof *names->name);
    tern_mem_free(names->text, names->nbytes);
    *names = (tern_class_names){0};
}
