// SPDX-License-Identifier: Apache-2.0
// No module, optimizer or dataset without a row in the tables that the suites run through: those
// of modules are copied, saved and loaded, and compared with PyTorch's; optimizers are compared,
// and interrupted; datasets are loaded. tests/reliability/runs.c trains optimizers and losses.
#include "manifest.h"

#include <stdio.h>

#include "support/check.h"
#include "support/declared.h"
#include "golden/golden_optim.h"
#include "support/public_datasets.h"
#include "support/public_modules.h"

// PyTorch's names, and the calls here.
#define OPTIMIZER(name, call) {#name, #call},
static const struct {
    const char *name, *call;
} optimizers[] = {GOLDEN_OPTIMIZERS(OPTIMIZER)};
#undef OPTIMIZER

#define DATASET(name, ...) #name,
static const char *const datasets[] = {PUBLIC_DATASETS(DATASET)};
#undef DATASET

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static void lacks(int *lacking, const char *kind, const char *name, const char *what)
{
    print_error("tern_%s%s lacks %s\n", kind, name, what);
    ++*lacking;
}

// A stored case of this family in which `word` has the value.
static bool is_stored(const char *family, const char *word, const char *value)
{
    const golden_file *file = golden_read(family);
    for (int i = 0; i < file->count; i++) {
        const char *text = golden_text(&file->cases[i], word);
        if (text && strcmp(text, value) == 0)
            return true;
    }
    return false;
}

static void check_module(const char *name, void *lacking)
{
    const char *constructor = name + strlen("nn_");
    int rows = is_stored("parametrizations", "kind", constructor);
    for (int i = 0; i < PUBLIC_MODULE_COUNT; i++) {
        if (strcmp(public_modules[i].constructor, constructor) != 0)
            continue;
        rows++;
        if (!is_stored("modules", "module", public_modules[i].name))
            lacks(lacking, "nn_", public_modules[i].name,
                  "a case in tests/golden/modules_*.py (is scripts/golden.sh to be run?)");
    }
    if (rows == 0)
        lacks(lacking, "", name, "a row in tests/support/modules");
}

static void check_optimizer(const char *name, void *lacking)
{
    const char *found = NULL;
    char call[128];
    snprintf(call, sizeof call, "tern_%s(", name);
    for (int i = 0; i < COUNT(optimizers); i++)
        if (strncmp(optimizers[i].call, call, strlen(call)) == 0)
            found = optimizers[i].name;
    if (!found)
        lacks(lacking, "", name, "a row in GOLDEN_OPTIMIZERS of tests/golden/golden_optim.h");
    else if (!is_stored("small", "optimizer", found) && !is_stored("lbfgs", "optimizer", found))
        lacks(lacking, "", name, "a run in tests/golden/make_mlp.py");
}

static void check_dataset(const char *name, void *lacking)
{
    bool found = strncmp(name, "data_", 5) != 0; // dataset_retain and the like
    for (int i = 0; i < COUNT(datasets); i++)
        found = found || strcmp(datasets[i], name + 5) == 0;
    if (!found)
        lacks(lacking, "", name, "a row in tests/support/public_datasets.h");
}

void check_public_objects(const char *include_dir)
{
    static const struct {
        const char *header, *returns, *end;
        declared_fn *check;
        int least;
    } kinds[] = {
        {"nn.h", "tern_module *", "", check_module, 17},
        {"optimizers.h", "tern_optim *", "_with", check_optimizer, 5},
        {"datasets.h", "tern_dataset *", "", check_dataset, 11},
    };
    int lacking = 0;
    for (int i = 0; i < COUNT(kinds); i++) {
        int found = each_declared(include_dir, kinds[i].header, kinds[i].returns, kinds[i].end,
                                  kinds[i].check, &lacking);
        if (found < kinds[i].least)
            fail_msg("%d were found in %s: is it read rightly?", found, kinds[i].header);
    }
    if (lacking)
        fail_msg("%d rows are not there", lacking);
}
