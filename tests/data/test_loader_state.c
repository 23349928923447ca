// SPDX-License-Identifier: Apache-2.0
// A loader's state: what comes after loading is what came after saving in a run that went on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader_test.h"

enum { COUNT = 23, BATCH = 5, BATCHES = 5 };

// ---- random samples -----------------------------------------------------------------------------

typedef struct noisy {
    tern_dataset base;
    int64_t count;
    int64_t asked; // saved by the class that visits
    void (*in_count)(struct noisy *self);
    tern_loader *loader;
} noisy;

static int64_t noisy_count(const tern_dataset *dataset)
{
    noisy *self = (noisy *)(uintptr_t)dataset; // the test's own state
    if (self->in_count)
        self->in_count(self);
    return self->count;
}

static tern_status noisy_item(const tern_dataset *self, const tern_sample_context *context,
                              int64_t index, tern_sample *out)
{
    (void)self;
    const double x[] = {(double)index, tern_sample_rand(context, index, 0), (double)context->epoch};
    out->at[out->count++] = tern_from_data(tern_dims(3), x, .dtype = TERN_FLOAT64);
    return tern_error_code();
}

static tern_status noisy_visit(tern_dataset *self, tern_state_visitor *visitor)
{
    return tern_visit_int(visitor, "asked", &((noisy *)self)->asked);
}

static const tern_dataset_class noisy_class = {
    .name = "noisy", .size = sizeof(noisy), .count = noisy_count, .item = noisy_item};
static const tern_dataset_class visited_class = {.name = "visited",
                                                 .size = sizeof(noisy),
                                                 .count = noisy_count,
                                                 .item = noisy_item,
                                                 .visit = noisy_visit};

static noisy *noisy_new(const tern_dataset_class *of)
{
    noisy *self = (noisy *)tern_dataset_new(of);
    assert_non_null(self);
    self->count = COUNT;
    return self;
}

// ---- runs ---------------------------------------------------------------------------------------

typedef struct setup {
    noisy *set;
    tern_generator *own; // NULL: the default one
    tern_loader *loader;
} setup;

static setup begin(bool shuffle, bool drop_last, bool own)
{
    setup s = {.set = noisy_new(&noisy_class), .own = own ? tern_generator_new(4) : NULL};
    tern_manual_seed(8);
    s.loader = tern_loader_new(&s.set->base, .batch_size = BATCH, .shuffle = shuffle,
                               .drop_last = drop_last, .generator = s.own);
    assert_non_null(s.loader);
    return s;
}

static void end(setup *s)
{
    tern_loader_free(s->loader);
    tern_dataset_free(&s->set->base);
    tern_generator_free(s->own);
}

// Appends the batches up to `count` of them, over the ends of epochs; how many numbers they have.
typedef struct seen {
    double at[4 * COUNT][3];
    int64_t samples;
} seen;

static void go_on(setup *s, seen *to, int count)
{
    tern_batch b;
    while (count > 0)
        if (tern_loader_next(s->loader, &b)) {
            memcpy(to->at[to->samples], tern_data(b.x), (size_t)b.size * sizeof to->at[0]);
            to->samples += b.size;
            count--;
        } else {
            assert_false(tern_error_pending());
        }
}

static void check_resume(bool shuffle, bool drop_last, bool own, int before)
{
    const int after = 12 - before;
    seen past = {0}, whole = {0}, rest = {0}, other = {0};
    unsigned char generator[8192];
    assert_true(tern_generator_state_size() <= sizeof generator);
    setup first = begin(shuffle, drop_last, own);
    go_on(&first, &past, before);
    tern_state *state = tern_loader_state_dict(first.loader);
    tern_state *random = tern_random_state_dict();
    assert_non_null(state);
    if (own)
        assert_int_equal(tern_generator_save(first.own, generator, tern_generator_state_size()),
                         TERN_OK);
    go_on(&first, &whole, after);
    end(&first);

    setup second = begin(shuffle, drop_last, own);
    go_on(&second, &other, 3); // elsewhere in another order
    if (own)
        assert_int_equal(tern_generator_load(second.own, generator, tern_generator_state_size()),
                         TERN_OK);
    assert_int_equal(tern_random_load_state_dict(random), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(second.loader, state), TERN_OK);
    assert_int_equal(tern_loader_position(second.loader), before <= BATCHES ? before : before - 5);
    go_on(&second, &rest, after);
    assert_int_equal(rest.samples, whole.samples);
    assert_memory_equal(rest.at, whole.at, sizeof rest.at);
    end(&second);
    tern_state_free(state);
    tern_state_free(random);
}

