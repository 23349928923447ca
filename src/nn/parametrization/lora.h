// SPDX-License-Identifier: Apache-2.0
// Adapted layers: those whose module has an adapter, with A and B as children.
#ifndef TERN_SRC_NN_PARAMETRIZATION_LORA_H
#define TERN_SRC_NN_PARAMETRIZATION_LORA_H

#include <tern/lora.h>
#include "nn/layer/layer.h"
#include "nn/module/parametrize.h"

#define TERN_LORA_A "lora_A"
#define TERN_LORA_B "lora_B"

// Layers and their full names, found before anything changes: what is traversed may not.
typedef struct tern_lora_layer {
    tern_module *module;
    char *name;
} tern_lora_layer;

typedef struct tern_lora_layers {
    tern_lora_layer *at;
    int64_t count, capacity;
} tern_lora_layers;

tern_status tern_lora_add_layer(tern_lora_layers *layers, tern_module *module, const char *name);
void tern_lora_free_layers(tern_lora_layers *layers);
// All adapted layers of the module, distinct; TERN_ERR_ARG when there is none.
tern_status tern_lora_find(const char *function, tern_module *module, tern_lora_layers *layers);

// The child of an adapted layer; NULL when it is not there.
tern_module *tern_lora_child(const tern_module *layer, const char *name);
// Whether the module is A or B of a layer.
bool tern_lora_is_part(const tern_module *module);

#endif
