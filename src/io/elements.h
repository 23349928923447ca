// SPDX-License-Identifier: Apache-2.0
// Elements as files have them.
#ifndef TERN_SRC_IO_ELEMENTS_H
#define TERN_SRC_IO_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

// The first byte that is no bool, 0 or 1; -1: all are.
int64_t tern_elements_find_no_bool(const unsigned char *bytes, int64_t nbytes);

// Turns the bytes of each element of `size` bytes around.
void tern_elements_swap(unsigned char *bytes, int64_t nbytes, size_t size);

#endif
