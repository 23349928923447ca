// SPDX-License-Identifier: Apache-2.0
#include "data/file/path.h"

#include <stdio.h>
#include <string.h>

tern_status tern_path_join(char path[PATH_MAX], const char *op, const char *directory,
                           const char *name)
{
    const int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
    TERN_CHECK(length > 0 && length < PATH_MAX, TERN_ERR_ARG,
               "%s: the name of the directory is too long", op);
    return TERN_OK;
}

const char *tern_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
