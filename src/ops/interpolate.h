// SPDX-License-Identifier: Apache-2.0
// Resizing, as operation and as module.
#ifndef TERN_SRC_OPS_INTERPOLATE_H
#define TERN_SRC_OPS_INTERPOLATE_H

#include "ops/op.h"

// "bilinear"; NULL for what is no mode.
const char *tern_interpolate_mode_name(tern_interpolate_mode mode);
// How many scales are given.
int tern_scales_count(const tern_scales *scales);
// What no x can be resized with is refused; x is not looked at.
tern_status tern_interpolate_check(const char *name, const tern_interpolate_options *options);

#endif
