// SPDX-License-Identifier: Apache-2.0
// multinomial of one row in one element type, TYPE, whose functions end with SUFFIX.

#define NAME_(name, suffix)   name##suffix
#define NAME_OF(name, suffix) NAME_(name, suffix)
#define NAME(name)            NAME_OF(name, SUFFIX)

tern_status NAME(tern_multinomial_check)(const char *op, const TYPE *weights, int64_t count,
                                         int64_t samples, bool replacement)
{
    TYPE sum = 0;
    int64_t positive = 0;
    for (int64_t i = 0; i < count; i++) {
        TERN_CHECK(weights[i] >= 0 && isfinite(weights[i]), TERN_ERR_NUMERIC,
                   "%s: weight %lld is %g, but must be finite and 0 or more", op, (long long)i,
                   (double)weights[i]);
        sum += weights[i];
        positive += weights[i] > 0;
    }
    TERN_CHECK(sum > 0 && isfinite(sum), TERN_ERR_NUMERIC,
               "%s: the sum of the weights is %g, but must be finite and above 0", op, (double)sum);
    TERN_CHECK(replacement || samples <= positive, TERN_ERR_ARG,
               "%s: %lld samples without replacement of %lld weights above 0", op,
               (long long)samples, (long long)positive);
    return TERN_OK;
}

typedef struct NAME(key) {
    TYPE key;
    int64_t index;
} NAME(key);

// Descending; the first of equal ones is first.
static int NAME(compare)(const void *a, const void *b)
{
    const NAME(key) *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

// The largest of w / e, e exponential: an index is the largest as often as its weight says.
static tern_status NAME(without)(tern_mt19937 *mt, const TYPE *weights, int64_t count,
                                 int64_t samples, int64_t *out)
{
    const size_t nbytes = (size_t)count * sizeof(NAME(key));
    NAME(key) *keys = tern_cache_alloc(nbytes);
    if (!keys)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < count; i++) {
        const TYPE exponential = (TYPE)-log1p(-tern_mt19937_u53(mt));
        keys[i] = (NAME(key)){weights[i] / exponential, i};
        if (weights[i] == 0) // 0 / 0 where a draw was 0
            keys[i].key = 0;
    }
    qsort(keys, (size_t)count, sizeof *keys, NAME(compare));
    for (int64_t i = 0; i < samples; i++)
        out[i] = keys[i].index;
    tern_cache_free(keys, nbytes);
    return TERN_OK;
}

// The first index whose cumulative share is not below a uniform draw.
static tern_status NAME(with)(tern_mt19937 *mt, const TYPE *weights, int64_t count, int64_t samples,
                              int64_t *out)
{
    const size_t nbytes = (size_t)count * sizeof(TYPE);
    TYPE *shares = tern_cache_alloc(nbytes), sum = 0;
    if (!shares)
        return TERN_ERR_NOMEM;
    for (int64_t i = 0; i < count; i++)
        shares[i] = sum += weights[i];
    for (int64_t i = 0; i < count; i++)
        shares[i] /= sum;
    for (int64_t i = 0; i < samples; i++) {
        const double u = tern_mt19937_u53(mt);
        int64_t low = 0, high = count;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if ((double)shares[middle] < u)
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
    tern_cache_free(shares, nbytes);
    return TERN_OK;
}

tern_status NAME(tern_multinomial)(tern_mt19937 *mt, const TYPE *weights, int64_t count,
                                   int64_t samples, bool replacement, int64_t *out)
{
    if (replacement && samples > 1)
        return NAME(with)(mt, weights, count, samples, out);
    return NAME(without)(mt, weights, count, samples, out);
}

#undef NAME
#undef NAME_OF
#undef NAME_
