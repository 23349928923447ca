// SPDX-License-Identifier: Apache-2.0
// A slow reference in double that knows nothing of tern: every element of every tensor is a node of
// a tape of scalars. Tensors are lists of places, so views and changes in place need no rules of
// their own. Each node carries a bound on its rounding error, in units of the last place.
#ifndef TERN_TESTS_FUZZ_REFERENCE_H
#define TERN_TESTS_FUZZ_REFERENCE_H

#include "program.h"

enum { MOST_LEAVES = 4, MOST_PLACES = 1 << 16, MOST_NODES = 1 << 18 };

typedef struct scalar {
    double value, error;
    int parent[2];     // -1: none
    double partial[2]; // of the value by its parents
    double slack[2];   // bounds on the errors of the partials
} scalar;

typedef struct storage {
    bool needs; // has a history, or is a leaf's
    bool is_leaf;
    bool saved;      // a backward may need its values
    unsigned leaves; // which leaves it depends on, a bit each
} storage;

// A register: elements are at places, row-major.
typedef struct array {
    bool live, leaf, view;
    bool constant; // no gradients flow: made by detach, or a view made under no_grad
    bool by_detach;
    int depth; // scopes that were open when it was made
    int rank;
    int64_t size[MOST_RANK];
    int numel, memory;
    int place[MOST_NUMEL];
} array;

typedef struct leaf {
    int reg, first;        // its register; the node of its first element
    bool has_grad, unsure; // unsure: whether the gradient is zeros or absent
    double grad[MOST_NUMEL], error[MOST_NUMEL];
    int64_t steps;
    double state[2][MOST_NUMEL];
    double worst; // largest gradient and error so far
} leaf;

typedef struct machine {
    array reg[REGISTERS];
    storage memories[MOST_INSTRUCTIONS];
    leaf leaves[MOST_LEAVES];
    int memory_count, leaf_count, place_count, node_count, depth, optim;
    bool refused; // the instruction is not well conditioned
    bool recording;
    bool changed_saved;     // a saved value was changed since its forward
    bool may_change_saved;  // set by the generator
    int place[MOST_PLACES]; // the node of each place
    scalar *nodes;
    double *grad, *grad_error; // of the nodes, in a backward
} machine;

machine *machine_new(void);
void machine_free(machine *m);

// Runs one instruction; false, and nothing has changed, for one that is not valid, or whose result
// hangs on a rounding error.
bool machine_run(machine *m, instruction *ins);

// ---- between the files of the reference --------------------------------------------------------

int machine_node(machine *m, double value, double rounding, int a, double pa, double slack_a, int b,
                 double pb, double slack_b);
int machine_constant(machine *m, double value);
int machine_read(machine *m, const array *v, int i); // the node of element i
double machine_value(const machine *m, int node);
bool machine_needs(const machine *m, const array *v);
// The value of element i becomes `next`; gradients flow as if it had stayed.
void machine_replace(machine *m, const array *v, int i, int next);

void machine_drop_views(machine *m, int number, int but, bool history);

array machine_shape(int rank, const int64_t *size);

int scalar_add(machine *m, int a, int b);
int scalar_sub(machine *m, int a, int b);
int scalar_mul(machine *m, int a, int b);
int scalar_div(machine *m, int a, int b);
int scalar_scale(machine *m, int a, double factor);
int scalar_largest(machine *m, int a, int b, bool smaller);
int scalar_unary(machine *m, op_code op, int a, double number);

// Nodes of the result into `out`, its shape into `v`; false when the operands do not fit.
bool compute(machine *m, const instruction *ins, array *v, int *out);
// The shape and the places of a rearrangement; `picked` are element numbers of `a`.
bool arrange(const machine *m, const instruction *ins, array *v, int *picked);

bool reference_backward(machine *m, const instruction *ins);
bool reference_step(machine *m);
bool reference_clip(machine *m, double max_norm);
void reference_zero_grad(machine *m);

#endif
