// SPDX-License-Identifier: Apache-2.0
// The images in a folder of classes, listed as torchvision's ImageFolder does.
#ifndef TERN_SRC_DATA_FILE_FOLDER_LIST_H
#define TERN_SRC_DATA_FILE_FOLDER_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <tern/error.h>

// Texts one after another, each with its 0; what is in it is known by its offset.
typedef struct tern_folder_texts {
    char *at;
    int64_t nbytes, capacity;
} tern_folder_texts;

typedef struct tern_folder_image {
    int64_t name;        // offset of "cat/more/17.png", from the folder on
    int64_t name_nbytes; // without the 0
    int64_t folder;      // bytes of it that are its folder's, "cat/more"
    int64_t label;
} tern_folder_image;

typedef struct tern_folder_list {
    tern_folder_texts texts;
    int64_t *classes; // offsets of their names
    int64_t class_count, class_capacity;
    tern_folder_image *images;
    int64_t count, capacity;
} tern_folder_list;

// Lists `directory`; on failure the list is empty.
tern_status tern_folder_list_read(tern_folder_list *list, const char *op, const char *directory,
                                  bool allow_empty, bool skip_other_formats);
void tern_folder_list_free(tern_folder_list *list); // a zeroed one is fine

static inline const char *tern_folder_list_class(const tern_folder_list *list, int64_t label)
{
    return list->texts.at + list->classes[label];
}

static inline const char *tern_folder_list_name(const tern_folder_list *list, int64_t index)
{
    return list->texts.at + list->images[index].name;
}

// directory + "/" + the name of an image; TERN_ERR_IO when it is too long for a path.
tern_status tern_folder_list_path(const tern_folder_list *list, const char *op,
                                  const char *directory, int64_t index, char *path, size_t size);

#endif
