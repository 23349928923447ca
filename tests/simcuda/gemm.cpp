// SPDX-License-Identifier: Apache-2.0
// Operands are read into panels of the type that sums are kept in; tiles of 8 x 4 sums are added up
// over 256 products at a time, which keeps the error of long sums small.
#include "gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim_half.h"

namespace sim
{

static constexpr int tile_m = 8, tile_n = 4, depth = 256;

static float to_tf32(float value)
{
    uint32_t bits = tern_sim_bits_of_float(value);
    if ((bits & 0x7f800000) == 0x7f800000)
        return value;
    return tern_sim_float_of_bits((bits + 0x1000) & ~0x1fffu); // ties away from zero
}

static double load(const Operand &x, size_t at)
{
    switch (x.type) {
    case CUDA_R_64F:
        return ((const double *)x.data)[at];
    case CUDA_R_32F:
        return ((const float *)x.data)[at];
    case CUDA_R_16F:
        return tern_sim_half_to_float(((const uint16_t *)x.data)[at]);
    case CUDA_R_16BF:
        return tern_sim_bfloat16_to_float(((const uint16_t *)x.data)[at]);
    }
    return 0;
}

static void store(const Operand &x, size_t at, double value)
{
    void *data = const_cast<void *>(x.data);
    switch (x.type) {
    case CUDA_R_64F:
        ((double *)data)[at] = value;
        break;
    case CUDA_R_32F:
        ((float *)data)[at] = (float)value;
        break;
    case CUDA_R_16F:
        ((uint16_t *)data)[at] = tern_sim_float_to_half((float)value);
        break;
    case CUDA_R_16BF:
        ((uint16_t *)data)[at] = tern_sim_float_to_bfloat16((float)value);
        break;
    }
}

// Element (row, col) of op(x) is at row * row_step + col * col_step.
struct Steps {
    size_t row, col;
};

static Steps steps_of(const Operand &x)
{
    return x.transposed ? Steps{(size_t)x.ld, 1} : Steps{1, (size_t)x.ld};
}

// `width` rows of op(x) beside each other for each column from `col` on; zeros past the last row.
template <class T>
static void pack(std::vector<T> &panel, const Operand &x, Steps steps, size_t base, int rows,
                 int col, int cols, int width, bool tf32)
{
    int panels = (rows + width - 1) / width;
    panel.assign((size_t)panels * (size_t)width * (size_t)cols, 0);
    for (int p = 0; p < cols; p++)
        for (int row = 0; row < rows; row++) {
            double value = load(x, base + (size_t)row * steps.row + (size_t)(col + p) * steps.col);
            size_t at = ((size_t)(row / width) * (size_t)cols + (size_t)p) * (size_t)width;
            panel[at + (size_t)(row % width)] = (T)(tf32 ? to_tf32((float)value) : value);
        }
}

template <class T>
__attribute__((always_inline)) static inline void tile_body(const T *a, const T *b, int k, T *sums)
{
    T local[tile_n][tile_m] = {};
    for (int p = 0; p < k; p++, a += tile_m, b += tile_n)
        for (int j = 0; j < tile_n; j++)
            for (int i = 0; i < tile_m; i++)
                local[j][i] += a[i] * b[j];
    for (int j = 0; j < tile_n; j++)
        for (int i = 0; i < tile_m; i++)
            sums[j * tile_m + i] += local[j][i];
}

template <class T>
__attribute__((target("avx2,fma"))) static void tile_wide(const T *a, const T *b, int k, T *sums)
{
    tile_body(a, b, k, sums);
}

template <class T> static void tile_plain(const T *a, const T *b, int k, T *sums)
{
    tile_body(a, b, k, sums);
}

template <class T>
static void add_tiles(std::vector<T> &sums, const std::vector<T> &a, const std::vector<T> &b,
                      int tiles_m, int tiles_n, int k)
{
    static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    auto tile = wide ? tile_wide<T> : tile_plain<T>;
    for (int j = 0; j < tiles_n; j++)
        for (int i = 0; i < tiles_m; i++)
            tile(&a[(size_t)i * (size_t)(tile_m * k)], &b[(size_t)j * (size_t)(tile_n * k)], k,
                 &sums[((size_t)j * (size_t)tiles_m + (size_t)i) * (tile_m * tile_n)]);
}

template <class T>
static void write_back(const Product &x, const std::vector<T> &sums, size_t base, int tiles_m)
{
    T alpha = (T)x.alpha, beta = (T)x.beta;
    for (int j = 0; j < x.n; j++)
        for (int i = 0; i < x.m; i++) {
            size_t tile = (size_t)(j / tile_n) * (size_t)tiles_m + (size_t)(i / tile_m);
            size_t within = (size_t)(j % tile_n * tile_m + i % tile_m);
            size_t at = base + (size_t)j * (size_t)x.c.ld + (size_t)i;
            T value = alpha * sums[tile * (tile_m * tile_n) + within];
            if (beta != 0) // else c is not read: it may hold anything
                value += beta * (T)load(x.c, at);
            store(x.c, at, value);
        }
}

template <class T> static void multiply_as(const Product &x)
{
    int tiles_m = (x.m + tile_m - 1) / tile_m, tiles_n = (x.n + tile_n - 1) / tile_n;
    Steps a_steps = steps_of(x.a), b_steps = steps_of(x.b);
    std::vector<T> a, b, sums;
    for (int batch = 0; batch < x.count; batch++) {
        sums.assign((size_t)tiles_m * (size_t)tiles_n * tile_m * tile_n, 0);
        for (int p = 0; p < x.k && x.alpha != 0; p += depth) {
            int deep = std::min(depth, x.k - p);
            pack(a, x.a, a_steps, (size_t)(batch * x.a.stride), x.m, p, deep, tile_m, x.tf32);
            Steps turned = {b_steps.col, b_steps.row}; // columns of op(b) beside each other
            pack(b, x.b, turned, (size_t)(batch * x.b.stride), x.n, p, deep, tile_n, x.tf32);
            add_tiles(sums, a, b, tiles_m, tiles_n, deep);
        }
        write_back(x, sums, (size_t)(batch * x.c.stride), tiles_m);
    }
}

void multiply(const Product &product)
{
    if (product.in_double)
        multiply_as<double>(product);
    else
        multiply_as<float>(product);
}

} // namespace sim
