// SPDX-License-Identifier: Apache-2.0
// No operation without a case, a gradient check and results of PyTorch: the names come from the
// public headers at the time of the test. manifest_objects.c asks for what modules, optimizers and
// datasets have besides, tests/errors/manifest.c for what they refuse,
// tests/docs/complete.py for their names beside PyTorch's, tests/style/documented.py for comments.
#include "manifest.h"

#include "support/check.h"
#include "conformance.h"
#include "support/declared.h"
#include "golden/golden.h"

typedef struct reason {
    const char *op, *why;
} reason;

#define PAD "is tern_pad with its options: tests/golden/modules_pad.py"
static const reason without_case[] = {
    {"sum_all", "a short form of sum: tests/ops/test_ops.c"},
    {"mean_all", "a short form of mean: tests/ops/test_ops.c"},
    {"accuracy", "made of argmax, eq and mean: tests/ops/test_ops.c"},
    {"ctc_loss", "takes lengths: tests/golden, tests/nn/test_losses.c"},
    {"nn_ctc_loss", "takes lengths: tests/golden, tests/nn/test_losses.c"},
    {"nn_zero_pad1d", PAD},
    {"nn_zero_pad2d", PAD},
    {"nn_zero_pad3d", PAD},
    {"nn_constant_pad1d", PAD},
    {"nn_constant_pad2d", PAD},
    {"nn_constant_pad3d", PAD},
    {"nn_reflection_pad1d", PAD},
    {"nn_reflection_pad2d", PAD},
    {"nn_reflection_pad3d", PAD},
    {"nn_replication_pad1d", PAD},
    {"nn_replication_pad2d", PAD},
    {"nn_replication_pad3d", PAD},
    {"nn_circular_pad1d", PAD},
    {"nn_circular_pad2d", PAD},
    {"nn_circular_pad3d", PAD},
};

// Of operations that give floating numbers.
static const reason without_gradient[] = {
    {"one_hot", "its input is int64"},
    {"detach", "its result has no history"},
};

// Of the headers that compute.
static const reason without_golden[] = {
    {"dropout", "draws numbers of its own"},       {"dropout1d", "draws numbers of its own"},
    {"dropout2d", "draws numbers of its own"},     {"dropout3d", "draws numbers of its own"},
    {"alpha_dropout", "draws numbers of its own"},
};

// Functions of ops.h, tensor.h and nn.h that compute nothing, or whose results other suites hold.
static const char *const not_operations[] = {
    // dtypes, shapes, options
    "dtype_name",
    "dtype_size",
    "dtype_is_floating",
    "shape_make",
    "pad_list_make",
    "axis_list_make",
    "shape_numel",
    "shape_equal",
    "promote",
    "default_dtype",
    "set_default_dtype",
    // making tensors: tests/tensor/test_create.c
    "empty",
    "zeros",
    "ones",
    "full",
    "arange",
    "linspace",
    "eye",
    "from_data",
    "empty_like",
    "zeros_like",
    "ones_like",
    "full_like",
    "new_empty",
    "new_zeros",
    "new_ones",
    "new_full",
    "new_tensor",
    "new_tensor_typed",
    // asking, and the way to host memory
    "dtype_of",
    "device_of",
    "shape_of",
    "rank",
    "size",
    "stride",
    "numel",
    "is_contiguous",
    "is_pinned",
    "data",
    "name",
    "item",
    "item_int",
    "to_host",
    "from_host",
    "print",
    "format",
    // page-locked memory: tests/cuda
    "pin_memory",
    "to_non_blocking",
    // modules of modules: tests/nn/test_module.c
    "nn_sequential",
    "nn_module_list",
    "nn_module_dict",
    "nn_parameter_list",
    "nn_parameter_dict",
    // of modules that are there: tests/golden/test_parametrizations_golden.c
    "nn_weight_norm",
    "nn_spectral_norm",
    // softmax over channels: tests/golden
    "nn_softmax2d",
};

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < sizeof not_operations / sizeof *not_operations; i++)
        if (strcmp(not_operations[i], name) == 0)
            return true;
    return declared_ends_with(name, "_defaults");
}

static bool has_reason(const reason *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].op, name) == 0)
            return true;
    return false;
}
#define EXCUSED(list, name) has_reason(list, sizeof(list) / sizeof *(list), name)

// What the cases of an operation hold.
typedef struct covered {
    bool forward, gradient;
    bool flat; // every result is a truth or a place
} covered;

static void look_at(const case_list *list, const char *name, covered *found)
{
    for (int i = 0; i < list->count; i++) {
        const op_case *c = &list->cases[i];
        if (strcmp(c->op, name) != 0)
            continue;
        found->forward = true;
        found->gradient = found->gradient || c->gradients;
        found->flat = found->flat && (c->result == TRUTH || c->result == PLACES);
    }
}

static covered cases_of(const char *name)
{
    covered found = {.flat = true};
    for (int k = 0; k < OPERATION_LISTS; k++)
        look_at(operation_cases[k], name, &found);
    look_at(module_cases(), name, &found);
    return found;
}

static bool has_golden(const char *name)
{
    const golden_file *file = golden_read("ops");
    for (int i = 0; i < file->count; i++)
        if (strcmp(golden_text(&file->cases[i], "op"), name) == 0)
            return true;
    return false;
}

// How many of its tests an operation lacks; says which.
static int count_lacking(const char *name, bool golden)
{
    const covered c = cases_of(name);
    const struct {
        bool there;
        const char *what;
    } tests[] = {
        {c.forward || EXCUSED(without_case, name),
         "a case, and is neither in not_operations nor in without_case"},
        {!c.forward || c.gradient || c.flat || EXCUSED(without_gradient, name),
         "a case with gradients, and is not in without_gradient"},
        {!golden || has_golden(name) || EXCUSED(without_golden, name),
         "a case in tests/golden/make_ops.py, and is not in without_golden"},
    };
    int lacking = 0;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (!tests[i].there) {
            print_error("tern_%s lacks %s\n", name, tests[i].what);
            lacking++;
        }
    return lacking;
}

typedef struct header_check {
    bool golden;
    int lacking;
} header_check;

static void check_function(const char *name, void *user)
{
    header_check *check = user;
    if (!is_listed(name))
        check->lacking += count_lacking(name, check->golden);
}

void check_manifest(const char *include_dir)
{
    // Those that compute; those whose layers are compared with PyTorch's, and what arranges, makes
    // and asks.
    static const char *const computing[] = {"ops.h", "ops/activation.h", "ops/dropout.h",
                                            "ops/loss.h", "ops/shuffle.h"};
    static const char *const others[] = {
        "ops/conv.h",    "ops/norm.h", "ops/pool.h", "ops/resize.h", "ops/copy.h",
        "ops/inplace.h", "ops/join.h", "ops/view.h", "tensor.h",     "nn.h"};
    header_check check = {.golden = true};
    int found = 0;
    for (size_t i = 0; i < sizeof computing / sizeof *computing; i++)
        found += each_declared(include_dir, computing[i], "", "", check_function, &check);
    check.golden = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        found += each_declared(include_dir, others[i], "", "", check_function, &check);
    if (found < 100)
        fail_msg("%d functions were found: are the headers read rightly?", found);
    if (check.lacking)
        fail_msg("%d tests are not there", check.lacking);
}
