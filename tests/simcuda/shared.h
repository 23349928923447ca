// SPDX-License-Identifier: Apache-2.0
// Shared memory of the block that runs.
#ifndef TERN_SIM_SHARED_H
#define TERN_SIM_SHARED_H

#include <cstddef>

namespace sim
{

void begin_shared(size_t dynamic_bytes); // of a kernel
void refill_shared();                    // of a block
void end_shared();

} // namespace sim

#endif
