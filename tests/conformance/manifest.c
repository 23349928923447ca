// SPDX-License-Identifier: Apache-2.0
// No operation without a case: the names come from the public headers at the time of the test.
#include "manifest.h"

#include <ctype.h>

#include "check.h"
#include "conformance.h"

// Functions of ops.h and tensor.h that compute nothing, or whose results other suites hold.
static const char *const not_operations[] = {
    // dtypes, shapes, options
    "dtype_name",
    "dtype_size",
    "dtype_is_floating",
    "shape_make",
    "axis_list_make",
    "shape_numel",
    "shape_equal",
    "promote",
    "default_dtype",
    "set_default_dtype",
    "zeros_defaults",
    "empty_defaults",
    "ones_defaults",
    "full_defaults",
    "arange_defaults",
    "linspace_defaults",
    "eye_defaults",
    "from_data_defaults",
    "cross_entropy_defaults",
    // making tensors: tests/unit/test_create.c
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
    // short forms of others, and what is made of them: tests/unit/test_ops.c
    "sum_all",
    "mean_all",
    "accuracy",
};

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < sizeof not_operations / sizeof *not_operations; i++)
        if (strcmp(not_operations[i], name) == 0)
            return true;
    return false;
}

static bool has_case(const char *name)
{
    const case_list *lists[] = {&elementwise_cases, &reduction_cases, &product_cases, &shape_cases};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (int i = 0; i < lists[k]->count; i++)
            if (strcmp(lists[k]->cases[i].op, name) == 0)
                return true;
    return false;
}

// Reads "TERN_API ... tern_NAME(" and gives NAME, without the "_with" of options; NULL on other
// lines.
static const char *declared_name(const char *line, char *name, size_t size)
{
    if (strncmp(line, "TERN_API", 8) != 0)
        return NULL;
    const char *paren = strchr(line, '('), *start = paren;
    while (start && start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
        start--;
    if (!start || strncmp(start, "tern_", 5) != 0)
        return NULL;
    snprintf(name, size, "%.*s", (int)(paren - start - 5), start + 5);
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, "_with") == 0)
        name[length - 5] = 0;
    return name;
}

static int check_header(const char *path, int *missing)
{
    char line[512], name[64];
    int found = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s", path);
    while (fgets(line, sizeof line, file)) {
        if (!declared_name(line, name, sizeof name))
            continue;
        found++;
        if (has_case(name) || is_listed(name))
            continue;
        print_error("tern_%s has neither a case nor an entry in not_operations\n", name);
        ++*missing;
    }
    fclose(file);
    return found;
}

void check_manifest(const char *include_dir)
{
    static const char *const headers[] = {"ops.h",      "ops/copy.h", "ops/inplace.h",
                                          "ops/join.h", "ops/view.h", "tensor.h"};
    int missing = 0, found = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/tern/%s", include_dir, headers[i]);
        found += check_header(path, &missing);
    }
    if (found < 100)
        fail_msg("%d functions were found: are the headers read rightly?", found);
    if (missing)
        fail_msg("%d functions are not covered", missing);
}
