// SPDX-License-Identifier: Apache-2.0
// A dataset for tests of workers, which sleeps, fails or waits as a test says. Include <cmocka.h>
// before.
#ifndef TERN_TESTS_NOISY_DATASET_H
#define TERN_TESTS_NOISY_DATASET_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "loader_test.h"

enum { COUNT = 41, WIDTH = 3 };

static inline void sleep_milliseconds(int64_t milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

// Sample i is i + noise, WIDTH times, after what is set here.
static struct {
    _Atomic int64_t fails_at; // this sample, -1: none
    _Atomic int64_t milliseconds;
    _Atomic int64_t made;
    _Atomic int inside, most; // calls at once
    _Atomic int workers;      // as the context says
    _Atomic uint64_t asked;   // a bit for each worker
    _Atomic int dtype;        // the default one of the thread
    pthread_mutex_t gate;     // held while a sample is made
    _Atomic bool gated;
} set_up = {.fails_at = -1, .gate = PTHREAD_MUTEX_INITIALIZER};

static inline void plain(void)
{
    set_up.fails_at = -1;
    set_up.milliseconds = set_up.made = 0;
    set_up.inside = set_up.most = set_up.workers = set_up.dtype = 0;
    set_up.asked = 0;
    set_up.gated = false;
}

static int64_t count_all(const tern_dataset *self)
{
    (void)self;
    return COUNT;
}

static tern_status make_sample(const tern_sample_context *context, int64_t index, tern_sample *out)
{
    if (index == set_up.fails_at)
        return tern_neg(NULL) ? TERN_OK : TERN_ERR_NULL;
    double noisy[WIDTH];
    for (int k = 0; k < WIDTH; k++)
        noisy[k] = (double)index + tern_sample_rand(context, index, k);
    out->at[out->count++] = tern_from_data(tern_dims(WIDTH), noisy, .dtype = TERN_FLOAT64);
    out->at[out->count++] = tern_full(tern_dims(), (double)index, .dtype = TERN_INT64);
    return tern_error_code();
}

static tern_status item(const tern_dataset *self, const tern_sample_context *context, int64_t index,
                        tern_sample *out)
{
    (void)self;
    const int inside = ++set_up.inside;
    if (inside > set_up.most)
        set_up.most = inside;
    set_up.workers = context->workers;
    set_up.dtype = (int)tern_default_dtype();
    atomic_fetch_or(&set_up.asked, UINT64_C(1) << context->worker);
    if (set_up.gated) {
        pthread_mutex_lock(&set_up.gate);
        pthread_mutex_unlock(&set_up.gate);
    }
    if (set_up.milliseconds > 0)
        sleep_milliseconds(set_up.milliseconds);
    const tern_status status = make_sample(context, index, out);
    set_up.made++;
    set_up.inside--;
    return status;
}

static const tern_dataset_class noisy_class = {
    .name = "noisy", .size = sizeof(tern_dataset), .count = count_all, .item = item};
static const tern_dataset_class serial_class = {.name = "serial",
                                                .size = sizeof(tern_dataset),
                                                .count = count_all,
                                                .item = item,
                                                .serial = true};

#undef tern_loader_new
#define tern_loader_new(...)                                                                       \
    TERN_WITH_(tern_loader_new, tern_loader_new, TERN_LOADER_NEW, __VA_ARGS__)

static inline void drain(tern_loader *loader)
{
    tern_each_batch (b, loader)
        continue;
    assert_false(tern_error_pending());
}

#endif
