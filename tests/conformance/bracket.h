// SPDX-License-Identifier: Apache-2.0
#ifndef TERN_TESTS_BRACKET_H
#define TERN_TESTS_BRACKET_H

#include <tern/device.h>

// Fails unless every operation that has a case ends its call by tern_op_end.
void check_brackets(tern_device device);

#endif
