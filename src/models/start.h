// SPDX-License-Identifier: Apache-2.0
// How the networks start.
#ifndef TERN_SRC_MODELS_START_H
#define TERN_SRC_MODELS_START_H

#include <tern/models.h>

// Kaiming's normal distribution by the fan-out, with the gain of ReLU (He et al. 2015, "Delving
// Deep into Rectifiers"), for the weight of a convolution.
tern_status tern_models_draw_conv(tern_tensor *weight, tern_generator *generator);

// TERN_ERR_ARG where there is no class.
tern_status tern_models_check_classes(const char *function, int64_t num_classes);

#endif
