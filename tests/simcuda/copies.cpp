// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Memory of the host is read when the stream comes to it, pageable memory, too:
// CUDA does not promise that it is read at once. Pageable memory is written before a call returns.
#include <cstdint>
#include <cstring>

#include "capture.h"
#include "device.h"
#include "guard.h"
#include "memory.h"

namespace sim
{

struct Copy {
    void *to;
    const void *from;
    size_t nbytes;
    int to_device, from_device; // -1: the host
};

static bool is_on_device(const void *pointer)
{
    const Block *block = block_at(pointer);
    return block && !block->pinned;
}

static cudaMemcpyKind kind_of(const void *to, const void *from)
{
    if (is_on_device(to))
        return is_on_device(from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    return is_on_device(from) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

static void check_host(const char *what, const void *pointer, size_t nbytes)
{
    const Block *block = block_at(pointer);
    if (block && !block->pinned && !block->freed)
        broken_rule("%s: host memory is expected, %p is memory of device %d", what, pointer,
                    block->device);
    if (block && block->pinned && !block->freed &&
        nbytes > block->nbytes - ((uintptr_t)pointer - block->begin))
        broken_rule("%s: %zu bytes overrun a block of %zu of pinned host memory", what, nbytes,
                    block->nbytes);
}

static int check_end(const char *what, const void *pointer, size_t nbytes, bool device)
{
    if (device)
        return check_device_memory(what, pointer, nbytes);
    check_host(what, pointer, nbytes);
    return -1;
}

static void count_copy(const Copy &copy)
{
    bool to_device = copy.to_device >= 0, from_device = copy.from_device >= 0;
    if (to_device && from_device && copy.to_device != copy.from_device)
        counts().copies_across++;
    else if (to_device && from_device)
        counts().copies_within++;
    else if (to_device)
        counts().copies_to_device++;
    else if (from_device)
        counts().copies_to_host++;
}

// Memory may have been freed since the copy was queued.
static void check_again(const Copy &copy)
{
    if (copy.to_device >= 0)
        check_device_memory("a queued copy, destination", copy.to, copy.nbytes);
    if (copy.from_device >= 0)
        check_device_memory("a queued copy, source", copy.from, copy.nbytes);
}

// A copy engine writes whole words, which the host may read meanwhile: another thread looks at a
// fault record while it comes.
static void move_words(void *to, const void *from, size_t nbytes)
{
    typedef uint32_t __attribute__((may_alias)) word;
    for (size_t i = 0; i < nbytes / sizeof(word); i++)
        __atomic_store_n((word *)to + i, ((const word *)from)[i], __ATOMIC_RELEASE);
}

static bool are_few_words(const Copy &copy)
{
    return copy.nbytes <= 64 &&
           ((uintptr_t)copy.to | (uintptr_t)copy.from | copy.nbytes) % sizeof(uint32_t) == 0;
}

static void perform(const Copy &copy, int device)
{
    if (fault_of(device))
        return;
    check_again(copy);
    Reach reach(copy.to_device >= 0 ? copy.to_device : device,
                copy.from_device >= 0 ? copy.from_device : device);
    if (copy.to_device < 0 && are_few_words(copy))
        move_words(copy.to, copy.from, copy.nbytes);
    else
        memmove(copy.to, copy.from, copy.nbytes);
}

static void wait_for_copy(const StreamRef &stream)
{
    counts().copy_waits++;
    record_wait(TERN_SIM_HOST_ON_COPY, -1, nullptr, stream->device, handle_of(stream));
    run_all(stream);
}

static cudaError_t copy(const Copy &copy, const StreamRef &stream)
{
    bool pageable_to = copy.to_device < 0 && !pinned_at(copy.to);
    bool pageable_from = copy.from_device < 0 && !pinned_at(copy.from);
    if (pageable_to || pageable_from)
        if (cudaError_t refused = refuse_work(stream))
            return refused;
    count_copy(copy);
    int device = stream->device;
    cudaError_t error = submit(stream, Kind::copy, [copy, device] { perform(copy, device); });
    if (error)
        return error;
    if (pageable_to)
        wait_for_copy(stream);
    return fault_of(device);
}

static cudaError_t copy_kind(void *to, const void *from, size_t nbytes, cudaMemcpyKind kind,
                             const StreamRef &stream)
{
    if (!nbytes)
        return cudaSuccess;
    if (kind == cudaMemcpyDefault)
        kind = kind_of(to, from);
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    Copy wanted = {to, from, nbytes, check_end("cudaMemcpy, destination", to, nbytes, to_device),
                   check_end("cudaMemcpy, source", from, nbytes, from_device)};
    return copy(wanted, stream);
}

static cudaError_t fill(void *to, int value, size_t nbytes, const StreamRef &stream)
{
    if (!nbytes)
        return cudaSuccess;
    int of = check_device_memory("cudaMemset", to, nbytes), device = stream->device;
    counts().memsets++;
    return submit(stream, Kind::copy, [to, value, nbytes, of, device] {
        if (fault_of(device))
            return;
        Reach reach(of);
        memset(to, value, nbytes);
    });
}

} // namespace sim

using namespace sim;

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind,
                            cudaStream_t handle)
{
    Call call(TERN_SIM_MEMCPY, current_device());
    TERN_SIM_TRY(call.error);
    return remember(copy_kind(to, from, nbytes, kind, stream_of(handle)));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t nbytes, cudaStream_t handle)
{
    Call call(TERN_SIM_MEMCPY, current_device());
    TERN_SIM_TRY(call.error);
    if (!is_device(to_device) || !is_device(from_device))
        return remember(cudaErrorInvalidDevice);
    if (!nbytes)
        return cudaSuccess;
    int there = check_device_memory("cudaMemcpyPeerAsync, destination", to, nbytes);
    int here = check_device_memory("cudaMemcpyPeerAsync, source", from, nbytes);
    if (there != to_device || here != from_device)
        broken_rule("cudaMemcpyPeerAsync: from device %d to %d, but the memory is of %d and %d",
                    from_device, to_device, here, there);
    return remember(copy({to, from, nbytes, there, here}, stream_of(handle)));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind)
{
    Call call(TERN_SIM_MEMCPY, current_device());
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(nullptr);
    TERN_SIM_TRY(refuse_legacy(stream->device));
    TERN_SIM_TRY(refuse_unsafe());
    long waits = counts().copy_waits;
    TERN_SIM_TRY(copy_kind(to, from, nbytes, kind, stream));
    if (counts().copy_waits == waits)
        wait_for_copy(stream);
    return remember(fault_of(stream->device));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t nbytes, cudaStream_t handle)
{
    Call call(TERN_SIM_MEMSET, current_device());
    TERN_SIM_TRY(call.error);
    return remember(fill(to, value, nbytes, stream_of(handle)));
}

cudaError_t cudaMemset(void *to, int value, size_t nbytes)
{
    Call call(TERN_SIM_MEMSET, current_device());
    TERN_SIM_TRY(call.error);
    return remember(fill(to, value, nbytes, stream_of(nullptr)));
}
