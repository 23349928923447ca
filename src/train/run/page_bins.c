// SPDX-License-Identifier: Apache-2.0
// Histograms of one tag stand behind each other.
#include "train/run/page_bins.h"

#include <math.h>

enum { MIN_BINS = 8, MAX_BINS = 48 };
// Of the numbers of each histogram this share on either side is drawn in the outermost bins: single
// outliers would leave no space for the rest.
#define TAIL 0.002
// Numbers are drawn as far as this, and ranges not below its inverse: differences and quotients
// stay finite.
#define MAX_DRAWN 1e300

// The range of bucket `i`, cut where the numbers end: outermost edges may be as far as a double
// goes.
static void bucket_range(const tern_run_buckets *h, int64_t i, double *low, double *high)
{
    *low = i > 0 ? fmax(h->limits[i - 1], h->min) : h->min;
    *high = fmax(fmin(h->limits[i], h->max), *low);
}

static double total_of(const tern_run_buckets *h)
{
    double total = 0;
    for (int64_t i = 0; i < h->buckets; i++)
        total += h->counts[i];
    return total;
}

// What a share of the numbers is below.
static double quantile(const tern_run_buckets *h, double share)
{
    const double wanted = share * total_of(h);
    double below = 0, low = h->min, high = h->max;
    for (int64_t i = 0; i < h->buckets; i++) {
        if (h->counts[i] <= 0)
            continue;
        bucket_range(h, i, &low, &high);
        if (below + h->counts[i] >= wanted)
            return low + (high - low) * fmax(wanted - below, 0) / h->counts[i];
        below += h->counts[i];
    }
    return high;
}

typedef struct binning {
    double low, high;
    int count;
} binning;

// Of few numbers there are few bins: more would show each of them alone. The growth is that of
// Rice's rule, 2 n^(1/3), with more where the picture has the space.
static int bins_for(double numbers)
{
    return (int)fmin(fmax(4 * cbrt(numbers), MIN_BINS), MAX_BINS);
}

static void add_to_bins(double bins[MAX_BINS], const binning *b, double begin, double end,
                        double count)
{
    const double low = b->low, scale = b->count / (b->high - low);
    for (int k = 0; k < b->count; k++) {
        const double left = k == 0 ? -INFINITY : k, right = k == b->count - 1 ? INFINITY : k + 1;
        const double from = fmax((begin - low) * scale, left),
                     to = fmin((end - low) * scale, right);
        if ((end - begin) * scale > 1e-9)
            bins[k] += to > from ? count * (to - from) / ((end - begin) * scale) : 0;
        else if (from <= to && from < right)
            bins[k] += count;
    }
}

static void write_bins(tern_page *page, const tern_run_buckets *h, const binning *b)
{
    double bins[MAX_BINS] = {0};
    const double total = total_of(h);
    for (int64_t i = 0; i < h->buckets; i++) {
        double begin, end;
        bucket_range(h, i, &begin, &end);
        if (h->counts[i] > 0)
            add_to_bins(bins, b, begin, end, h->counts[i]);
    }
    tern_page_format(page, "{\"step\":%lld,\"nan\":%lld,\"inf\":%lld,\"min\":", (long long)h->step,
                     (long long)h->nan, (long long)h->inf);
    tern_page_number(page, h->min);
    tern_page_put(page, ",\"max\":");
    tern_page_number(page, h->max);
    tern_page_put(page, ",\"bins\":[");
    for (int k = 0; k < b->count; k++)
        tern_page_format(page, "%s%.4g", k > 0 ? "," : "", total > 0 ? bins[k] / total : 0);
    tern_page_put(page, "]}");
}

static binning find_bins(const tern_run_entry *e)
{
    double low = INFINITY, high = -INFINITY, numbers = 0;
    for (int64_t i = 0; i < e->blocks_count; i++) {
        const tern_run_buckets *h = &e->blocks[i]->is.buckets;
        if (total_of(h) > 0 && isfinite(h->min) && isfinite(h->max)) {
            numbers = fmax(numbers, total_of(h));
            low = fmin(low, quantile(h, TAIL));
            high = fmax(high, quantile(h, 1 - TAIL));
        }
    }
    if (low > high)
        low = high = 0;
    low = fmin(fmax(low, -MAX_DRAWN), MAX_DRAWN);
    high = fmin(fmax(high, -MAX_DRAWN), MAX_DRAWN);
    if (!(high - low > 1 / MAX_DRAWN)) {
        const double half = fabs(low) > 1 / MAX_DRAWN ? fabs(low) / 2 : 0.5;
        low -= half, high += half;
    }
    return (binning){low, high, bins_for(numbers)};
}

void tern_page_histograms(tern_page *page, const tern_run_entry *e)
{
    const binning b = find_bins(e);
    tern_page_put(page, "{\"tag\":");
    tern_page_string(page, e->tag);
    tern_page_put(page, ",\"low\":");
    tern_page_number(page, b.low);
    tern_page_put(page, ",\"high\":");
    tern_page_number(page, b.high);
    tern_page_put(page, ",\"rows\":[");
    for (int64_t i = 0; i < e->blocks_count; i++) {
        tern_page_put(page, i > 0 ? "," : "");
        write_bins(page, &e->blocks[i]->is.buckets, &b);
    }
    tern_page_put(page, "]}");
}
