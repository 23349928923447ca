// SPDX-License-Identifier: Apache-2.0
// The place of the largest or smallest element of a line; a template: TYPE, ARG(name) for the
// names, and ARG_NAN(x), which is true for a NaN: the first one wins.

static int64_t ARG(find)(const void *line, int64_t n, int64_t stride, bool largest)
{
    const TYPE *x = line;
    int64_t best = 0;
    TYPE value = x[0];
    for (int64_t i = 1; i < n && !ARG_NAN(value); i++) {
        TYPE other = x[i * stride];
        if (ARG_NAN(other) || (largest ? other > value : other < value)) {
            best = i;
            value = other;
        }
    }
    return best;
}
