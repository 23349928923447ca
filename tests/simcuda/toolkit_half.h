// SPDX-License-Identifier: Apache-2.0
// The toolkit's own 16-bit types, on the host: what the simulated ones are compared with where
// there is a toolkit.
#ifndef TERN_SIM_TOOLKIT_HALF_H
#define TERN_SIM_TOOLKIT_HALF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint16_t toolkit_float_to_half(float x);
uint16_t toolkit_double_to_half(double x);
float toolkit_half_to_float(uint16_t bits);
uint16_t toolkit_float_to_bfloat16(float x);
uint16_t toolkit_double_to_bfloat16(double x);
float toolkit_bfloat16_to_float(uint16_t bits);

#ifdef __cplusplus
}
#endif

#endif
