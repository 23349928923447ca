// SPDX-License-Identifier: Apache-2.0
#include "cpu/fault.h"

#include "base/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void tern_cpu_fault(const tern_exec *exec, int64_t element, int64_t value)
{
    tern_fault *fault = exec->fault;
    tern_lock(&lock);
    if (!fault->set || (fault->location == exec->location && element < fault->element)) {
        fault->location = exec->location;
        fault->element = element;
        fault->value = value;
        __atomic_store_n(&fault->set, 1, __ATOMIC_RELEASE);
    }
    tern_unlock(&lock);
}
