// SPDX-License-Identifier: Apache-2.0
// Every operation against an independent computation. A case says how an operation is called, what
// inputs it takes and what it must give; the suite runs it over shapes, layouts and dtypes on one
// device.
#ifndef TERN_TESTS_CONFORMANCE_H
#define TERN_TESTS_CONFORMANCE_H

#include "support/array.h"

#define MAX_IN 5

// One way to call an operation: shapes of the inputs and what else it takes.
typedef struct setup {
    tern_shape in[MAX_IN];
    int dim;
    tern_axis_list axes;
    bool keepdim;
    tern_shape shape;
    double p[4];
} setup;

// What numbers an input holds.
typedef enum value_kind {
    ORDINARY, // -4 to 4, with zeros and ties
    FAR,      // -8 to 8, gradients too
    WIDE,     // also tiny and huge ones
    POSITIVE, // 0.3 to 4
    WIDE_POSITIVE,
    NONZERO,
    UNIT,  // 0 to 1
    SMALL, // a few integers: ties
    SIGN,  // 1 or -1
    MASK,  // bool
    LABEL  // int64, 0 to the setup's p[0] - 1
} value_kind;

// The dtype of the result.
typedef enum result_rule {
    SAME,
    FLOATING, // float32 for integers and bool
    WIDENED,  // int64 for integers and bool
    TRUTH,    // bool
    PLACES,   // int64
    AS_ASKED  // the dtype in the case's p[0]
} result_rule;

enum {
    F32 = 1 << TERN_FLOAT32,
    F64 = 1 << TERN_FLOAT64,
    F16 = 1 << TERN_FLOAT16,
    BF16 = 1 << TERN_BFLOAT16,
    I64 = 1 << TERN_INT64,
    I32 = 1 << TERN_INT32,
    U8 = 1 << TERN_UINT8,
    BOOL = 1 << TERN_BOOL,
    FLOATS = F32 | F64 | F16 | BF16,
    INTEGERS = I64 | I32 | U8,
    NUMBERS = FLOATS | INTEGERS,
    ALL = NUMBERS | BOOL
};

typedef struct op_case op_case;

typedef tern_tensor *call_fn(tern_tensor *const *in, const op_case *c, const setup *s);

// What must come out. `magnitude` has the sizes of the absolute values that were summed for an
// element, or no data: then the case's ulps count alone.
typedef struct expected {
    array value, magnitude;
    double terms;    // how many were summed
    bool in_between; // 16-bit dtypes round the sum before the result
} expected;

// Gives the result `out` its shape and values; its dtype is set.
typedef void reference_fn(const op_case *c, const setup *s, const array *in, expected *out);

// Elements: x[i] from input i, broadcast.
typedef real each_fn(const real *x, const double *p);
// The loss of row n, `size` elements, of the first input.
typedef real sample_fn(const array *in, int64_t n, int64_t size, const double *p);
// One number from n; *magnitude is what its rounding errors are measured by (starts as 0: exact).
typedef real fold_fn(const real *x, int64_t n, const op_case *c, const setup *s, real *magnitude);
// Where the element `to` of the result comes from.
typedef void move_fn(const setup *s, tern_shape in, const int64_t *to, int64_t *from);
// n numbers from n.
typedef void along_fn(const real *x, int64_t n, real *y, real *magnitude);

struct op_case {
    const char *op;   // the function's name without tern_
    const char *note; // tells cases of one operation apart, or NULL
    const char *like; // of a module: the operation that it runs
    call_fn *call;
    reference_fn *reference;
    each_fn *each;     // for reference_each
    sample_fn *sample; // for reference_loss, instead of each
    fold_fn *fold;     // for reference_fold and reference_fold_dim
    along_fn *along;   // for reference_along
    move_fn *move;     // for reference_moved
    const setup *setups;
    int setup_count;
    int inputs;
    value_kind values[MAX_IN];
    unsigned dtypes;
    result_rule result;
    double ulps; // allowed in float32; 0: exact in every dtype
    double p[3];
    bool specials;      // infinities, NaN, signed zeros and the like belong to the domain
    double input_share; // errors may also be measured by this share of the inputs
    unsigned gradients; // bit i: input i has one
    bool kinks_inside;  // a derivative jumps where inputs cannot keep away from it in 16 bits
};

// One operation's cases.
typedef struct case_list {
    const op_case *cases;
    int count;
} case_list;

// Those of operations, a file each.
#define CASE_LISTS(LIST)                                                                           \
    LIST(elementwise)                                                                              \
    LIST(activation)                                                                               \
    LIST(reduction)                                                                                \
    LIST(sort)                                                                                     \
    LIST(product)                                                                                  \
    LIST(loss)                                                                                     \
    LIST(shape)                                                                                    \
    LIST(conv)                                                                                     \
    LIST(pool)                                                                                     \
    LIST(norm)
#define CASE_LIST_EXTERN(name) extern const case_list name##_cases;
#define CASE_LIST_COUNT(name)  +1
CASE_LISTS(CASE_LIST_EXTERN)
enum { OPERATION_LISTS = 0 CASE_LISTS(CASE_LIST_COUNT) };
extern const case_list *const operation_cases[OPERATION_LISTS];
const case_list *module_cases(void); // made at the first call

// Whether all setups of a convolution's case are modules too, and the module of one.
bool conv_case_is_module(const op_case *c);
tern_distance_fn triplet_distance; // of the cases of triplets
tern_module *conv_case_module(tern_tensor *const *in, const op_case *c, const setup *s);

reference_fn reference_each, reference_fold, reference_fold_dim, reference_along;
reference_fn reference_moved, reference_joined;
reference_fn reference_matmul, reference_linear, reference_cross_entropy,
    reference_linear_cross_entropy, reference_loss, reference_gather, reference_index_select,
    reference_one_hot;

// "matmul (vectors), setup 3, float32, transposed"
typedef struct run_name {
    char text[160];
} run_name;
run_name name_of_run(const op_case *c, int number, tern_dtype dtype, array_layout layout);

// Inputs for a setup; `gradient` asks for numbers that are apart from each other and from kinks.
void make_inputs(const op_case *c, const setup *s, tern_dtype dtype, bool gradient, array *in);
uint64_t random_word(void);
void random_seed(uint64_t seed);

void check_forward(const op_case *c, tern_device device);
void check_gradient(const op_case *c, tern_device device);

#endif
