// SPDX-License-Identifier: Apache-2.0
// Streams: queues of work. Eager ones run what they are given at once; lazy ones (TERN_SIM_STREAMS)
// only when somebody waits for it, so that what was not waited for shows.
#ifndef TERN_SIM_STREAM_H
#define TERN_SIM_STREAM_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "core.h"

namespace sim
{

struct Capture;
typedef std::function<void()> Work;
enum class Kind { kernel, product, copy, other };

} // namespace sim

struct CUstream_st {
    int device;
    unsigned flags;
    bool legacy, destroyed;
    std::deque<sim::Work> queue;
    uint64_t issued, done; // pieces of work
    // while it captures: into what, and which nodes its next one comes after
    std::shared_ptr<sim::Capture> capture;
    std::vector<size_t> tail;
};

namespace sim
{

typedef std::shared_ptr<CUstream_st> StreamRef;

StreamRef stream_of(cudaStream_t handle); // NULL: the legacy stream of the current device
const void *handle_of(const StreamRef &stream);
const std::vector<StreamRef> &all_streams();

// Hands the work to the stream, or to the graph that it captures into.
cudaError_t submit(const StreamRef &stream, Kind kind, Work work);
// The same, by the libraries; `device` is that of the stream.
bool captures(const StreamRef &stream);

void run_one(CUstream_st *stream);
void run_until(CUstream_st *stream, uint64_t done);
void run_all(const StreamRef &stream);
void run_device(int device);
void drop_queued(int device);

} // namespace sim

#endif
