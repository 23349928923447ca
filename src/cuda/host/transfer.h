// SPDX-License-Identifier: Apache-2.0
// The device table's functions for copies between memories.
#ifndef TERN_SRC_CUDA_HOST_TRANSFER_H
#define TERN_SRC_CUDA_HOST_TRANSFER_H

#include <stdint.h>
#include <tern/error.h>

tern_status tern_plugin_to_device(int index, void *data, const void *host, int64_t nbytes);
tern_status tern_plugin_to_host(int index, void *host, const void *data, int64_t nbytes);
tern_status tern_plugin_across(int to, void *data, int from, const void *source, int64_t nbytes);

#endif
