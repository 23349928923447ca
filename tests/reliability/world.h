// SPDX-License-Identifier: Apache-2.0
// The objects of one small training run: what the operations in operations.h work on, and the bits
// by which runs are compared.
#ifndef TERN_TESTS_RELIABILITY_WORLD_H
#define TERN_TESTS_RELIABILITY_WORLD_H

#include <tern/tern.h>

typedef struct world {
    tern_module *net, *criterion;
    tern_optim *optim;
    tern_dataset *set;
    tern_loader *loader;
    tern_generator *generator;
    tern_state *state;
    tern_checkpoint *checkpoint;
    tern_tensor *x, *y, *loss; // retained, like all below
    tern_tensor *a, *b;        // (4, 6) leaves that require gradients
    tern_tensor *half;         // (4, 6) float16, likewise
    tern_tensor *labels;       // (4) int64, 0 to 5
    tern_tensor *wide;         // (16, 600), likewise
    uint64_t seen;             // of what the operation has given so far
} world;

extern world w;

// The net has every layer there is, the criterion has class weights.
tern_status world_make_net(void);
// Input and labels of one batch of 6.
tern_status world_make_batch(void);
tern_status world_make_net_and_batch(void);
// w.a to w.wide.
tern_status world_make_leaves(void);
// Forward, kept in w.loss.
tern_status world_forward(void);
// Frees everything, and forgets what was seen. Draws start from the same seed again.
void world_reset(void);

// Adds the bytes of `t` to what was seen. NULL is a failure.
tern_status world_see(tern_tensor *t);
void world_see_bytes(const void *bytes, size_t nbytes);

typedef struct world_parts {
    bool gradients, generators;
} world_parts;

// The bits of parameters, buffers, leaves, optimizer state, and the parts told. Allocates nothing.
uint64_t world_state(world_parts parts);

#endif
