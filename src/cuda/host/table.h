// SPDX-License-Identifier: Apache-2.0
// The functions of the tables that the plugin hands out, by file.
#ifndef TERN_SRC_CUDA_HOST_TABLE_H
#define TERN_SRC_CUDA_HOST_TABLE_H

#include "device/backend.h"

// device.c
int tern_plugin_count(void);
// Why there is none: CUDA's words; "" where there are some.
const char *tern_plugin_reason(void);
tern_status tern_plugin_properties(int index, tern_cuda_properties *out);

// open.c
tern_status tern_plugin_open(int index, tern_draw_state draws);
bool tern_plugin_close(int index);

// allocator.c
void *tern_plugin_alloc(int index, int64_t nbytes, void **block);
void *tern_plugin_alloc_outside(int index, int64_t nbytes, void **block);
void tern_plugin_free(int index, void *data, int64_t nbytes, void *block);
void tern_plugin_use(int index, void *block);

// memory.c
tern_status tern_plugin_memory(int index, tern_cuda_memory *out);
tern_status tern_plugin_memory_unopened(int index, tern_cuda_memory *out);
void tern_plugin_reset_peak(int index);
// The nbytes of the biggest blocks in use, in descending order; returns their count.
int tern_plugin_biggest(int index, int64_t *nbytes, int capacity);
tern_status tern_plugin_empty_cache(int index);

// transfer.c
tern_status tern_plugin_to_device(int index, void *data, const void *host, int64_t nbytes);
tern_status tern_plugin_to_host(int index, void *host, const void *data, int64_t nbytes);
tern_status tern_plugin_across(int to, void *data, int from, const void *source, int64_t nbytes);

// pinned.c
void *tern_plugin_pinned_alloc(int64_t nbytes, void **block);
void tern_plugin_pinned_free(void *data, int64_t nbytes, void *block);
tern_status tern_plugin_pinned_to_device(int index, void *data, const void *host, int64_t nbytes,
                                         void *block);
tern_status tern_plugin_pinned_to_host(int index, void *host, const void *data, int64_t nbytes,
                                       void *block);

// stream.c
tern_cuda_stream *tern_plugin_stream_new(int index);
void tern_plugin_stream_free(tern_cuda_stream *stream);
int tern_plugin_stream_index(const tern_cuda_stream *stream);
tern_status tern_plugin_stream_synchronize(tern_cuda_stream *stream);

// current.c
tern_cuda_stream *tern_plugin_stream_set(int index, tern_cuda_stream *stream);
tern_exec tern_plugin_exec(int index);

// event.c
tern_cuda_event *tern_plugin_event_new(int index);
void tern_plugin_event_free(tern_cuda_event *event);
tern_status tern_plugin_event_record(tern_cuda_event *event);
tern_status tern_plugin_event_wait(tern_cuda_event *event, int index);
tern_status tern_plugin_event_synchronize(tern_cuda_event *event);
double tern_plugin_event_elapsed(tern_cuda_event *start, tern_cuda_event *end);
tern_status tern_plugin_synchronize(int index);

// graph.c
bool tern_plugin_capturing(int index);
tern_status tern_plugin_capture_begin(int index);
void *tern_plugin_capture_end(int index, bool discard);
tern_status tern_plugin_graph_launch(void *graph);
void tern_plugin_graph_free(void *graph);

// state.c
bool tern_plugin_fault_seen(int index);
void tern_plugin_fault_publish(int index);
tern_status tern_plugin_fault_read(int index, tern_fault *fault);
void tern_plugin_fault_clear(int index);
tern_status tern_plugin_draws_write(int index, tern_draw_state state);
tern_status tern_plugin_draws_advance(int index, uint64_t count);
tern_status tern_plugin_draws_read(int index, tern_draw_state *state);

// blas.c
void tern_plugin_allow_tf32(bool allow);

#endif
