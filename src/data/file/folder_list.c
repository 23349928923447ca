// SPDX-License-Identifier: Apache-2.0
#include "data/file/folder_list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <tern/image.h>

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"

// A folder that is listed, below a class.
typedef struct folder {
    int64_t name; // offset of "cat/more"
    int64_t label;
    int64_t parent; // its number, or -1
    dev_t device;
    ino_t inode;
} folder;

typedef struct lister {
    tern_folder_list *list;
    const char *op, *directory;
    bool skip_other_formats;
    folder *folders; // in the order in which they are found
    int64_t count, capacity;
    char path[PATH_MAX]; // of what is looked at
} lister;

// ---- growing ------------------------------------------------------------------------------------

// Appends a name, behind that of the folder at the offset `parent` unless it is -1; the offset of
// what was added, or -1.
static int64_t add_text(tern_folder_texts *texts, int64_t parent, const char *name)
{
    const size_t before = parent < 0 ? 0 : strlen(texts->at + parent) + 1, after = strlen(name) + 1;
    const int64_t at = texts->nbytes, end = at + (int64_t)(before + after);
    if (tern_mem_grow((void **)&texts->at, &texts->capacity, end, 1))
        return -1;
    if (before > 0) {
        memcpy(texts->at + at, texts->at + parent, before - 1);
        texts->at[at + (int64_t)before - 1] = '/';
    }
    memcpy(texts->at + at + before, name, after);
    texts->nbytes = end;
    return at;
}

static tern_status add_folder(lister *l, folder found)
{
    if (found.name < 0)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_mem_grow((void **)&l->folders, &l->capacity, l->count + 1, sizeof found));
    l->folders[l->count++] = found;
    return TERN_OK;
}

static tern_status add_image(lister *l, tern_folder_image image)
{
    tern_folder_list *list = l->list;
    if (image.name < 0)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_mem_grow((void **)&list->images, &list->capacity, list->count + 1, sizeof image));
    list->images[list->count++] = image;
    return TERN_OK;
}

static tern_status add_class(lister *l, const char *name)
{
    tern_folder_list *list = l->list;
    const int64_t at = add_text(&list->texts, -1, name);
    if (at < 0)
        return TERN_ERR_NOMEM;
    TERN_TRY(tern_mem_grow((void **)&list->classes, &list->class_capacity, list->class_count + 1,
                           sizeof *list->classes));
    list->classes[list->class_count++] = at;
    return TERN_OK;
}

// ---- what a name is -----------------------------------------------------------------------------

// What torchvision takes for an image; without a format tern does not read it.
static const struct {
    const char *ending;
    tern_image_format format;
    const char *name;
} endings[] = {
    {".png", TERN_IMAGE_PNG, "PNG"},
    {".jpg", TERN_IMAGE_JPEG, "JPEG"},
    {".jpeg", TERN_IMAGE_JPEG, "JPEG"},
    {".ppm", 0, "PPM"},
    {".bmp", 0, "BMP"},
    {".pgm", 0, "PGM"},
    {".tif", 0, "TIFF"},
    {".tiff", 0, "TIFF"},
    {".webp", 0, "WebP"},
};

static int ending_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < (int)(sizeof endings / sizeof *endings); i++)
        if (strcasecmp(dot, endings[i].ending) == 0)
            return i;
    return -1;
}

static tern_status add_file(lister *l, const folder *in, const char *name)
{
    const int ending = ending_of(name);
    if (ending < 0)
        return TERN_OK;
    const tern_image_format format = endings[ending].format;
    const char *reason = format ? tern_image_reason(format) : "tern does not read these";
    if (reason && l->skip_other_formats)
        return TERN_OK;
    TERN_CHECK(!reason, TERN_ERR_UNSUPPORTED,
               "%s: %s is a %s file, and %s; .skip_other_formats leaves it out", l->op,
               tern_file_shown(l->path), endings[ending].name, reason);
    tern_folder_texts *texts = &l->list->texts;
    const int64_t folder_nbytes = (int64_t)strlen(texts->at + in->name);
    const int64_t at = add_text(texts, in->name, name);
    return add_image(l, (tern_folder_image){.name = at,
                                            .name_nbytes = texts->nbytes - 1 - at,
                                            .folder = folder_nbytes,
                                            .label = in->label});
}

