// SPDX-License-Identifier: Apache-2.0
// Launches: checks as a device makes them, then on the stream, then all blocks of the grid.
#include "kernel.h"

#include <cerrno>
#include <map>
#include <memory>
#include <vector>

#include "block.h"
#include "core.h"
#include "device.h"
#include "guard.h"
#include "memory.h"
#include "sanitizers.h"
#include "shared.h"
#include "stream.h"

namespace sim
{

// A launch that outlives the call: in a queue or a graph.
struct Kernel {
    tern_sim_launch launch;
    std::vector<tern_sim_pointer> pointers;
    int device;

    explicit Kernel(const tern_sim_launch &from, int on)
        : launch(from), pointers(from.pointers, from.pointers + from.pointer_count), device(on)
    {
    }
    Kernel(const Kernel &) = delete;
    Kernel &operator=(const Kernel &) = delete;
    ~Kernel()
    {
        launch.destroy(launch.state);
    }
};

static constexpr int default_dynamic_shared = 48 << 10, max_dynamic_shared = 227 << 10;
static std::map<const void *, int> &dynamic_shared_limits = *new std::map<const void *, int>;
static const char *running_name; // NULL between kernels
static long threads_run;

bool kernel_runs()
{
    return running_name;
}

void print_place(FILE *file)
{
    if (!running_name)
        return;
    const uint3 &b = tern_sim_block_index, &t = tern_sim_thread_index;
    fprintf(file, "kernel %s, block (%u,%u,%u)", running_name, b.x, b.y, b.z);
    if (block().running)
        fprintf(file, ", thread (%u,%u,%u)", t.x, t.y, t.z);
    fputs(": ", file);
}

static void check_arguments(const Kernel &kernel)
{
    for (const tern_sim_pointer &pointer : kernel.pointers)
        check_argument(kernel.launch.name, pointer.index, pointer.value, kernel.device);
}

static void run_grid(const tern_sim_launch &launch)
{
    dim3 grid = launch.grid;
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    Walk walk = walk_over(blocks);
    uint64_t at = walk.first;
    for (uint64_t i = 0; i < blocks; i++, at = (at + walk.step) % blocks) {
        tern_sim_block_index = {(unsigned)(at % grid.x), (unsigned)(at / grid.x % grid.y),
                                (unsigned)(at / grid.x / grid.y)};
        refill_shared();
        run_block(launch.run, launch.state);
    }
    threads_run += (long)blocks * block().size;
}

static void run(const Kernel &kernel)
{
    if (fault_of(kernel.device))
        return;
    if (int code = demanded_failure(TERN_SIM_FAULT)) {
        set_fault(kernel.device, (cudaError_t)code);
        return;
    }
    check_arguments(kernel); // again: a graph may outlive its memory
    Reach reach(kernel.device);
    tern_sim_block_dim = kernel.launch.block;
    tern_sim_grid_dim = kernel.launch.grid;
    shape_block(kernel.launch.block);
    begin_shared(kernel.launch.shared_bytes);
    begin_scheduling();
    release(&kernel_begin);
    running_name = kernel.launch.name;
    const int host_errno = errno; // the host's mathematical functions set it, a device's do not
    run_grid(kernel.launch);
    errno = host_errno;
    running_name = nullptr;
    acquire(&kernel_end);
    end_shared();
}

static int dynamic_shared_limit(const void *kernel)
{
    auto found = dynamic_shared_limits.find(kernel);
    return found == dynamic_shared_limits.end() ? default_dynamic_shared : found->second;
}

static cudaError_t check_configuration(const tern_sim_launch &launch)
{
    dim3 b = launch.block, g = launch.grid;
    uint64_t threads = (uint64_t)b.x * b.y * b.z;
    if (!threads || threads > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64)
        return cudaErrorInvalidConfiguration;
    if (!g.x || !g.y || !g.z || g.x > 0x7fffffff || g.y > 65535 || g.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (launch.shared_bytes > (size_t)dynamic_shared_limit(launch.kernel))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static cudaError_t launch_kernel(std::unique_ptr<Kernel> kernel)
{
    const tern_sim_launch &launch = kernel->launch;
    Call call(TERN_SIM_LAUNCH, current_device(), launch.name);
    TERN_SIM_TRY(call.error);
    StreamRef stream = stream_of(launch.stream);
    if (stream->device != kernel->device)
        return remember(cudaErrorInvalidResourceHandle);
    TERN_SIM_TRY(check_configuration(launch));
    check_arguments(*kernel);
    counts().launches++;
    std::shared_ptr<Kernel> shared = std::move(kernel);
    return remember(submit(stream, Kind::kernel, [shared] { run(*shared); }));
}

} // namespace sim

using namespace sim;

void tern_sim_launch_kernel(const tern_sim_launch *launch)
{
    (void)launch_kernel(std::make_unique<Kernel>(*launch, current_device()));
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = dynamic_shared_limit(kernel);
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    Call call(current_device());
    TERN_SIM_TRY(call.error);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess; // hints
    if (value < 0 || value > max_dynamic_shared)
        return remember(cudaErrorInvalidValue);
    dynamic_shared_limits[kernel] = value;
    return cudaSuccess;
}

__attribute__((destructor)) static void report_totals()
{
    if (settings().stats)
        say("%ld launches, %ld threads", counts().launches, threads_run);
}
