// SPDX-License-Identifier: Apache-2.0
// A plugin whose declarations are not those of the library.
#include "device/backend.h"

__attribute__((visibility("default"))) tern_plugin_entry tern_backend_v1;

const tern_backend *tern_backend_v1(uint64_t abi, const tern_host_api *host)
{
    (void)abi;
    (void)host;
    return NULL;
}
