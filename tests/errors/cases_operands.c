// SPDX-License-Identifier: Apache-2.0
// Operations on one or two tensors and nothing else: those of the headers.
#include "errors.h"

#include "operations.h"

#define OF_1(name, says, a)                                                                        \
    NULL_AND_DEAD(tern_##name, says, a, tern_##name(NULL), tern_##name(f->dead))
#define OF_2(name, says, a, b)                                                                     \
    NULL_AND_DEAD(tern_##name, says, a, tern_##name(NULL, f->x), tern_##name(f->dead, f->x))       \
    NULL_AND_DEAD(tern_##name, says, b, tern_##name(f->x, NULL), tern_##name(f->x, f->dead))

OPERATIONS_OF_1(OF_1)
OPERATIONS_OF_2(OF_2)
