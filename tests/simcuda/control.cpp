// SPDX-License-Identifier: Apache-2.0
// What tests ask of the device: failures on demand, counters, and the trace of waits.
#include "core.h"

#include <algorithm>

#include "cublas_v2.h"
#include "curand.h"

namespace sim
{

struct Demand {
    long calls; // so far
    long first; // the number of the call that fails; 0: none
    bool from;  // and all after it
    int code;
};

static Demand demands[TERN_SIM_CALLS];

static struct {
    long left; // calls until the one that fails, with it; 0: none
    tern_sim_failure failure;
    const char *failed; // function
} any;

// In the order of tern_sim_failure.
static const Failure failures[] = {
    {cudaErrorMemoryAllocation, CUBLAS_STATUS_ALLOC_FAILED, CURAND_STATUS_ALLOCATION_FAILED},
    {cudaErrorInvalidValue, CUBLAS_STATUS_INVALID_VALUE, CURAND_STATUS_OUT_OF_RANGE},
    {cudaErrorLaunchFailure, CUBLAS_STATUS_EXECUTION_FAILED, CURAND_STATUS_LAUNCH_FAILURE},
    {cudaErrorLaunchFailure, CUBLAS_STATUS_EXECUTION_FAILED, CURAND_STATUS_LAUNCH_FAILURE},
};
static tern_sim_counts totals;
static bool traces;
static std::vector<tern_sim_wait> &waits = *new std::vector<tern_sim_wait>;

int demanded_failure(tern_sim_call call)
{
    Demand &demand = demands[call];
    demand.calls++;
    if (!demand.first || demand.calls < demand.first)
        return 0;
    return demand.from || demand.calls == demand.first ? demand.code : 0;
}

const Failure *demanded_failure_of_any(const char *function)
{
    if (!any.left || --any.left)
        return nullptr;
    any.failed = function;
    if (any.failure == TERN_SIM_BROKEN)
        set_fault(current_device(), failures[any.failure].cuda);
    return &failures[any.failure];
}

tern_sim_counts &counts()
{
    return totals;
}

void record_wait(tern_sim_waiter waiter, int device, const void *stream, int on_device,
                 const void *on_stream)
{
    if (traces)
        waits.push_back({waiter, device, stream, on_device, on_stream});
}

static void demand(tern_sim_call call, long n, int code, bool from)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    demands[call].first = demands[call].calls + n;
    demands[call].from = from;
    demands[call].code = code;
}

} // namespace sim

using namespace sim;

void tern_sim_fail(enum tern_sim_call call, long n, int code)
{
    demand(call, n, code, false);
}

void tern_sim_fail_from(enum tern_sim_call call, long n, int code)
{
    demand(call, n, code, true);
}

void tern_sim_fail_any(long n, enum tern_sim_failure failure)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    any = {n, failure, nullptr};
}

const char *tern_sim_failed(void)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    return any.failed;
}

void tern_sim_fail_none(void)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    any.left = 0;
    for (Demand &each : demands)
        each.first = 0;
}

long tern_sim_calls(enum tern_sim_call call)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    return demands[call].calls;
}

void tern_sim_break_device(int device, int code)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    set_fault(device, (cudaError_t)code);
}

void tern_sim_count(tern_sim_counts *out)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    *out = totals;
}

void tern_sim_count_reset(void)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    tern_sim_counts kept = {};
    kept.live_blocks = totals.live_blocks;
    kept.live_bytes = totals.live_bytes;
    totals = kept;
}

void tern_sim_trace_waits(void)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    traces = true;
    waits.clear();
}

size_t tern_sim_waits(tern_sim_wait *out, size_t capacity)
{
    std::lock_guard<std::recursive_mutex> hold(the_lock());
    std::copy_n(waits.begin(), std::min(capacity, waits.size()), out);
    return waits.size();
}