// ---- folders ------------------------------------------------------------------------------------

static tern_status io_error(const lister *l, const char *what)
{
    return tern_error_raise(TERN_ERR_IO, "%s: cannot %s %s: %s", l->op, what,
                            tern_file_shown(l->path), tern_text_reason(errno));
}

// A path of up to three names into l->path; the last two may be "".
static tern_status make_path(lister *l, const char *below, const char *name)
{
    const int length = snprintf(l->path, sizeof l->path, "%s%s%s%s%s", l->directory,
                                *below ? "/" : "", below, *name ? "/" : "", name);
    TERN_CHECK(length >= 0 && length < PATH_MAX, TERN_ERR_IO,
               "%s: the path of %s in %s is too long", l->op, *name ? name : below,
               tern_file_shown(l->directory));
    return TERN_OK;
}

// A link to a folder that it stands in would never end.
static tern_status check_no_circle(const lister *l, const folder *found)
{
    for (int64_t at = found->parent; at >= 0; at = l->folders[at].parent)
        TERN_CHECK(l->folders[at].device != found->device || l->folders[at].inode != found->inode,
                   TERN_ERR_IO, "%s: %s is a link to a folder that it is in", l->op,
                   tern_file_shown(l->path));
    return TERN_OK;
}

// Of what stat failed at: nothing, a file's inside, or the link itself.
static bool leads_nowhere(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

// An entry of the folder `number`. A link that leads nowhere is an image that cannot be read.
static tern_status look_at(lister *l, int64_t number, const struct dirent *entry)
{
    struct stat facts;
    const char *name = entry->d_name;
    const folder in = l->folders[number];
    TERN_TRY(make_path(l, l->list->texts.at + in.name, name));
    if (entry->d_type == DT_REG)
        return add_file(l, &in, name);
    if (stat(l->path, &facts))
        return leads_nowhere(errno) ? add_file(l, &in, name) : io_error(l, "look at");
    if (S_ISREG(facts.st_mode))
        return add_file(l, &in, name);
    if (!S_ISDIR(facts.st_mode))
        return TERN_OK;
    folder found = {
        .label = in.label, .parent = number, .device = facts.st_dev, .inode = facts.st_ino};
    TERN_TRY(check_no_circle(l, &found));
    found.name = add_text(&l->list->texts, in.name, name);
    return add_folder(l, found);
}

// A class, where it is a folder.
static tern_status look_at_class(lister *l, int64_t unused, const struct dirent *entry)
{
    struct stat facts;
    (void)unused;
    TERN_TRY(make_path(l, entry->d_name, ""));
    if (stat(l->path, &facts))
        return leads_nowhere(errno) ? TERN_OK : io_error(l, "look at");
    return S_ISDIR(facts.st_mode) ? add_class(l, entry->d_name) : TERN_OK;
}

typedef tern_status look_fn(lister *l, int64_t number, const struct dirent *entry);

static tern_status each_entry(lister *l, DIR *open_folder, look_fn *look, int64_t number)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(open_folder);
        if (!entry)
            return errno ? io_error(l, "read") : TERN_OK;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            TERN_TRY(look(l, number, entry));
    }
}

static tern_status read_folder(lister *l, const char *below, look_fn *look, int64_t number)
{
    TERN_TRY(make_path(l, below, ""));
    DIR *open_folder = opendir(l->path);
    if (!open_folder)
        return io_error(l, "open the folder");
    tern_status status = each_entry(l, open_folder, look, number);
    closedir(open_folder);
    return status;
}

// ---- order --------------------------------------------------------------------------------------

static int by_name(const void *a, const void *b, void *texts)
{
    const char *at = ((const tern_folder_texts *)texts)->at;
    return strcmp(at + *(const int64_t *)a, at + *(const int64_t *)b);
}

static int compare_bytes(const char *a, int64_t a_nbytes, const char *b, int64_t b_nbytes)
{
    const int order = memcmp(a, b, (size_t)(a_nbytes < b_nbytes ? a_nbytes : b_nbytes));
    return order ? order : (a_nbytes > b_nbytes) - (a_nbytes < b_nbytes);
}

