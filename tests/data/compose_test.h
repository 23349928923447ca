// SPDX-License-Identifier: Apache-2.0
// What the tests of datasets over datasets share: a dataset that counts what it is asked for, and
// what each of them has to forward. Include <cmocka.h> before.
#ifndef TERN_TESTS_COMPOSE_TEST_H
#define TERN_TESTS_COMPOSE_TEST_H

#include "data/dataset.h"
#include "data_fixture.h"

// Sample i is i + 0.5 and, behind it, a random number; with two classes, names of samples, and a
// number that is saved.
typedef struct probe {
    tern_dataset base;
    int64_t count, asked, saved;
    double last; // the number drawn last
} probe;

static inline int64_t count_probe(const tern_dataset *self)
{
    return ((const probe *)self)->count;
}

static inline tern_status probe_item(const tern_dataset *self, const tern_sample_context *context,
                                     int64_t index, tern_sample *out)
{
    probe *p = (probe *)(uintptr_t)self;
    p->asked++;
    p->last = tern_sample_rand(context, index, 0);
    out->at[out->count++] = tern_full(tern_dims(), (double)index + 0.5, .dtype = TERN_FLOAT64);
    out->at[out->count++] = tern_full(tern_dims(), p->last, .dtype = TERN_FLOAT64);
    return tern_error_code();
}

static inline int64_t two_classes(const tern_dataset *self)
{
    (void)self;
    return 2;
}

static inline const char *name_class(const tern_dataset *self, int64_t label)
{
    (void)self;
    return label == 0 ? "cat" : "dog";
}

static inline bool name_sample(const tern_dataset *self, int64_t index, char *buffer, size_t size)
{
    (void)self;
    snprintf(buffer, size, "file %lld", (long long)index);
    return true;
}

static inline tern_status visit_probe(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "saved", &((probe *)self)->saved);
}

static const tern_dataset_class probe_class = {
    .name = "probe",
    .size = sizeof(probe),
    .count = count_probe,
    .item = probe_item,
    .visit = visit_probe,
    .class_count = two_classes,
    .class_name = name_class,
    .sample_name = name_sample,
    .serial = true,
};

static inline probe *probe_new(int64_t count)
{
    probe *p = (probe *)tern_dataset_new(&probe_class);
    assert_non_null(p);
    p->count = count;
    return p;
}

static inline tern_dataset *numbers(int64_t first, int64_t count)
{
    tern_dataset *set = tern_data_tensors(tern_arange((double)first, (double)(first + count), 1),
                                          tern_rand(tern_dims(count, 2)));
    assert_non_null(set);
    return set;
}

static inline void assert_batch(tern_dataset *set, const int64_t *index, int64_t count,
                                const int64_t *values)
{
    tern_batch b;
    assert_int_equal(tern_dataset_get(set, index, count, &b), TERN_OK);
    assert_memory_equal(tern_data(b.x), values, (size_t)count * sizeof *values);
}

static inline double value(tern_dataset *set, int64_t index)
{
    tern_sample s;
    tern_scope inner = tern_scope_open();
    assert_int_equal(tern_dataset_item(set, index, &s), TERN_OK);
    const double x = tern_item(s.x);
    tern_scope_close(inner);
    return x;
}

// Whatever is forwarded reaches the probe; which then goes.
static inline void check_forwarded(tern_dataset *over, int64_t index, const char *name)
{
    char buffer[32];
    assert_int_equal(tern_dataset_class_count(over), 2);
    assert_string_equal(tern_dataset_class_name(over, 1), "dog");
    assert_true(tern_dataset_sample_name(over, index, buffer, sizeof buffer));
    assert_string_equal(buffer, name);
    assert_true(tern_dataset_is_serial(over));
    tern_dataset_free(over);
}

static inline tern_state *state_of(tern_dataset *set)
{
    tern_loader *loader = tern_loader_new(set);
    tern_state *saved = tern_loader_state_dict(loader);
    assert_non_null(saved);
    tern_loader_free(loader);
    return saved;
}

static inline tern_status load(tern_dataset *set, const tern_state *saved)
{
    tern_loader *loader = tern_loader_new(set);
    tern_status status = tern_loader_load_state_dict(loader, saved);
    tern_loader_free(loader);
    return status;
}

static inline void check_state_goes_through(tern_dataset *(*make)(tern_dataset *inner))
{
    probe *p = probe_new(5);
    tern_dataset *over = make(&p->base);
    p->saved = 42;
    tern_state *saved = state_of(over);
    p->saved = 7;
    assert_int_equal(load(over, saved), TERN_OK);
    assert_int_equal(p->saved, 42);
    tern_state_free(saved);
    tern_dataset_free(over);
    tern_dataset_free(&p->base);
}

// Each allocation fails once, also in a batch: then nothing is left, and the next batch is fine.
static inline void check_without_memory(tern_dataset *(*make)(tern_dataset *inner))
{
    tern_dataset *all = numbers(0, 5);
    for (int64_t n = 1;; n++) {
        tern_scope inner = tern_scope_open();
        const int64_t before = memory.bytes;
        tern_batch b;
        fail_nth_allocation(n);
        tern_dataset *over = make(all);
        tern_status status =
            over ? tern_dataset_get(over, (int64_t[]){1, 0}, 2, &b) : tern_error_code();
        const bool failed = memory.calls >= n;
        fail_nth_allocation(0);
        assert_int_equal(status, failed ? TERN_ERR_NOMEM : TERN_OK);
        if (failed)
            assert_error(TERN_ERR_NOMEM, "no memory");
        if (over)
            assert_int_equal(tern_dataset_get(over, (int64_t[]){1, 0}, 2, &b), TERN_OK);
        tern_dataset_free(over);
        tern_scope_close(inner);
        (void)tern_memory_trim();
        assert_true(memory.bytes <= before);
        if (!failed) {
            assert_true(n > 3);
            break;
        }
    }
    tern_dataset_free(all);
}

#endif
