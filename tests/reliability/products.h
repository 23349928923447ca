// SPDX-License-Identifier: Apache-2.0
// Matrix products of everyday sizes, forward and backward, by element.
#ifndef TERN_TESTS_RELIABILITY_PRODUCTS_H
#define TERN_TESTS_RELIABILITY_PRODUCTS_H

// Fails the test unless every element of a linear layer's and of a product's results and gradients
// (float32, rows x inner by inner x cols) is within 2 K 2^-24 (sum of |a b|), K being how many
// products were summed. Returns the largest share of that bound.
double check_linear(int rows, int inner, int cols);
double check_matmul(int rows, int inner, int cols);

#endif
