// SPDX-License-Identifier: Apache-2.0
// The checksum CRC-32C of Castagnoli, as in RFC 3720, appendix B.4.
#ifndef TERN_SRC_BASE_CRC32C_H
#define TERN_SRC_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

// Of what gave `crc` (0: nothing) followed by `nbytes` more.
uint32_t tern_crc32c(uint32_t crc, const void *data, size_t nbytes);

// Without the processor's own instruction, for tests.
uint32_t tern_crc32c_portable(uint32_t crc, const void *data, size_t nbytes);

#endif
