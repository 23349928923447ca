// SPDX-License-Identifier: Apache-2.0
// Readers and writers that follow.
#include "io/contents.h"
#include "io/written.h"

#define WRITER(name)                                                                               \
    tern_status name(tern_save *save, const tern_written *written)                                 \
    {                                                                                              \
        (void)written;                                                                             \
        return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s", save->op, #name);                  \
    }
WRITER(tern_torch_write)
