// SPDX-License-Identifier: Apache-2.0
// The device language: what kernels compute is what CUDA's manual says of it, within the errors
// that it states.
#include "check_sim.h"

static cudaStream_t stream;

static void *new_block(size_t nbytes, int fill)
{
    void *data;
    assert_done(cudaMalloc(&data, nbytes));
    assert_done(cudaMemsetAsync(data, fill, nbytes, stream));
    return data;
}

static void take(void *host, void *data, size_t nbytes)
{
    assert_done(cudaPeekAtLastError());
    assert_done(cudaMemcpyAsync(host, data, nbytes, cudaMemcpyDeviceToHost, stream));
    assert_done(cudaStreamSynchronize(stream));
    assert_done(cudaFree(data));
}

static void every_thread_knows_its_place(void **state)
{
    (void)state;
    const unsigned grid[3] = {3, 2, 2}, block[3] = {5, 4, 3};
    struct place places[12 * 60], *seen = new_block(sizeof places, 0);
    launch_places(stream, seen, grid, block);
    take(places, seen, sizeof places);
    for (unsigned i = 0; i < 12 * 60; i++) {
        struct place want = {{i % 5, i / 5 % 4, i / 20 % 3},
                             {i / 60 % 3, i / 180 % 2, i / 360},
                             {5, 4, 3},
                             {3, 2, 2}};
        assert_memory_equal(&places[i], &want, sizeof want);
    }
}

// 48 threads: a whole warp and half of one.
static void lanes_hand_each_other_values(void **state)
{
    (void)state;
    struct lane lanes[48], *seen = new_block(sizeof lanes, 0);
    launch_lanes(stream, seen, 48);
    take(lanes, seen, sizeof lanes);
    for (int i = 0; i < 48; i++) {
        int lane = i % 32, warp = i - lane;
        assert_int_equal(lanes[i].xored, warp + (lane ^ 5));
        assert_true(lanes[i].up == 0.5f * (float)(i % 8 < 3 ? i : i - 3));
        assert_true(lanes[i].down == 0.25 * (i % 16 < 12 ? i + 4 : i));
        assert_true(lanes[i].nth == (long long)(warp + 11) << 40);
        assert_int_equal(lanes[i].ballot, warp ? 0xaaaa : 0xaaaaaaaa);
        if (simulated) // a device may part the lanes of a warp
            assert_int_equal(lanes[i].active, warp ? 0xffff : 0xffffffff);
        assert_true(lanes[i].active >> lane & 1);
        assert_true(lanes[i].any && lanes[i].all);
        assert_int_equal(lanes[i].count, 16);
        assert_false(lanes[i].some);
        assert_true(lanes[i].every);
    }
}

static void shared_memory_is_one_for_a_block(void **state)
{
    (void)state;
    float sums[5];
    float *data = new_block(sizeof sums, 0);
    launch_block_sums(stream, data, 5, 128);
    take(sums, data, sizeof sums);
    for (int block = 0; block < 5; block++) // 0 + ... + 127, the block's number and 1 for each
        assert_true(sums[block] == (float)(127 * 64 + 128 * block + 128));
}

static void dynamic_shared_memory_has_the_size_of_the_launch(void **state)
{
    (void)state;
    double sums[3], *data = new_block(sizeof sums, 0);
    launch_dynamic_sums(stream, data, 3, 256);
    take(sums, data, sizeof sums);
    for (int block = 0; block < 3; block++)
        assert_true(sums[block] == 0.5 * 255 * 128);
}

static void atomics_lose_nothing(void **state)
{
    (void)state;
    struct totals t, *data = new_block(sizeof t, 0);
    launch_totals(stream, data, 4, 96); // 384 threads
    take(&t, data, sizeof t);
    assert_int_equal(t.sum, 383 * 192);
    assert_int_equal(t.difference, -383 * 192);
    assert_int_equal(t.most, 383);
    assert_int_equal(t.least, -383);
    assert_int_equal(t.bits_or, 255);
    assert_int_equal(t.bits_and, 0);
    assert_int_equal(t.bits_xor, 0);
    assert_int_equal(t.wrapped, 384 % 10);
    assert_true(t.wide_sum == 384ull << 33);
    assert_true(t.wide_most == 383ll << 33);
    assert_true(t.float_sum == 192);
    assert_true(t.double_sum == 96);
    assert_in_range(-t.swapped, 1, 384);
}

// So many units in the last place from the nearest float, as CUDA's manual counts them.
static bool within(int units, float got, double want)
{
    float nearest = (float)want, unit = nextafterf(nearest, INFINITY) - nearest;
    return fabsf(got - nearest) <= (float)units * unit;
}

