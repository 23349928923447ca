// SPDX-License-Identifier: Apache-2.0
// Builds npy files byte by byte. Include <cmocka.h> before.
#ifndef TERN_TESTS_NPY_BUILD_H
#define TERN_TESTS_NPY_BUILD_H

#include "data/data_fixture.h"

#include <tern/io.h>

#include "bad_file.h"

// A file of version `version`.0 with a header and then elements; returns its bytes.
static inline size_t build_npy(unsigned char *to, size_t room, int version, const char *header,
                               const void *elements, size_t nbytes)
{
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    assert_true(start + length + nbytes <= room);
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 8; i < start; i++)
        to[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(to + start, header, length);
    if (nbytes > 0)
        memcpy(to + start + length, elements, nbytes);
    return start + length + nbytes;
}

#endif
