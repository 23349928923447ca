// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_BENCH_GPU_STREAM_ORDERED_H
#define TERN_BENCH_GPU_STREAM_ORDERED_H

#include "device/backend.h"

// Of the plugin that is wrapped: the file WRAPPED.
extern const tern_backend *real;

#endif
