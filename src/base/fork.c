// SPDX-License-Identifier: Apache-2.0
#include "base/fork.h"

#include "base/error.h"

tern_status tern_fork_error(void)
{
    return tern_error_raise(TERN_ERR_STATE,
                            "tern was in use when this process was forked: the child can only "
                            "free, print errors, exec and exit; fork before the first call or "
                            "after tern_shutdown");
}
