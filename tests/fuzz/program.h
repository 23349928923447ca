// SPDX-License-Identifier: Apache-2.0
// Straight-line programs over registers: what the fuzzer makes, runs on the reference and on tern,
// and writes out for PyTorch.
#ifndef TERN_TESTS_FUZZ_PROGRAM_H
#define TERN_TESTS_FUZZ_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Operands are registers a, b, c; n are sizes, dimensions or indices; number is a scalar. What
// makes a tensor puts it into the register `out`.
#define FUZZ_UNARY(X)                                                                              \
    X(neg)                                                                                         \
    X(abs)                                                                                         \
    X(sqrt)                                                                                        \
    X(rsqrt)                                                                                       \
    X(exp) X(log) X(log1p) X(sin) X(cos) X(tanh) X(sigmoid) X(relu) X(gelu) X(gelu_tanh) X(silu)
// With one number.
#define FUZZ_SCALAR(X)                                                                             \
    X(add_scalar)                                                                                  \
    X(sub_scalar) X(mul_scalar) X(div_scalar) X(pow_scalar) X(leaky_relu) X(softplus) X(clamp)
#define FUZZ_BINARY(X) X(add) X(sub) X(mul) X(div) X(minimum) X(maximum)
// Over the dimensions n, all when there are none.
#define FUZZ_REDUCE(X) X(sum) X(mean) X(var) X(norm) X(amax) X(amin)
// Along the dimension n[0].
#define FUZZ_ALONG(X) X(softmax) X(log_softmax) X(cumsum)
// New arrangements of elements; all but clone, index_select, cat and stack share memory with `a`.
#define FUZZ_ARRANGE(X)                                                                            \
    X(reshape)                                                                                     \
    X(transpose)                                                                                   \
    X(narrow)                                                                                      \
    X(slice)                                                                                       \
    X(select) X(expand) X(unsqueeze) X(squeeze) X(detach) X(clone) X(index_select) X(cat) X(stack)
#define FUZZ_PRODUCT(X) X(matmul) X(linear) X(where) X(mse_loss) X(cross_entropy)
// In place.
#define FUZZ_CHANGE(X) X(copy_) X(fill_) X(zero_) X(add_) X(mul_) X(add_scalar_) X(mul_scalar_)
// `hooked` is a module with hooks around it: a tanh of twice a, plus 1. `loader` joins the batches
// of n[0] samples of a, the last one dropped where n[1] says so. `dead` uses a tensor whose scope
// closed; `mistake` makes an error and works on while it is pending: neither changes anything.
#define FUZZ_STATEMENT(X)                                                                          \
    X(leaf)                                                                                        \
    X(constant)                                                                                    \
    X(hooked)                                                                                      \
    X(loader) X(open) X(close) X(backward) X(optim) X(step) X(clip) X(zero_grad) X(dead) X(mistake)

#define FUZZ_ALL(X)                                                                                \
    FUZZ_UNARY(X)                                                                                  \
    FUZZ_SCALAR(X)                                                                                 \
    FUZZ_BINARY(X)                                                                                 \
    FUZZ_REDUCE(X) FUZZ_ALONG(X) FUZZ_ARRANGE(X) FUZZ_PRODUCT(X) FUZZ_CHANGE(X) FUZZ_STATEMENT(X)

enum {
    REGISTERS = 20,
    MOST_RANK = 4,
    MOST_NUMEL = 768,
    MOST_WORDS = 8,
    MOST_INSTRUCTIONS = 48,
};

#define FUZZ_ENUM(name) OP_##name,
typedef enum op_code { FUZZ_ALL(FUZZ_ENUM) OP_COUNT } op_code;

// Optimizers, in n[0] of `optim`; their numbers are those of optim_number.
enum { OPTIM_SGD, OPTIM_NESTEROV, OPTIM_ADAM, OPTIM_ADAMW, OPTIM_KINDS };
#define OPTIM_LR       0.0625
#define OPTIM_MOMENTUM 0.75
#define OPTIM_DECAY    0.125
#define OPTIM_EPS      0.25
#define OPTIM_BETA1    0.875
#define OPTIM_BETA2    0.9375

typedef struct instruction {
    op_code op;
    int out, a, b, c; // -1: none
    int count;        // of n
    int64_t n[MOST_WORDS];
    double number;
    bool no_grad;    // under tern_no_grad
    bool flag;       // keepdim; retain_graph
    bool may_refuse; // a backward that may find a saved value changed
    uint64_t seed;   // of the elements
} instruction;

typedef struct program {
    uint64_t seed;
    int count;
    instruction at[MOST_INSTRUCTIONS];
} program;

extern const char *const op_names[OP_COUNT];

// Element i of a leaf, a constant or the gradient given to a backward: a multiple of 1/16 in
// [-2, 2], which float32 holds.
double element_of(uint64_t seed, int64_t i);

// Random numbers below `limit`.
int draw(uint64_t *seed, int limit);

void instruction_write(const instruction *ins, FILE *file);

#endif