static void functions_compute_what_they_say(void **state)
{
    (void)state;
    struct numbers n, *data = new_block(sizeof n, 0);
    launch_numbers(stream, data, 1.5f);
    take(&n, data, sizeof n);
    assert_true(within(2, n.rsqrt, 0.81649658092772603));
    assert_true(within(2, n.sincos[0], 0.99749498660405443));
    assert_true(within(2, n.sincos[1], 0.0707372016677029));
    assert_true(n.fused == 1.25f && n.product == 4.5f);
    assert_true(n.saturated[0] == 0 && n.saturated[1] == 0.25f && n.saturated[2] == 1);
    assert_int_equal(n.as_uint, 0x3fc00000);
    assert_true(n.as_float == 3.14159265358979f && n.as_double == 2);
    assert_true(within(3, n.fast_exp, 4.4816890703380645)); // 2 + floor(1.173 * 1.5)
    assert_int_equal(n.high, 0xa8ed3844);
    assert_int_equal(n.wide_high, 15);
    assert_int_equal(n.population, 8);
    assert_int_equal(n.leading, 31);
    assert_int_equal(n.first, 4);
    assert_int_equal(n.rounded, 2);
    assert_int_equal(n.int_min, -4);
    assert_int_equal(n.mixed_max, 7);
    assert_true(n.min_with_nan == 1.5f && n.max_with_nan == 1.5f);
    assert_true(n.nan && n.inf && n.finite);
}

static void vectors_load_sixteen_bytes(void **state)
{
    (void)state;
    float x[40], y[40], *dx = new_block(sizeof x, 0), *dy = new_block(sizeof y, 0);
    for (int i = 0; i < 40; i++)
        x[i] = (float)i;
    assert_done(cudaMemcpyAsync(dx, x, sizeof x, cudaMemcpyHostToDevice, stream));
    launch_wide_double(stream, dy, dx, 10);
    take(y, dy, sizeof y);
    for (int i = 0; i < 40; i++)
        assert_true(y[i] == (float)(2 * i));
    assert_done(cudaFree(dx));
}

static double matrix_sum(const struct matrices *m, int terms, bool by_columns, int row, int column)
{
    double sum = 0.5;
    for (int k = 0; k < terms; k++)
        sum += (double)m->a[row * terms + k] *
               (double)m->b[by_columns ? column * terms + k : k * 16 + column];
    return sum;
}

// Of small integers: every sum is exact.
static void tensor_cores_multiply_matrices(void **state)
{
    (void)state;
    for (int way = 0; way < 6; way++) {
        const bool by_columns = way >= 3;
        const int terms = way % 3 == MATRIX_TF32 ? 8 : 16;
        struct matrices m = {0}, *there = new_block(sizeof m, 0);
        for (int i = 0; i < 256; i++) {
            m.a[i] = (float)(i * 7 % 11 - 5);
            m.b[i] = (float)(i * 5 % 13 - 6);
        }
        assert_done(cudaMemcpyAsync(there, &m, sizeof m, cudaMemcpyHostToDevice, stream));
        launch_matrices(stream, there, (enum matrix_dtype)(way % 3), by_columns);
        take(&m, there, sizeof m);
        for (int i = 0; i < 256; i++)
            assert_true(m.sums[i] == (float)matrix_sum(&m, terms, by_columns, i / 16, i % 16));
    }
}

// 10 bits of fraction, to nearest; a tie goes away from zero.
static void tf32_is_rounded_to_nearest_and_away_from_zero(void **state)
{
    (void)state;
    const float ulp = 0x1p-10f;
    const float x[] = {1,       1 + ulp / 2,          1 + ulp / 2 - 0x1p-23f, 1 + ulp + ulp / 2,
                       0x1p60f, -(1 + ulp + ulp / 2), -(1 + ulp / 4),         INFINITY};
    const float rounded[] = {1, 1 + ulp, 1, 1 + 2 * ulp, 0x1p60f, -(1 + 2 * ulp), -1, INFINITY};
    struct matrices m = {0}, *there = new_block(sizeof m, 0);
    memcpy(m.a, x, sizeof x);
    assert_done(cudaMemcpyAsync(there, &m, sizeof m, cudaMemcpyHostToDevice, stream));
    launch_matrices(stream, there, MATRIX_TF32, false);
    take(&m, there, sizeof m);
    assert_memory_equal(m.rounded, rounded, sizeof rounded);
}

static int set_up(void **state)
{
    (void)state;
    stream = new_stream(cudaStreamNonBlocking);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return cudaStreamDestroy(stream) != cudaSuccess;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_knows_its_place),
        cmocka_unit_test(lanes_hand_each_other_values),
        cmocka_unit_test(shared_memory_is_one_for_a_block),
        cmocka_unit_test(dynamic_shared_memory_has_the_size_of_the_launch),
        cmocka_unit_test(atomics_lose_nothing),
        cmocka_unit_test(functions_compute_what_they_say),
        cmocka_unit_test(vectors_load_sixteen_bytes),
        cmocka_unit_test(tensor_cores_multiply_matrices),
        cmocka_unit_test(tf32_is_rounded_to_nearest_and_away_from_zero),
    };
    return run_cases(tests, set_up, tear_down);
}
