// SPDX-License-Identifier: Apache-2.0
// The part of CUDA's matrix functions that tensor cores work through, simulated: 16 x 16 results
// in float, of float16 or bfloat16 (16 terms at once) or TF32 (8). A fragment is spread over the
// lanes of a warp, in a way of its own, which programs must not know. Each function is a meeting of
// all 32 lanes at one place in the text.
#ifndef TERN_SIM_MMA_H
#define TERN_SIM_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

extern "C" {
// What each lane brought; valid until this one comes to its next meeting.
const uint64_t *tern_sim_warp_values(uint64_t value, const void *place);
void tern_sim_matrix_rule(bool kept, const char *rule); // the process ends where it is not kept
}

namespace nvcuda
{
namespace wmma
{

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
namespace precision
{
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

// To nearest, ties away from zero, as cvt.rna.tf32 rounds.
static inline float __float_to_tf32(float x)
{
    if (x != x)
        return tern_sim_float_of_bits(0x7fffffff);
    const uint32_t bits = tern_sim_bits_of_float(x);
    const bool finite = (bits & 0x7f800000) != 0x7f800000;
    return tern_sim_float_of_bits(finite ? (bits + 0x1000) & ~0x1fffu : bits);
}

template <class T> struct tern_sim_stored {
    typedef T type;
    static constexpr int terms = 16;
};
template <> struct tern_sim_stored<precision::tf32> {
    typedef float type;
    static constexpr int terms = 8;
};

template <class Use, int m, int n, int k> struct tern_sim_extent;
template <int m, int n, int k> struct tern_sim_extent<matrix_a, m, n, k> {
    static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct tern_sim_extent<matrix_b, m, n, k> {
    static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct tern_sim_extent<accumulator, m, n, k> {
    static constexpr int rows = m, columns = n;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment : tern_sim_extent<Use, m, n, k> {
    typedef typename tern_sim_stored<T>::type element_type;
    typedef tern_sim_extent<Use, m, n, k> extent;
    static constexpr int num_elements = extent::rows * extent::columns / 32;
    static constexpr bool by_rows = !std::is_same<Layout, col_major>::value;
    static_assert(m == 16 && n == 16, "the simulation has 16 x 16 results");
    static_assert(std::is_same<Use, accumulator>::value || k == tern_sim_stored<T>::terms,
                  "16 terms of 16 bits, or 8 of TF32");

    element_type x[num_elements];
    bool tern_sim_written = false;

    // Which element of the matrix is element i of a lane; 13 * 5 is 1 modulo 32.
    static int place(int i, int lane)
    {
        return 32 * i + (5 * lane + 3 * i + 7) % 32;
    }
    static int lane_of(int place)
    {
        return (13 * (place % 32 + 96 * 32 - 3 * (place / 32) - 7)) % 32;
    }
    static int row(int i, int lane)
    {
        return place(i, lane) / extent::columns;
    }
    static int column(int i, int lane)
    {
        return place(i, lane) % extent::columns;
    }
};

// The operands of each lane, by their addresses.
struct tern_sim_operands {
    const void *of[2];
};

template <class Fragment>
static inline float tern_sim_element(const uint64_t *lanes, int which, int row, int column)
{
    const int at = row * Fragment::columns + column;
    const int owner = Fragment::lane_of(at);
    const void *lane = reinterpret_cast<const tern_sim_operands *>(lanes[owner])->of[which];
    return (float)static_cast<const Fragment *>(lane)->x[at / 32];
}

template <class Fragment>
static inline void fill_fragment(Fragment &made, typename Fragment::element_type value)
{
    for (int i = 0; i < Fragment::num_elements; i++)
        made.x[i] = value;
    made.tern_sim_written = true;
}

static inline void tern_sim_check_tile(const void *place, const void *data, unsigned leading,
                                       size_t size, unsigned line)
{
    tern_sim_matrix_rule((uintptr_t)data % 32 == 0, "a matrix begins at a multiple of 32 bytes");
    tern_sim_matrix_rule(leading * size % 16 == 0, "its lines are a multiple of 16 bytes apart");
    tern_sim_matrix_rule(leading >= line, "its lines do not overlap");
    const uint64_t at = (uint64_t)(uintptr_t)data;
    const uint64_t *lanes = tern_sim_warp_values(at, place);
    bool same = true;
    for (int lane = 0; lane < 32; lane++)
        same = same && lanes[lane] == at;
    tern_sim_matrix_rule(same, "all lanes name one matrix");
    lanes = tern_sim_warp_values(leading, place);
    for (int lane = 0; lane < 32; lane++)
        same = same && lanes[lane] == leading;
    tern_sim_matrix_rule(same, "all lanes name one leading dimension");
}

template <class Fragment, class T>
static inline void tern_sim_load_matrix(const void *place, Fragment &made, const T *data,
                                        unsigned leading)
{
    static_assert(std::is_same<T, typename Fragment::element_type>::value, "elements of its type");
    const int lane = tern_sim_lane();
    tern_sim_check_tile(place, data, leading, sizeof(T),
                        Fragment::by_rows ? Fragment::columns : Fragment::rows);
    for (int i = 0; i < Fragment::num_elements; i++) {
        const int row = Fragment::row(i, lane), column = Fragment::column(i, lane);
        made.x[i] = Fragment::by_rows ? data[row * (int)leading + column]
                                      : data[column * (int)leading + row];
    }
    made.tern_sim_written = true;
}

template <class Fragment>
static inline void tern_sim_store_matrix(const void *place, float *data, const Fragment &from,
                                         unsigned leading, layout_t layout)
{
    const int lane = tern_sim_lane();
    tern_sim_matrix_rule(from.tern_sim_written, "a fragment is filled before it is stored");
    tern_sim_check_tile(place, data, leading, sizeof(float), 16);
    for (int i = 0; i < Fragment::num_elements; i++) {
        const int row = Fragment::row(i, lane), column = Fragment::column(i, lane);
        data[layout == mem_row_major ? row * (int)leading + column : column * (int)leading + row] =
            from.x[i];
    }
}

template <class T, class Fragment> static inline void tern_sim_check_rounded(const Fragment &x)
{
    tern_sim_matrix_rule(x.tern_sim_written, "a fragment is filled before it is multiplied");
    if (std::is_same<T, precision::tf32>::value)
        for (int i = 0; i < Fragment::num_elements; i++)
            tern_sim_matrix_rule(x.x[i] != x.x[i] ||
                                     (tern_sim_bits_of_float((float)x.x[i]) & 0x1fff) == 0,
                                 "elements of TF32 are rounded by __float_to_tf32");
}

// Products are exact, sums in float.
template <int k, class T, class LayoutA, class LayoutB>
static inline void tern_sim_multiply(const void *place, fragment<accumulator, 16, 16, k, float> &d,
                                     const fragment<matrix_a, 16, 16, k, T, LayoutA> &a,
                                     const fragment<matrix_b, 16, 16, k, T, LayoutB> &b,
                                     const fragment<accumulator, 16, 16, k, float> &c)
{
    typedef fragment<accumulator, 16, 16, k, float> sums;
    tern_sim_check_rounded<T>(a);
    tern_sim_check_rounded<T>(b);
    tern_sim_check_rounded<float>(c);
    const int lane = tern_sim_lane();
    const tern_sim_operands mine = {{&a, &b}};
    const uint64_t *lanes = tern_sim_warp_values((uint64_t)(uintptr_t)&mine, place);
    for (int i = 0; i < sums::num_elements; i++) {
        const int row = sums::row(i, lane), column = sums::column(i, lane);
        float sum = c.x[i];
        for (int term = 0; term < k; term++)
            sum +=
                tern_sim_element<fragment<matrix_a, 16, 16, k, T, LayoutA>>(lanes, 0, row, term) *
                tern_sim_element<fragment<matrix_b, 16, 16, k, T, LayoutB>>(lanes, 1, term, column);
        d.x[i] = sum;
    }
    d.tern_sim_written = true;
    tern_sim_warp_values(0, place); // no lane writes a or b anew before all have read them
}

} // namespace wmma
} // namespace nvcuda

#define load_matrix_sync(...)  tern_sim_load_matrix(TERN_SIM_PLACE(), __VA_ARGS__)
#define store_matrix_sync(...) tern_sim_store_matrix(TERN_SIM_PLACE(), __VA_ARGS__)
#define mma_sync(...)          tern_sim_multiply(TERN_SIM_PLACE(), __VA_ARGS__)

#endif
