// SPDX-License-Identifier: Apache-2.0
// Dropout of n elements from element `first`, a multiple of 4; a template: REAL, DROPOUT(name) for the names.

static void DROPOUT(block)(const dropout_job *job, int64_t first, REAL *y, const REAL *x, int64_t n)
{
    const REAL scale = (REAL)job->scale;
    for (int64_t i = 0; i < n; i += 4) {
        const tern_philox_block draw =
            tern_philox(job->seed, job->call, (uint64_t)((first + i) / 4));
        const int64_t left = n - i < 4 ? n - i : 4;
        for (int64_t k = 0; k < left; k++)
            y[i + k] = draw.word[k] >= job->threshold ? x[i + k] * scale : 0;
    }
}
