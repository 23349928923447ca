// SPDX-License-Identifier: Apache-2.0
// What the sections of the tour share: the devices they go to, and how they tell what came out.
#ifndef GPU_TOUR_TOUR_H
#define GPU_TOUR_TOUR_H

#include <tern/tern.h>

typedef struct tour {
    tern_device host;   // cpu:0
    tern_device device; // the first GPU; without one another CPU device
    tern_device other;  // the second of these; the host when there is none
    bool quick;         // small sizes, for tests
} tour;

// Shows one thing. What it makes dies with it; an error that it leaves ends the tour.
typedef void section(const tour *t);

// One indented line.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The pending error, which was expected, in tern's words; it is taken.
void say_mistake(void);

const char *yes_or_no(bool answer);

// "cuda:0", ...: where the tensor is.
const char *place(const tern_tensor *t);

// Whether both have the same bits, wherever they are. Reads both: waits.
bool same_bits(tern_tensor *a, tern_tensor *b);

// False, and says so, when there is only one device.
bool has_two(const tour *t);

// False, and says so, when the tour's device is no GPU.
bool has_gpu(const tour *t);

// Milliseconds of a clock that never goes back.
double now_ms(void);

// devices.c
section show_devices, show_default_device, show_seeds;
// moves.c
section show_tensor_move, show_module_move, show_criterion, show_copies;
// operands.c
section show_results, show_scalars, show_likes;
// memory.c
section show_half_memory, show_half_overflow, show_memory;
// parallel.c
section show_split, show_data_parallel, show_two_at_once;
// timing.c
section show_products, show_reading;
// graph.c
section show_graph;

#endif
