// SPDX-License-Identifier: Apache-2.0
// For tests of the CUDA backend's host half: the plugin for the simulated device, opened, with its
// tables and with what the simulation lets a test do.
#ifndef TERN_TESTS_CUDA_PLUGIN_CHECK_H
#define TERN_TESTS_CUDA_PLUGIN_CHECK_H

#include "support/check.h"
#include "device/backend.h"
#include "simcuda.h"
#include "cuda_runtime_api.h"

#define KIB ((int64_t)1 << 10)
#define MIB ((int64_t)1 << 20)

typedef struct plugin_check {
    tern_plugin_entry *entry;
    const tern_host_api *host;
    const tern_device_table *device;
    const tern_kernels *kernels;
    const tern_cuda_table *cuda;
    // of the simulation
    void (*fail_call)(enum tern_sim_call call, long n, int code);
    void (*fail_from)(enum tern_sim_call call, long n, int code);
    void (*fail_any)(long n, enum tern_sim_failure failure);
    void (*fail_none)(void);
    long (*calls)(enum tern_sim_call call);
    void (*break_device)(int device, int code);
    void (*count)(tern_sim_counts *counts);
    void (*trace_waits)(void);
    size_t (*waits)(tern_sim_wait *waits, size_t capacity);
    void (*meddle)(int device, int error);
    void (*set_memory)(int device, size_t bytes);
} plugin_check;

// Filled by open_plugin, once a program; ends the program with 77 where there is no plugin.
extern plugin_check plugin;
void open_plugin(void);
// Devices 0 and 1 are ready; a setup of a group.
int open_devices(void **state);

// Where kernels of the device run.
tern_exec exec_of(int index);

// A block of memory of a device.
typedef struct piece {
    int index;
    int64_t nbytes;
    void *data, *block;
} piece;

piece take(int index, int64_t nbytes); // the test fails without memory
void give(piece *taken);

// Queues y = value, as many float32 as fit, on the current stream.
void fill(const piece *y, float value);
// Queues y = x on the current stream.
void copy(const piece *y, const piece *x);
// The first float32, after waiting for the current stream.
float first_of(const piece *x);

tern_cuda_memory memory_of(int index);
tern_sim_counts counts(void);

#endif
