// SPDX-License-Identifier: Apache-2.0
#include <tern/memory.h>
#include "autograd/engine.h"
#include "base/callback.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/path_table.h"
#include "base/thread_pool.h"
#include "base/worker.h"
#include "device/generator.h"
#include "device/plugin.h"
#include "tensor/header.h"
#include "tensor/scope.h"

void tern_shutdown(void)
{
    if (tern_forked()) // what there is belongs to the parent
        return;
    if (tern_callback_depth > 0) {
        tern_error_raise(
            TERN_ERR_STATE,
            "shutdown: called by a module, hook, dataset, visitor or backward function, "
            "to which the library would return; call it afterwards");
        return;
    }
    if (tern_workers_busy()) {
        tern_error_raise(
            TERN_ERR_STATE,
            "shutdown: a thread of the library's is at work: end the epochs of loaders "
            "with workers first, or free the loaders, and free loggers");
        return;
    }
    tern_workers_shutdown();
    tern_scope_shutdown();
    tern_engine_shutdown();
    tern_header_shutdown();
    tern_path_shutdown();
    tern_generator_shutdown();
    tern_cuda_shutdown();
    tern_pool_shutdown();
    tern_memory_trim();
    tern_process_end();
}
