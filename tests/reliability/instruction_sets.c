// SPDX-License-Identifier: Apache-2.0
#include "instruction_sets.h"

#include "cpu/backend.h"
#include "device/backend.h"

static const char *const names[INSTRUCTION_SETS] = {"portable", "avx2", "avx512"};
static tern_backend backend;

// What the linker puts in tern_cpu_backend's place.
const tern_backend *__wrap_tern_cpu_backend(void);
const tern_backend *__wrap_tern_cpu_backend(void)
{
    if (!backend.kernels)
        use_instruction_set(0);
    return &backend;
}

void use_kernels(const tern_kernels *kernels)
{
    backend = (tern_backend){.device = &tern_cpu_device_table, .kernels = kernels};
}

bool use_instruction_set(int index)
{
    const tern_kernels *kernels = tern_cpu_kernel_table_for(names[index]);
    if (kernels)
        use_kernels(kernels);
    return kernels != NULL;
}

const char *instruction_set_name(int index)
{
    return names[index];
}
