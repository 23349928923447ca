// SPDX-License-Identifier: Apache-2.0
// Dropout of n elements from element `first`, a multiple of 4; a template: REAL, DROPOUT(name) for
// the names.

static void DROPOUT(block)(const dropout_job *job, int64_t first, REAL *y, const REAL *x, int64_t n)
{
    const REAL scale = (REAL)job->scale;
    const uint32_t least = (uint32_t)job->threshold;
    for (int64_t i = 0; i < n; i += PHILOX_WORDS) {
        uint32_t word[PHILOX_WORDS];
        const int64_t count = n - i < PHILOX_WORDS ? n - i : PHILOX_WORDS;
        philox_words(job->seed, job->call, (uint64_t)(first + i) / 4, word);
        ELEMENTWISE_LOOP
        for (int64_t k = 0; k < count; k++) {
            const REAL kept = x[i + k] * scale;
            y[i + k] = word[k] >= least ? kept : 0;
        }
    }
    if (job->threshold > UINT32_MAX) // p is 1
        memset(y, 0, (size_t)n * sizeof *y);
}
