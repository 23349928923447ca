// SPDX-License-Identifier: Apache-2.0
// Dropout of n elements from element `first` on; a template: REAL, DROPOUT(name) for the names.

// A draw for each element; `first` is a multiple of 4.
static void DROPOUT(each)(const dropout_job *job, int64_t first, REAL *y, const REAL *x, int64_t n)
{
    const REAL scale = (REAL)job->args.scale, shift = (REAL)job->args.shift;
    const REAL dropped = (REAL)job->args.dropped;
    const uint32_t threshold = (uint32_t)job->threshold;
    for (int64_t i = 0; i < n; i += PHILOX_WORDS) {
        uint32_t word[PHILOX_WORDS];
        const int64_t count = n - i < PHILOX_WORDS ? n - i : PHILOX_WORDS;
        philox_words(job->seed, job->call, (uint64_t)(first + i) / 4, word);
        ELEMENTWISE_LOOP
        for (int64_t k = 0; k < count; k++) {
            const REAL kept = x[i + k] * scale + shift;
            y[i + k] = word[k] >= threshold ? kept : dropped;
        }
    }
}

static void DROPOUT(share)(const dropout_job *job, bool keep, REAL *y, const REAL *x, int64_t n)
{
    const REAL scale = (REAL)job->args.scale, shift = (REAL)job->args.shift;
    const REAL dropped = (REAL)job->args.dropped;
    if (keep) {
        ELEMENTWISE_LOOP
        for (int64_t i = 0; i < n; i++)
            y[i] = x[i] * scale + shift;
    } else {
        for (int64_t i = 0; i < n; i++)
            y[i] = dropped;
    }
}

// A draw for each `inner` elements.
static void DROPOUT(shares)(const dropout_job *job, int64_t first, REAL *y, const REAL *x,
                            int64_t n)
{
    const int64_t inner = job->args.inner;
    int64_t draw = first / inner, end = (draw + 1) * inner - first;
    for (int64_t i = 0; i < n; i = end, end += inner, draw++) {
        const tern_philox_block block = tern_philox(job->seed, job->call, (uint64_t)draw / 4);
        const int64_t count = (end < n ? end : n) - i;
        DROPOUT(share)(job, block.word[draw % 4] >= job->threshold, y + i, x + i, count);
    }
}

static void DROPOUT(block)(const dropout_job *job, int64_t first, REAL *y, const REAL *x, int64_t n)
{
    if (job->threshold > UINT32_MAX) // p is 1
        DROPOUT(share)(job, false, y, x, n);
    else if (job->args.inner > 1)
        DROPOUT(shares)(job, first, y, x, n);
    else
        DROPOUT(each)(job, first, y, x, n);
}
