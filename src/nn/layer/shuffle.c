// SPDX-License-Identifier: Apache-2.0
// Elements in other places: pixels into channels and back, and channels among themselves.
#include "nn/layer/layer.h"

typedef struct shuffle {
    tern_module base;
    int64_t factor;
} shuffle;

// A class with its number, and the constructor.
#define LAYER(layer, title, number)                                                                \
    static tern_status call_##layer(tern_module *module, const tern_tensors *in,                   \
                                    tern_tensors *out)                                             \
    {                                                                                              \
        const shuffle *self = (const shuffle *)module;                                             \
        TERN_TRY(tern_layer_inputs(module, in, 1));                                                \
        return tern_layer_output(out, tern_##layer(in->at[0], self->factor));                      \
    }                                                                                              \
    static void describe_##layer(const tern_module *module, tern_text *out)                        \
    {                                                                                              \
        const shuffle *self = (const shuffle *)module;                                             \
        tern_text_add(out, #number "=%lld", (long long)self->factor);                              \
    }                                                                                              \
    tern_module *tern_nn_##layer(int64_t number)                                                   \
    {                                                                                              \
        static const tern_module_class layer##_class = {.name = title,                             \
                                                        .size = sizeof(shuffle),                   \
                                                        .call = call_##layer,                      \
                                                        .describe = describe_##layer};             \
        TERN_CHECK_PTR(number > 0, TERN_ERR_ARG,                                                   \
                       "nn_" #layer ": " #number " is %lld, but must be positive",                 \
                       (long long)number);                                                         \
        shuffle *self = (shuffle *)tern_module_new(&layer##_class);                                \
        if (!self)                                                                                 \
            return NULL;                                                                           \
        self->factor = number;                                                                     \
        return tern_module_done(&self->base);                                                      \
    }

// clang-format off
LAYER(pixel_shuffle, "PixelShuffle", upscale_factor)
LAYER(pixel_unshuffle, "PixelUnshuffle", downscale_factor)
LAYER(channel_shuffle, "ChannelShuffle", groups)
// clang-format on
