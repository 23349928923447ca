// SPDX-License-Identifier: Apache-2.0
// What every part of the simulated device uses: settings, the one lock, reports, failures on
// demand and counters. Calls of the CUDA interface hold the lock: one host thread works at a time.
#ifndef TERN_SIM_CORE_H
#define TERN_SIM_CORE_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda_runtime_api.h"
#include "simcuda.h"

namespace sim
{

constexpr int max_devices = 8;

enum class Order { forward, reverse, random };

struct Settings {
    std::vector<int> visible;   // physical numbers of the devices, in the order of their numbers
    std::vector<size_t> memory; // of the physical devices, bytes; the last for the rest
    Order order;
    unsigned seed;
    bool lazy, guard, interblock, poison, leaks, stats;
};

const Settings &settings(); // read at the first call
int device_count();
unsigned random_number(); // of TERN_SIM_SEED's sequence

// 0, 1, ..., count - 1 in TERN_SIM_ORDER: `first`, then each time `step` further, modulo count.
struct Walk {
    uint64_t first, step;
};
Walk walk_over(uint64_t count);

std::recursive_mutex &the_lock();

// A rule was broken: says so, with the kernel and its thread if one runs, and ends the process.
[[noreturn]] __attribute__((format(printf, 1, 2))) void broken_rule(const char *format, ...);
void say(const char *text, ...) __attribute__((format(printf, 1, 2))); // a line on stderr

// Bytes of 0xFF: NaN for floats. Not memset, which TSan would take for a write of this thread.
void fill_with_nan(void *data, size_t nbytes);

// ---- errors ------------------------------------------------------------------------------------

cudaError_t remember(cudaError_t error); // for cudaGetLastError; hands it on
int current_device();
cudaError_t fault_of(int device);              // cudaSuccess while it is whole
void set_fault(int device, cudaError_t error); // what is queued on it never runs

// ---- failures on demand, counters --------------------------------------------------------------

int demanded_failure(tern_sim_call call); // counts the call; 0, or the code to fail with

// A failure as the three libraries say it.
struct Failure {
    cudaError_t cuda;
    int cublas, curand;
};
// Counts a call of whatever kind; NULL, or how it fails.
const Failure *demanded_failure_of_any(const char *function);
tern_sim_counts &counts();
void record_wait(tern_sim_waiter waiter, int device, const void *stream, int on_device,
                 const void *on_stream);

// The begin of a call: holds the lock; `error` is set when the process was forked, the device has
// had a fault or the call is to fail on demand.
class Call
{
  public:
    // of no device
    explicit Call(const char *function = __builtin_FUNCTION());
    // of a device, which may have had a fault
    explicit Call(int device, const char *function = __builtin_FUNCTION());
    Call(tern_sim_call call, int device, const char *function = __builtin_FUNCTION());
    cudaError_t error = cudaSuccess;
    const Failure *failure = nullptr; // on demand, of any call: what frees something does it first

  private:
    std::lock_guard<std::recursive_mutex> hold;
    void refuse(int device, const char *function);
};

} // namespace sim

// Leaves the function with the error of the expression, if it is one.
#define TERN_SIM_TRY(expression)                                                                   \
    do {                                                                                           \
        if (cudaError_t tried = (expression))                                                      \
            return sim::remember(tried);                                                           \
    } while (0)

#endif
