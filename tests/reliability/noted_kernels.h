// SPDX-License-Identifier: Apache-2.0
// A kernel table that notes which of its slots were called, and with what views.
#ifndef TERN_TESTS_RELIABILITY_NOTED_KERNELS_H
#define TERN_TESTS_RELIABILITY_NOTED_KERNELS_H

// Puts the noting table between the library and the kernels of instruction set `index`; false where
// this machine lacks it.
bool note_kernels(int index);

// Fails unless every slot was called since note_kernels, every slot of the table is noted, and all
// views of elementwise kernels and reductions came coalesced.
// Returns how many there are.
int check_all_kernels_were_called(void);

#endif
