// SPDX-License-Identifier: Apache-2.0
// Capture: work of streams goes into a graph instead of running. A stream that waits for an event
// of a capturing one captures along with it until it is joined.
#ifndef TERN_SIM_CAPTURE_H
#define TERN_SIM_CAPTURE_H

#include <memory>
#include <pthread.h>
#include <vector>

#include "stream.h"

namespace sim
{

struct Node {
    Kind kind;
    Work work;
    std::vector<size_t> after; // nodes that come first, all of lower number
};

} // namespace sim

struct CUgraph_st {
    std::vector<sim::Node> nodes;
};

namespace sim
{

struct Capture {
    unsigned long long id;
    cudaStreamCaptureMode mode;
    pthread_t thread;
    StreamRef origin;
    bool invalid;
    CUgraph_st graph;
};

typedef std::shared_ptr<Capture> CaptureRef;

cudaError_t capture_work(const StreamRef &stream, Kind kind, Work work);
void merge_tail(std::vector<size_t> &tail, const std::vector<size_t> &more);

// Each returns the error that the call must fail with, if a capture forbids it, and invalidates
// that capture.
cudaError_t refuse_unsafe();                      // calls that could wait or allocate
cudaError_t refuse_wait(const StreamRef &stream); // for a stream, or asking about it
cudaError_t refuse_wait_for_device(int device);
cudaError_t refuse_legacy(int device);            // use of the legacy stream
cudaError_t refuse_work(const StreamRef &stream); // what cannot be captured

} // namespace sim

#endif
