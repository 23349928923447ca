// SPDX-License-Identifier: Apache-2.0
// Shared memory: one array for each declaration in the text, made when the first thread comes to it
// and of exactly the size that was asked for, so that ASan sees the bounds. One block runs at a
// time, so its arrays are the only ones.
#include "shared.h"

#include <cstdlib>
#include <sys/mman.h>
#include <vector>

#include "core.h"
#include "cuda_runtime.h"
#include "sanitizers.h"

void *tern_sim_dynamic_shared;

namespace sim
{

struct Array {
    const void *key;
    void *data;
    size_t nbytes;
};

static std::vector<Array> &arrays = *new std::vector<Array>;
static size_t dynamic_size;

#if SIM_TSAN
// TSan would take a block from the heap for a write of the thread that allocated it: here addresses
// are fresh for each block, and mapped anew for each kernel, which clears what TSan knows.
static constexpr size_t range_size = (size_t)1 << 32;
static char *range;
static size_t range_used;

static void *take(size_t nbytes, size_t)
{
    void *taken = range + range_used;
    range_used += (nbytes + 255) & ~(size_t)255;
    if (range_used > range_size)
        broken_rule("more shared memory than the simulation has addresses for");
    return taken;
}

static void give_back(void *)
{
}

static void renew()
{
    if (range && !range_used)
        return;
    if (range)
        munmap(range, range_size);
    range = (char *)mmap(range, range_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    range_used = 0;
}
#else
static void *take(size_t nbytes, size_t alignment)
{
    void *taken;
    if (posix_memalign(&taken, alignment < 16 ? 16 : alignment, nbytes))
        abort();
    return taken;
}

static void give_back(void *taken)
{
    free(taken);
}

static void renew()
{
}
#endif

static void drop_arrays()
{
    for (const Array &array : arrays)
        give_back(array.data);
    arrays.clear();
}

void begin_shared(size_t dynamic_bytes)
{
    arrays.reserve(64); // fibers allocate no more than they must
    renew();
    dynamic_size = dynamic_bytes;
    tern_sim_dynamic_shared = dynamic_bytes ? take(dynamic_bytes, 16) : nullptr;
}

void refill_shared()
{
    if (SIM_TSAN && settings().interblock) {
        drop_arrays();
        tern_sim_dynamic_shared = dynamic_size ? take(dynamic_size, 16) : nullptr;
    }
    if (!settings().poison)
        return;
    for (const Array &array : arrays)
        fill_with_nan(array.data, array.nbytes);
    if (dynamic_size)
        fill_with_nan(tern_sim_dynamic_shared, dynamic_size);
}

void end_shared()
{
    drop_arrays();
    give_back(tern_sim_dynamic_shared);
    tern_sim_dynamic_shared = nullptr;
}

static size_t static_size()
{
    size_t nbytes = 0;
    for (const Array &array : arrays)
        nbytes += array.nbytes;
    return nbytes;
}

} // namespace sim

using namespace sim;

void *tern_sim_shared(const void *key, size_t nbytes, size_t alignment)
{
    for (const Array &array : arrays)
        if (array.key == key)
            return array.data;
    if (static_size() + nbytes > 48 << 10)
        broken_rule("%zu bytes of static shared memory, more than 48 KiB", static_size() + nbytes);
    void *data = take(nbytes, alignment);
    fill_with_nan(data, nbytes);
    arrays.push_back({key, data, nbytes});
    return data;
}