static void a_resumed_epoch_and_those_after_it_are_those_of_a_run_that_went_on(void **state)
{
    (void)state;
    for (int before = 1; before <= 5; before++)
        for (int kind = 0; kind < 8; kind++)
            if (before < 5 || !(kind & 2)) // with drop_last an epoch has 4
                check_resume(kind & 1, kind & 2, kind & 4, before);
    check_resume(true, false, true, 7);
    check_resume(true, false, false, 9);
}

static void loading_draws_nothing_and_leaves_the_generators(void **state)
{
    (void)state;
    setup s = begin(true, false, true);
    seen all = {0};
    go_on(&s, &all, 2);
    tern_state *saved = tern_loader_state_dict(s.loader);
    unsigned char before[2][8192], after[2][8192];
    const size_t size = tern_generator_state_size();
    tern_generator *of[] = {s.own, tern_default_generator(tern_cpu(0))};
    for (int i = 0; i < 2; i++)
        assert_int_equal(tern_generator_save(of[i], before[i], size), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tern_generator_save(of[i], after[i], size), TERN_OK);
        assert_memory_equal(before[i], after[i], size);
    }
    tern_state_free(saved);
    end(&s);
}

static void the_next_loop_goes_on_and_the_one_after_it_begins(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    seen all = {0};
    go_on(&s, &all, 2);
    tern_state *saved = tern_loader_state_dict(s.loader);
    go_on(&s, &all, 3);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_OK);
    int rounds = 0;
    tern_each_batch (b, s.loader) {
        rounds++;
        assert_memory_equal(tern_data(b.x), all.at[BATCH * (1 + rounds)],
                            (size_t)b.size * sizeof all.at[0]);
    }
    assert_int_equal(rounds, 3);
    assert_int_equal(tern_loader_epoch(s.loader), 1);
    rounds = 0;
    tern_each_batch (b, s.loader)
        rounds++;
    assert_int_equal(rounds, BATCHES);
    assert_int_equal(tern_loader_epoch(s.loader), 2);
    tern_state_free(saved);
    end(&s);
}

static void an_epoch_that_next_went_on_with_is_no_loops(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    seen all = {0}, rest = {0};
    go_on(&s, &all, 2);
    tern_state *saved = tern_loader_state_dict(s.loader);
    go_on(&s, &all, 3);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_OK);
    go_on(&s, &rest, 1);
    int rounds = 0;
    tern_each_batch (b, s.loader)
        rounds++;
    assert_int_equal(rounds, BATCHES);
    go_on(&s, &rest, 2);
    assert_memory_equal(rest.at, all.at[(size_t)2 * BATCH], 13 * sizeof rest.at[0]);
    tern_state_free(saved);
    end(&s);
}

// An epoch that went on behind a loop has a smaller number than those begun since.
static void an_epoch_keeps_its_own_number(void **state)
{
    (void)state;
    setup s = begin(false, false, false);
    seen all = {0};
    go_on(&s, &all, 2);
    tern_each_batch (b, s.loader)
        break;
    tern_state *saved = tern_loader_state_dict(s.loader);
    go_on(&s, &all, 3);
    seen rest = {0};
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_OK);
    assert_int_equal(tern_loader_epoch(s.loader), 2);
    go_on(&s, &rest, 3);
    assert_memory_equal(rest.at, all.at[(size_t)2 * BATCH], 13 * sizeof rest.at[0]);
    assert_true(rest.at[0][2] == 1);
    tern_state_free(saved);
    end(&s);
}

