// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA graphs: work of a thread on a device that is captured once and replayed as a whole.
///
/// Functions fail as those of cuda.h do: an index of -1 is the calling thread's current device, and
/// a required pointer that is NULL is TERN_ERR_NULL. Threads: a capture is of the calling thread
/// alone.
#ifndef TERN_CUDA_GRAPH_H
#define TERN_CUDA_GRAPH_H

#include <tern/cuda.h>

TERN_BEGIN_DECLS

/// Work that was captured once and is replayed as a whole: a training step then costs one launch.
///
///     for (int i = 0; i < 3; i++)
///         step();                                  // memory and state are there
///     tern_cuda_graph_begin(0);
///     step();                                      // captured, not run
///     tern_cuda_graph *graph = tern_cuda_graph_end();
///     while (...) {
///         tern_copy_(x, next_batch);               // into the inputs that the step read
///         tern_cuda_graph_replay(graph);
///     }
///
/// Between begin and end nothing waits for the device, reads a value or replays a graph, and no
/// other CUDA device works. What the host computed is frozen, but for numbers of optimizers
/// (learning rate, step count): those are the current ones in each replay, which counts as a step
/// of theirs. Nothing runs before the first replay: a capture leaves gradients and step counts as
/// they are. The graph holds the tensors that the captured work uses. Only what the capturing
/// thread does is captured: others may use the device meanwhile, its first stream too. Any thread
/// may replay, one at a time. docs/devices.md has a table of what a capture may contain.
typedef struct tern_cuda_graph tern_cuda_graph;

/// Begins to capture the calling thread's work on device `index`. TERN_ERR_STATE when it does so
/// already.
TERN_API TERN_NODISCARD tern_status tern_cuda_graph_begin(int index);
/// Ends the capture; freed with tern_cuda_graph_free. NULL when something in between failed: then
/// nothing was captured and the error is pending.
TERN_API tern_cuda_graph *tern_cuda_graph_end(void);
/// Queues the captured work on the device's current stream, behind what other streams do with its
/// tensors. TERN_ERR_STATE, and nothing is done, where the captured work would not be what its step
/// is now: gradients are present or absent otherwise than at the capture (unless the work begins
/// with zero_grad), parameters were frozen or moved since, an optimizer needs another kernel; and
/// while the calling thread captures.
TERN_API TERN_NODISCARD tern_status tern_cuda_graph_replay(tern_cuda_graph *graph);
/// Waits for its last replay and frees it and its memory. NULL is fine.
TERN_API void tern_cuda_graph_free(tern_cuda_graph *graph);

TERN_END_DECLS

#endif