// By class, then as Python sorts os.walk: by the folder's whole path, then by the file's name.
static int by_path(const void *a, const void *b, void *texts)
{
    const tern_folder_image *x = a, *y = b;
    const char *at = ((const tern_folder_texts *)texts)->at;
    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    const int order = compare_bytes(at + x->name, x->folder, at + y->name, y->folder);
    return order ? order : strcmp(at + x->name + x->folder, at + y->name + y->folder);
}

// ---- the whole ----------------------------------------------------------------------------------

static tern_status read_classes(lister *l)
{
    tern_folder_list *list = l->list;
    TERN_TRY(read_folder(l, "", look_at_class, 0));
    TERN_CHECK(list->class_count > 0, TERN_ERR_FORMAT,
               "%s: there is no folder in %s: each class is a folder of images", l->op,
               tern_file_shown(l->directory));
    qsort_r(list->classes, (size_t)list->class_count, sizeof *list->classes, by_name, &list->texts);
    for (int64_t label = 0; label < list->class_count; label++)
        TERN_TRY(
            add_folder(l, (folder){.name = list->classes[label], .label = label, .parent = -1}));
    return TERN_OK;
}

// What identifies a class's folder; those below it bring theirs.
static tern_status identify(lister *l, int64_t number)
{
    struct stat facts;
    folder *in = &l->folders[number];
    if (in->parent >= 0)
        return TERN_OK;
    TERN_TRY(make_path(l, l->list->texts.at + in->name, ""));
    if (stat(l->path, &facts))
        return io_error(l, "look at");
    in->device = facts.st_dev;
    in->inode = facts.st_ino;
    return TERN_OK;
}

static tern_status read_images(lister *l)
{
    for (int64_t i = 0; i < l->count; i++) {
        TERN_TRY(identify(l, i));
        TERN_TRY(read_folder(l, l->list->texts.at + l->folders[i].name, look_at, i));
    }
    tern_folder_list *list = l->list;
    if (list->count > 0)
        qsort_r(list->images, (size_t)list->count, sizeof *list->images, by_path, &list->texts);
    return TERN_OK;
}

static tern_status check_classes(const lister *l)
{
    const tern_folder_list *list = l->list;
    int64_t next = 0; // images are in the order of the classes
    for (int64_t label = 0; label < list->class_count; label++) {
        TERN_CHECK(next < list->count && list->images[next].label == label, TERN_ERR_FORMAT,
                   "%s: class %s in %s has no images; .allow_empty takes it", l->op,
                   tern_folder_list_class(list, label), tern_file_shown(l->directory));
        while (next < list->count && list->images[next].label == label)
            next++;
    }
    return TERN_OK;
}

tern_status tern_folder_list_read(tern_folder_list *list, const char *op, const char *directory,
                                  bool allow_empty, bool skip_other_formats)
{
    const int saved = errno;
    *list = (tern_folder_list){0};
    lister l = {
        .list = list, .op = op, .directory = directory, .skip_other_formats = skip_other_formats};
    tern_status status = read_classes(&l);
    if (!status)
        status = read_images(&l);
    if (!status && !allow_empty)
        status = check_classes(&l);
    tern_mem_free(l.folders, (size_t)l.capacity * sizeof *l.folders);
    if (status)
        tern_folder_list_free(list);
    errno = saved;
    return status;
}

void tern_folder_list_free(tern_folder_list *list)
{
    tern_mem_free(list->texts.at, (size_t)list->texts.capacity);
    tern_mem_free(list->classes, (size_t)list->class_capacity * sizeof *list->classes);
    tern_mem_free(list->images, (size_t)list->capacity * sizeof *list->images);
    *list = (tern_folder_list){0};
}

tern_status tern_folder_list_path(const tern_folder_list *list, const char *op,
                                  const char *directory, int64_t index, char *path, size_t size)
{
    const char *name = tern_folder_list_name(list, index);
    const int length = snprintf(path, size, "%s/%s", directory, name);
    TERN_CHECK(length > 0 && (size_t)length < size, TERN_ERR_IO, "%s: the path of %s is too long",
               op, tern_file_shown(name));
    return TERN_OK;
}
