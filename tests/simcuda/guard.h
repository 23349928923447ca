// SPDX-License-Identifier: Apache-2.0
// Guard mode: device memory lies in a range of addresses for each device, out of reach except while
// work of the device runs. A block ends at the end of a page, freed addresses are not used again,
// and whoever touches what is not his is named.
#ifndef TERN_SIM_GUARD_H
#define TERN_SIM_GUARD_H

#include <cstddef>

namespace sim
{

void *guarded_allocate(int device, size_t nbytes); // NULL: no addresses left
void guarded_free(int device, void *data, size_t nbytes);

// The memory of a device, and of those it reaches, is within reach while this lives.
class Reach
{
  public:
    explicit Reach(int device);
    Reach(int device, int other); // copies reach two
    ~Reach();
    Reach(const Reach &) = delete;
    Reach &operator=(const Reach &) = delete;

  private:
    unsigned opened; // one bit a device
};

} // namespace sim

#endif
