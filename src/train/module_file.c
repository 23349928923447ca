// SPDX-License-Identifier: Apache-2.0
// The weights of a module, alone in a file.
#include <stdio.h>
#include <string.h>
#include <tern/checkpoint.h>
#include <tern/io.h>
#include "base/error.h"
#include "nn/module/module.h"
#include "state/visitor.h"

// More of a path than this would push the rest out of the sentence.
#define PATH_SHOWN 200

tern_status tern_module_save(tern_module *module, const char *path)
{
    TERN_TRY(tern_check_module("module_save", module));
    if (!path)
        return tern_null_error("module_save", "path");
    tern_state *state = tern_module_state_dict(module);
    tern_status status = state ? tern_state_write(state, path) : tern_error_code();
    tern_state_free(state);
    return status;
}

static tern_status visit(void *module, tern_state_visitor *visitor)
{
    return tern_visit_module(visitor, NULL, module);
}

// The error of a load names the file.
static tern_status load(tern_module *module, const char *path, const tern_state *state)
{
    char function[PATH_SHOWN + 32];
    const size_t length = strlen(path), cut = length > PATH_SHOWN ? length - PATH_SHOWN : 0;
    snprintf(function, sizeof function, "module_load: %s%s", cut ? "..." : "", path + cut);
    return tern_state_load_as(
        &(tern_load_caller){
            .function = function, .options = TERN_LOAD_ALL, .call = "tern_module_load_state_dict"},
        &(tern_state_load_options){
            .strict = true, .state = state, .visit = visit, .object = module});
}

tern_status tern_module_load(tern_module *module, const char *path)
{
    TERN_TRY(tern_check_module("module_load", module));
    if (!path)
        return tern_null_error("module_load", "path");
    tern_state *state = tern_state_read(path, .map_location = "cpu");
    if (!state)
        return tern_error_code();
    tern_module_begin_run(module);
    tern_status status = load(module, path, state);
    tern_module_end_run(module);
    tern_state_free(state);
    return status;
}
