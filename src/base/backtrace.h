// SPDX-License-Identifier: Apache-2.0
// Where in the user's program an error was raised: addresses when it is raised, their function,
// file and line when it is printed.
#ifndef TERN_SRC_BASE_BACKTRACE_H
#define TERN_SRC_BASE_BACKTRACE_H

#include <stdbool.h>
#include <stddef.h>

// The most stack frames that a backtrace has, from tern_error_raise outwards.
#define TERN_MAX_FRAMES 64

// The return addresses of the calling thread's stack frames, the innermost first, each less one
// byte, so that it lies in the call instruction. Returns how many. Takes no memory and no lock of
// ours; 0 in a forked child, where the loader's own locks may be held for good.
int tern_backtrace(const void **frames, int capacity);

// Writes the innermost call of these that is not the library's own, as "train_step (train.c:42)",
// or what is known of it and what would give the line. False, and "", when there are no frames, and
// in a forked child.
// Reads debug information from files, in a thread that ends again, so it is slow and takes memory
// from the C library's heap.
//
// The library's own is what lies in libtern.so or in a plugin. Where the library is part of a
// program (libtern.a), it is what debug information says was compiled from its sources, and every
// function whose name begins with tern_.
bool tern_location(const void *const *frames, int count, char *buffer, size_t size);

// What lies in the object that holds `code` is the library's own from now on: one plugin.
void tern_location_own(const void *code);

#endif
