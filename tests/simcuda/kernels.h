// SPDX-License-Identifier: Apache-2.0
// Kernels for the tests of the simulated device.
#ifndef TERN_SIM_KERNELS_H
#define TERN_SIM_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// On the 64 floats of a buffer.
void launch_scale_and_add(cudaStream_t stream, float *x, float factor, float addend);
void launch_copy(cudaStream_t stream, float *to, const float *from);
void launch_too_large(cudaStream_t stream, float *x); // a block of 2048 threads
cudaError_t launch_with_shared(cudaStream_t stream, float *x, size_t shared_bytes, int limit);

// The device language: what each thread sees or computes.
struct place {
    unsigned thread[3], block[3], block_dim[3], grid_dim[3];
};
void launch_places(cudaStream_t stream, struct place *places, const unsigned grid[3],
                   const unsigned block[3]);

struct lane {
    int xored;       // lane ^ 5
    float up;        // lane - 3, within 8
    double down;     // lane + 4, within 16
    long long nth;   // lane 11's
    unsigned ballot; // of odd lanes
    int any, all;    // of lane 7; of lanes below 32
    unsigned active;
    int count, some, every; // of the block's threads divisible by 3; 99; below 1000
};
void launch_lanes(cudaStream_t stream, struct lane *lanes, unsigned threads);

// sums[block]: of what the threads of the block left in shared memory for each other.
void launch_block_sums(cudaStream_t stream, float *sums, unsigned blocks, unsigned threads);
void launch_dynamic_sums(cudaStream_t stream, double *sums, unsigned blocks, unsigned threads);

struct totals {
    int sum, most, least, swapped, difference, bits_or, bits_and, bits_xor;
    unsigned wrapped;
    unsigned long long wide_sum;
    long long wide_most;
    float float_sum;
    double double_sum;
};
void launch_totals(cudaStream_t stream, struct totals *totals, unsigned blocks, unsigned threads);

struct numbers {
    float rsqrt, sincos[2], fused, saturated[3], as_float, fast_exp, product;
    unsigned as_uint, high, population;
    unsigned long long wide_high;
    int leading, first, int_min, rounded;
    long long mixed_max;
    double as_double;
    float min_with_nan, max_with_nan;
    int nan, inf, finite;
};
void launch_numbers(cudaStream_t stream, struct numbers *numbers, float x);

// y[i] = x[i] + x[i], sixteen bytes at a time.
void launch_wide_double(cudaStream_t stream, float *y, const float *x, unsigned quads);

// Sums (16, 16) += a b by tensor cores, of a (16, terms) and b (terms, 16): by rows, or b by
// columns. The elements are rounded first to float16, bfloat16 (16 terms) or TF32 (8).
struct matrices {
    float a[16 * 16], b[16 * 16], sums[16 * 16], rounded[16 * 16]; // rounded: a
};
enum matrix_dtype { MATRIX_FLOAT16, MATRIX_BFLOAT16, MATRIX_TF32 };
void launch_matrices(cudaStream_t stream, struct matrices *matrices, enum matrix_dtype dtype,
                     bool columns);

// The 16-bit types of C++: their bits.
uint16_t half_of_double(double x);
uint16_t bfloat16_of_double(double x);
uint16_t half_arithmetic(uint16_t a, uint16_t b); // their product

#ifdef __cplusplus
}
#endif

#endif
