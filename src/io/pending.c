// SPDX-License-Identifier: Apache-2.0
// Readers and writers that follow.
#include "io/contents.h"
#include "io/written.h"

#define READER(name)                                                                               \
    tern_status name(tern_contents *c)                                                             \
    {                                                                                              \
        return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s", c->file->op, #name);               \
    }
#define WRITER(name)                                                                               \
    tern_status name(tern_save *save, const tern_written *written)                                 \
    {                                                                                              \
        (void)written;                                                                             \
        return tern_error_raise(TERN_ERR_UNSUPPORTED, "%s: %s", save->op, #name);                  \
    }
READER(tern_torch_legacy_contents)
WRITER(tern_torch_write)
