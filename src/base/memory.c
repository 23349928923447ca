// SPDX-License-Identifier: Apache-2.0
// The functions of <tern/memory.h> that see the allocator and the cache before it.
#include <inttypes.h>
#include "base/allocator.h"
#include "base/error.h"
#include "base/fork.h"

int64_t tern_memory_live_bytes(void)
{
    return tern_allocator_live_bytes() - tern_memory_cached_bytes();
}

tern_status tern_set_allocator(const tern_allocator *allocator)
{
    if (allocator && (!allocator->alloc || !allocator->free))
        return tern_null_error("set_allocator", allocator->alloc ? "free" : "alloc");
    TERN_TRY(tern_fork_check());
    tern_memory_trim();
    TERN_CHECK(tern_allocator_replace(allocator), TERN_ERR_STATE,
               "set_allocator: %" PRId64
               " bytes of the old allocator are in use; free what was made, "
               "call tern_shutdown, then set the new one",
               tern_allocator_live_bytes());
    return TERN_OK;
}
