// SPDX-License-Identifier: Apache-2.0
#include <tern/base.h>

#define TEXT_OF(number)                   #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *tern_version(void)
{
    return VERSION_TEXT(TERN_VERSION_MAJOR, TERN_VERSION_MINOR, TERN_VERSION_PATCH);
}
