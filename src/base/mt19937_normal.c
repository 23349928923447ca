// SPDX-License-Identifier: Apache-2.0
// Normal draws: G. E. P. Box and M. E. Muller, "A note on the generation of random normal
// deviates", 1958, in the two arrangements that PyTorch uses.
#include <math.h>

#include "base/mt19937.h"
#include "base/normal_block.h"

#define BLOCK  NORMAL_BLOCK
#define TWO_PI NORMAL_TWO_PI

// One standard normal draw; of each pair the sine half waits for the next call.
static double draw(tern_mt19937 *generator)
{
    if (generator->has_normal) {
        generator->has_normal = false;
        return generator->normal;
    }
    double u1 = tern_mt19937_u53(generator);
    double u2 = tern_mt19937_u53(generator);
    double radius = sqrt(-2.0 * log(1.0 - u2));
    double theta = TWO_PI * u1;
    generator->normal = radius * sin(theta);
    generator->has_normal = true;
    return radius * cos(theta);
}

static double draw_scaled(tern_mt19937 *generator, double mean, double std)
{
    return fma(draw(generator), std, mean);
}

float tern_mt19937_log(float x)
{
    return (float)normal_log((double)x);
}

void tern_mt19937_turn(float x, float *sine, float *cosine)
{
    double s, c;
    normal_turn((double)x, &s, &c);
    *sine = (float)s;
    *cosine = (float)c;
}

static void block_f64(double *x /* (16) */, double mean, double std)
{
    for (int i = 0; i < BLOCK / 2; i++) {
        double radius = sqrt(-2.0 * log(1.0 - x[i]));
        double theta = TWO_PI * x[i + BLOCK / 2];
        x[i] = fma(radius * cos(theta), std, mean);
        x[i + BLOCK / 2] = fma(radius * sin(theta), std, mean);
    }
}

void tern_mt19937_normal_f32(tern_mt19937 *generator, float *out, int64_t numel, double mean,
                             double std)
{
    if (numel < BLOCK) {
        for (int64_t i = 0; i < numel; i++)
            out[i] = (float)draw_scaled(generator, mean, std);
        return;
    }
    tern_mt19937_uniform_f32(generator, out, numel, 0, 1);
    normal_blocks_f32(out, numel / BLOCK, (float)mean, (float)std);
    if (numel % BLOCK) { // the last block overlaps the one before: it is drawn again
        tern_mt19937_uniform_f32(generator, out + numel - BLOCK, BLOCK, 0, 1);
        normal_blocks_f32(out + numel - BLOCK, 1, (float)mean, (float)std);
    }
}

void tern_mt19937_normal_f64(tern_mt19937 *generator, double *out, int64_t numel, double mean,
                             double std)
{
    if (numel < BLOCK) {
        for (int64_t i = 0; i < numel; i++)
            out[i] = draw_scaled(generator, mean, std);
        return;
    }
    tern_mt19937_uniform_f64(generator, out, numel, 0, 1);
    for (int64_t i = 0; i + BLOCK <= numel; i += BLOCK)
        block_f64(out + i, mean, std);
    if (numel % BLOCK) {
        tern_mt19937_uniform_f64(generator, out + numel - BLOCK, BLOCK, 0, 1);
        block_f64(out + numel - BLOCK, mean, std);
    }
}