static void between_epochs_there_is_no_order_to_save(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    tern_state *fresh = tern_loader_state_dict(s.loader);
    seen all = {0};
    go_on(&s, &all, BATCHES);
    assert_end(s.loader);
    tern_state *between = tern_loader_state_dict(s.loader);
    assert_int_equal(tern_state_type_of(between, "generator"), TERN_STATE_UNSPECIFIED);
    assert_int_equal(tern_loader_load_state_dict(s.loader, fresh), TERN_OK);
    assert_int_equal(tern_loader_epoch(s.loader), 0);
    assert_int_equal(tern_loader_position(s.loader), 0);
    go_on(&s, &all, 1);
    assert_int_equal(tern_loader_load_state_dict(s.loader, between), TERN_OK);
    assert_int_equal(tern_loader_epoch(s.loader), 1);
    assert_int_equal(tern_loader_position(s.loader), BATCHES);
    go_on(&s, &all, 1);
    assert_int_equal(tern_loader_epoch(s.loader), 2);
    tern_state_free(fresh);
    tern_state_free(between);
    end(&s);
}

// ---- refused ------------------------------------------------------------------------------------

static void check_other(int64_t batch_size, bool shuffle, bool drop_last, bool own, int64_t count,
                        const char *words)
{
    setup s = begin(true, false, false);
    seen all = {0};
    go_on(&s, &all, 2);
    tern_state *saved = tern_loader_state_dict(s.loader);
    noisy *set = noisy_new(&noisy_class);
    tern_generator *generator = own ? tern_generator_new(1) : NULL;
    set->count = count;
    tern_loader *other = tern_loader_new(&set->base, .batch_size = batch_size, .shuffle = shuffle,
                                         .drop_last = drop_last, .generator = generator);
    assert_int_equal(tern_loader_load_state_dict(other, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, words);
    assert_int_equal(tern_loader_epoch(other), 0);
    assert_int_equal(tern_loader_position(other), 0);
    tern_state_free(saved);
    tern_loader_free(other);
    tern_dataset_free(&set->base);
    tern_generator_free(generator);
    end(&s);
}

static void a_loader_of_another_kind_is_refused(void **state)
{
    (void)state;
    check_other(6, true, false, false, COUNT, "\"batch_size\" is 5 in the state and 6 here");
    check_other(BATCH, false, false, false, COUNT, "\"shuffle\" is 1 in the state and 0 here");
    check_other(BATCH, true, true, false, COUNT, "\"drop_last\" is 0 in the state and 1 here");
    check_other(BATCH, true, false, true, COUNT, "\"own_generator\" is 0 in the state and 1 here");
    check_other(BATCH, true, false, false, 24, "\"samples\" is 23 in the state and 24 here");
}

static void set_and_load(setup *s, const char *name, int64_t value, const char *words)
{
    tern_state *saved = tern_loader_state_dict(s->loader);
    assert_int_equal(tern_state_set_int(saved, name, value), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(s->loader, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, words);
    tern_state_free(saved);
}

static void a_state_that_cannot_be_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    seen all = {0}, same = {0};
    setup alone = begin(true, false, false);
    go_on(&alone, &same, 4);
    tern_manual_seed(8);
    go_on(&s, &all, 2);
    set_and_load(&s, "epoch", -1, "\"epoch\" is -1, not 0 or more");
    set_and_load(&s, "position", 6, "\"position\" is 6, more than 5");
    set_and_load(&s, "epoch_in_progress", 2, "\"epoch_in_progress\" is 2, more than 1");
    tern_state *saved = tern_loader_state_dict(s.loader);
    size_t size;
    unsigned char damaged[8192];
    memcpy(damaged, tern_state_bytes(saved, "generator", &size), tern_generator_state_size());
    damaged[100] ^= 1;
    assert_int_equal(tern_state_set_bytes(saved, "generator", damaged, size), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_ERR_FORMAT);
    assert_error(TERN_ERR_FORMAT, "\"generator\" is damaged");
    assert_int_equal(tern_state_remove(saved, "generator"), TERN_OK);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "generator");
    go_on(&s, &all, 2);
    assert_memory_equal(all.at, same.at, sizeof all.at);
    tern_state_free(saved);
    end(&s);
    end(&alone);
}

