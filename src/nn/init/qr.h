// SPDX-License-Identifier: Apache-2.0
// The QR decomposition of a matrix, for orthogonal initial values.
#ifndef TERN_SRC_NN_INIT_QR_H
#define TERN_SRC_NN_INIT_QR_H

#include <stdint.h>

// From columns (count, length) of a matrix, count <= length, the columns of its Q into q (count,
// length): those whose R has a positive diagonal, 0 where that is 0. Leaves reflections in
// `columns`.
void tern_init_qr(double *columns, double *q, int64_t count, int64_t length);

#endif