static void in_an_inner_loop_there_is_no_state(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    tern_state *saved = tern_loader_state_dict(s.loader);
    int rounds = 0;
    tern_each_batch (b, s.loader) {
        if (rounds++ != 1)
            continue;
        tern_each_batch (c, s.loader) {
            assert_null(tern_loader_state_dict(s.loader));
            assert_error(TERN_ERR_STATE, "loader_state_dict: called in a loop");
            assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_ERR_STATE);
            assert_error(TERN_ERR_STATE, "loader_load_state_dict: called in a loop");
        }
        tern_state *inside = tern_loader_state_dict(s.loader); // of the outer loop alone
        int64_t position = 0;
        assert_int_equal(tern_state_get_int(inside, "position", &position), TERN_OK);
        assert_int_equal(position, 2);
        tern_state_free(inside);
    }
    assert_int_equal(rounds, BATCHES);
    tern_state_free(saved);
    end(&s);
}

static void ask_back(noisy *self)
{
    assert_null(tern_loader_state_dict(self->loader));
    assert_error(TERN_ERR_STATE, "loader_state_dict: called by noisy while this loader asks it");
}

static void while_the_dataset_is_asked_there_is_no_state(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    s.set->loader = s.loader;
    s.set->in_count = ask_back;
    seen all = {0};
    go_on(&s, &all, 1);
    tern_loader_reset(s.loader);
    tern_state *saved = tern_loader_state_dict(s.loader);
    assert_non_null(saved);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved), TERN_OK);
    s.set->in_count = NULL;
    tern_state_free(saved);
    end(&s);
}

// ---- parts --------------------------------------------------------------------------------------

static void what_the_dataset_visits_is_saved_too(void **state)
{
    (void)state;
    noisy *set = noisy_new(&visited_class);
    tern_loader *loader = tern_loader_new(&set->base, .batch_size = BATCH);
    set->asked = 7;
    tern_state *saved = tern_loader_state_dict(loader);
    int64_t value = 0;
    assert_int_equal(tern_state_get_int(saved, "dataset.asked", &value), TERN_OK);
    assert_int_equal(value, 7);
    set->asked = 9;
    assert_int_equal(tern_loader_load_state_dict(loader, saved), TERN_OK);
    assert_int_equal(set->asked, 7);
    setup other = begin(false, false, false); // of a class that saves nothing
    assert_int_equal(tern_loader_load_state_dict(other.loader, saved), TERN_ERR_ARG);
    assert_error(TERN_ERR_ARG, "dataset.asked");
    end(&other);
    tern_state_free(saved);
    tern_loader_free(loader);
    tern_dataset_free(&set->base);
}

static tern_status visit_run(void *object, tern_state_visitor *visitor)
{
    return tern_visit_loader(visitor, "train", object);
}

static void a_loader_is_a_part_of_a_larger_state(void **state)
{
    (void)state;
    setup s = begin(true, false, false);
    seen all = {0}, again = {0};
    seen past = {0};
    go_on(&s, &past, 2);
    tern_state *saved = tern_state_of(visit_run, s.loader);
    go_on(&s, &all, 3);
    assert_int_equal(tern_loader_load_state_dict(s.loader, saved, .prefix = "train."), TERN_OK);
    go_on(&s, &again, 3);
    assert_memory_equal(all.at, again.at, 13 * sizeof all.at[0]);
    assert_int_equal(tern_state_load(saved, visit_run, s.loader), TERN_OK);
    assert_int_equal(tern_loader_position(s.loader), 2);
    tern_state_free(saved);
    end(&s);
}

int main(void)
{
    if (see_all_allocations())
        return 1;
    const struct CMUnitTest tests[] = {
        DATA_TEST(a_resumed_epoch_and_those_after_it_are_those_of_a_run_that_went_on),
        DATA_TEST(loading_draws_nothing_and_leaves_the_generators),
        DATA_TEST(the_next_loop_goes_on_and_the_one_after_it_begins),
        DATA_TEST(an_epoch_that_next_went_on_with_is_no_loops),
        DATA_TEST(an_epoch_keeps_its_own_number),
        DATA_TEST(between_epochs_there_is_no_order_to_save),
        DATA_TEST(a_loader_of_another_kind_is_refused),
        DATA_TEST(a_state_that_cannot_be_is_refused_and_changes_nothing),
        DATA_TEST(in_an_inner_loop_there_is_no_state),
        DATA_TEST(while_the_dataset_is_asked_there_is_no_state),
        DATA_TEST(what_the_dataset_visits_is_saved_too),
        DATA_TEST(a_loader_is_a_part_of_a_larger_state),
    };
    return cmocka_run_group_tests_name("loader_state", tests, start_group, end_group);
}
