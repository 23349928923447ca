// SPDX-License-Identifier: Apache-2.0
// States: names and values, and objects of a program's own that are saved and loaded.
#include "support/memory_hook.h"
#include "support/tensor_check.h"

// ---- values -------------------------------------------------------------------------------------

static void each_type_of_value_comes_back(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    tern_tensor *t = check_2x3(false);
    int64_t integer = 0;
    double number = 0;
    size_t size = 0;
    assert_int_equal(tern_state_set_tensor(state, "t", t), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "least", INT64_MIN), TERN_OK);
    assert_int_equal(tern_state_set_double(state, "lr", 0.1), TERN_OK);
    assert_int_equal(tern_state_set_text(state, "name", "A\xc3\xa9\n"), TERN_OK);
    assert_int_equal(tern_state_set_bytes(state, "bytes", "a\0b", 3), TERN_OK);
    assert_int_equal(tern_state_set_bytes(state, "none", NULL, 0), TERN_OK);
    assert_ptr_equal(tern_state_tensor(state, "t"), t);
    assert_int_equal(tern_state_get_int(state, "least", &integer), TERN_OK);
    assert_true(integer == INT64_MIN);
    assert_int_equal(tern_state_get_double(state, "lr", &number), TERN_OK);
    assert_true(number == 0.1);
    assert_string_equal(tern_state_text(state, "name"), "A\xc3\xa9\n");
    assert_memory_equal(tern_state_bytes(state, "bytes", &size), "a\0b", 3);
    assert_int_equal(size, 3);
    assert_non_null(tern_state_bytes(state, "none", &size));
    assert_int_equal(size, 0);
    tern_state_free(state);
}

static void values_keep_the_order_in_which_they_were_first_set(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_int(state, "b", 1), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "a", 2), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "c", 3), TERN_OK);
    assert_int_equal(tern_state_set_text(state, "b", "anew"), TERN_OK);
    assert_int_equal(tern_state_count(state), 3);
    assert_string_equal(tern_state_name_at(state, 0), "b");
    assert_string_equal(tern_state_name_at(state, 1), "a");
    assert_string_equal(tern_state_name_at(state, 2), "c");
    assert_int_equal(tern_state_type_at(state, 0), TERN_STATE_TEXT);
    assert_int_equal(tern_state_remove(state, tern_state_name_at(state, 0)), TERN_OK);
    assert_int_equal(tern_state_count(state), 2);
    assert_string_equal(tern_state_name_at(state, 0), "a");
    assert_int_equal(tern_state_type_of(state, "b"), TERN_STATE_UNSPECIFIED);
    assert_int_equal(tern_state_type_of(state, "c"), TERN_STATE_INT);
    tern_state_free(state);
}

static void ten_thousand_names_are_found_and_removed(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    char name[32];
    int64_t value = -1;
    for (int i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "layer.%d", i);
        assert_int_equal(tern_state_set_int(state, name, i), TERN_OK);
    }
    for (int i = 9999; i >= 0; i--) {
        snprintf(name, sizeof name, "layer.%d", i);
        assert_int_equal(tern_state_get_int(state, name, &value), TERN_OK);
        assert_int_equal(value, i);
    }
    assert_int_equal(tern_state_remove(state, "layer.0"), TERN_OK);
    assert_int_equal(tern_state_get_int(state, "layer.9999", &value), TERN_OK);
    assert_int_equal(value, 9999);
    assert_int_equal(tern_state_type_of(state, "layer.0"), TERN_STATE_UNSPECIFIED);
    tern_state_free(state);
}

static void names_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    char name[TERN_STATE_NAME_SIZE + 1];
    memset(name, 'n', sizeof name);
    name[TERN_STATE_NAME_SIZE] = 0;
    assert_status(tern_state_set_int(state, name, 1), TERN_ERR_ARG, "1025 bytes, not 1 to 1024");
    name[TERN_STATE_NAME_SIZE - 1] = 0;
    assert_int_equal(tern_state_set_int(state, name, 1), TERN_OK);
    assert_status(tern_state_set_int(state, "", 1), TERN_ERR_ARG, "0 bytes");
    assert_status(tern_state_set_int(state, "a\nb", 1), TERN_ERR_ARG, "a control character");
    assert_status(tern_state_set_int(state, NULL, 1), TERN_ERR_NULL, "name is NULL");
    assert_int_equal(tern_state_count(state), 1);
    tern_state_free(state);
}

static void a_value_of_another_type_is_named(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    int64_t integer = 7;
    double number = 7;
    assert_int_equal(tern_state_set_text(state, "step", "12"), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "big", (INT64_C(1) << 53) + 1), TERN_OK);
    assert_sentence(tern_state_get_int(state, "step", &integer), TERN_ERR_ARG,
                    "state_get_int: \"step\" is a text, not an integer");
    assert_sentence(tern_state_get_double(state, "big", &number), TERN_ERR_ARG,
                    "state_get_double: \"big\" is an integer, not a number");
    assert_sentence(tern_state_get_int(state, "stop", &integer), TERN_ERR_ARG,
                    "state_get_int: there is no \"stop\"");
    assert_true(integer == 7 && number == 7);
    assert_int_equal(tern_state_set_int(state, "big", INT64_C(1) << 53), TERN_OK);
    assert_int_equal(tern_state_get_double(state, "big", &number), TERN_OK);
    assert_true(number == 9007199254740992.0);
    assert_int_equal(tern_state_set_int(state, "big", -(INT64_C(1) << 53)), TERN_OK);
    assert_int_equal(tern_state_get_double(state, "big", &number), TERN_OK);
    assert_true(number == -9007199254740992.0);
    for (int64_t below = -(INT64_C(1) << 53) - 1;; below = INT64_MIN) {
        assert_int_equal(tern_state_set_int(state, "big", below), TERN_OK);
        assert_sentence(tern_state_get_double(state, "big", &number), TERN_ERR_ARG,
                        "state_get_double: \"big\" is an integer, not a number");
        if (below == INT64_MIN)
            break;
    }
    assert_true(number == -9007199254740992.0);
    tern_state_free(state);
}

static void a_state_keeps_its_tensors_alive(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    tern_scope scope = tern_scope_open();
    assert_int_equal(tern_state_set_tensor(state, "t", check_2x3(false)), TERN_OK);
    tern_scope_close(scope);
    tern_tensor *t = tern_state_tensor(state, "t");
    assert_tensor(t, tern_dims(2, 3), 0, 1, 2, 3, 4, 5);
    tern_state_free(state);
    assert_null_with(tern_neg(t), TERN_ERR_STATE, "state with it was freed");
}

static void a_freed_state_is_noticed(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    tern_state_free(state);
    tern_state_free(NULL);
    assert_int_equal(tern_state_count(state), -1);
    assert_error(TERN_ERR_STATE, "this state was freed already");
    tern_state_free(state);
    assert_error(TERN_ERR_STATE, "state_free: this state was freed already");
}

static void a_copy_keeps_the_values_of_its_moment(void **unused)
{
    (void)unused;
    tern_state *state = tern_state_new();
    tern_tensor *base = check_2x3(true), *turned = tern_transpose(base, 0, 1);
    assert_int_equal(tern_state_set_tensor(state, "turned", turned), TERN_OK);
    assert_int_equal(tern_state_set_text(state, "kind", "Adam"), TERN_OK);
    tern_state *copy = tern_state_copy(state),
               *away = tern_state_copy(state, .device = tern_cpu(1));
    tern_no_grad
        assert_non_null(tern_fill_(base, 9));
    assert_int_equal(tern_state_set_text(state, "kind", "SGD"), TERN_OK);
    tern_tensor *kept = tern_state_tensor(copy, "turned");
    assert_tensor(kept, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    assert_true(tern_is_contiguous(kept) && !tern_requires_grad(kept));
    assert_tensor(turned, tern_dims(3, 2), 9, 9, 9, 9, 9, 9);
    assert_string_equal(tern_state_text(copy, "kind"), "Adam");
    tern_tensor *there = tern_state_tensor(away, "turned");
    assert_true(tern_device_equal(tern_device_of(there), tern_cpu(1)));
    assert_tensor(there, tern_dims(3, 2), 0, 3, 1, 4, 2, 5);
    tern_state_free(state);
    tern_state_free(copy);
    tern_state_free(away);
}

// ---- an object of a program's own ---------------------------------------------------------------

typedef struct part {
    double lr;
    bool on;
} part;

typedef struct object {
    tern_tensor *mean; // (2, 3)
    tern_tensor *slot; // in the image of mean, or NULL
    int64_t count;     // 0 or more
    char kind[8];
    unsigned char bytes[3];
    part parts[2];
    tern_generator *generator;
} object;

static tern_status visit_part(void *self, tern_state_visitor *v)
{
    part *p = self;
    tern_status status = tern_visit_double(v, "lr", &p->lr);
    return status ? status : tern_visit_bool(v, "on", &p->on);
}

static tern_status check_count(tern_state_visitor *v)
{
    int64_t count;
    if (tern_visit_peek_int(v, "count", &count) && count < 0)
        return tern_visit_refuse(v, "count", "is %lld in the state, less than 0", (long long)count);
    return TERN_OK;
}

static tern_status visit_object(void *self, tern_state_visitor *v)
{
    object *o = self;
    if (check_count(v) || tern_visit_tensor(v, "mean", &o->mean) ||
        tern_visit_optional_tensor(v, "slot", &o->slot, o->mean) ||
        tern_visit_int(v, "count", &o->count) ||
        tern_visit_text(v, "kind", o->kind, sizeof o->kind) ||
        tern_visit_bytes(v, "bytes", o->bytes, sizeof o->bytes) ||
        tern_visit_kind(v, "class", "object") || tern_visit_generator(v, "generator", o->generator))
        return tern_error_code();
    for (int i = 0; i < 2; i++)
        if (tern_visit_item(v, "parts", i, visit_part, &o->parts[i]))
            return tern_error_code();
    return TERN_OK;
}

static object make_object(double value)
{
    object o = {.mean = tern_retain(tern_full(tern_dims(2, 3), value)),
                .count = (int64_t)value,
                .kind = "abc",
                .bytes = {1, 0, 3},
                .parts = {{value, true}, {value / 2, false}},
                .generator = tern_generator_new((uint64_t)value)};
    return o;
}

static void free_object(object *o)
{
    tern_release(o->mean);
    tern_release(o->slot);
    tern_generator_free(o->generator);
}

static double draw(object *o)
{
    return tern_item(tern_rand(tern_dims(1), .generator = o->generator));
}

static void an_object_is_loaded_as_it_was_saved(void **unused)
{
    (void)unused;
    object a = make_object(6), b = make_object(1);
    a.slot = tern_retain(tern_full(tern_dims(2, 3), 0.25));
    (void)draw(&a);
    tern_state *state = tern_state_of(visit_object, &a);
    static const char *const names[] = {"mean",       "slot",       "count",     "kind",
                                        "bytes",      "class",      "generator", "parts.0.lr",
                                        "parts.0.on", "parts.1.lr", "parts.1.on"};
    assert_int_equal(tern_state_count(state), 11);
    for (int i = 0; i < 11; i++)
        assert_string_equal(tern_state_name_at(state, i), names[i]);
    assert_ptr_equal(tern_state_tensor(state, "mean"), a.mean);
    memcpy(b.kind, "zzzzz", 6);
    memset(b.bytes, 9, 3);
    tern_tensor *mean = b.mean;
    assert_int_equal(tern_state_load(state, visit_object, &b), TERN_OK);
    assert_ptr_equal(b.mean, mean);
    assert_tensor(b.mean, tern_dims(2, 3), 6, 6, 6, 6, 6, 6);
    assert_tensor(b.slot, tern_dims(2, 3), 0.25, 0.25, 0.25, 0.25, 0.25, 0.25);
    assert_ptr_not_equal(b.slot, a.slot);
    assert_true(b.count == 6 && b.parts[0].lr == 6 && b.parts[0].on && b.parts[1].lr == 3 &&
                !b.parts[1].on);
    assert_string_equal(b.kind, "abc");
    assert_memory_equal(b.bytes, "\1\0\3", 3);
    assert_true(draw(&a) == draw(&b));
    tern_state_free(state);
    free_object(&a);
    free_object(&b);
}

static void a_tensor_that_may_be_there_comes_stays_and_goes(void **unused)
{
    (void)unused;
    object with = make_object(6), without = make_object(5), b = make_object(1);
    with.slot = tern_retain(tern_full(tern_dims(2, 3), 0.25));
    tern_state *full = tern_state_of(visit_object, &with);
    tern_state *lacking = tern_state_of(visit_object, &without);
    assert_int_equal(tern_state_type_of(lacking, "slot"), TERN_STATE_UNSPECIFIED);
    assert_int_equal(tern_state_load(full, visit_object, &b), TERN_OK);
    tern_tensor *slot = b.slot;
    assert_non_null(tern_fill_(slot, 7));
    assert_int_equal(tern_state_load(full, visit_object, &b), TERN_OK);
    assert_ptr_equal(b.slot, slot);
    assert_tensor(slot, tern_dims(2, 3), 0.25, 0.25, 0.25, 0.25, 0.25, 0.25);
    assert_int_equal(tern_state_load(lacking, visit_object, &b, .strict = false), TERN_OK);
    assert_ptr_equal(b.slot, slot);
    assert_int_equal(tern_state_load(lacking, visit_object, &b), TERN_OK);
    assert_null(b.slot);
    tern_state_free(full);
    tern_state_free(lacking);
    free_object(&with);
    free_object(&without);
    free_object(&b);
}

static void everything_that_does_not_fit_is_in_one_sentence(void **unused)
{
    (void)unused;
    object a = make_object(6), b = make_object(1);
    tern_state *state = tern_state_of(visit_object, &a);
    assert_int_equal(tern_state_set_int(state, "count", -3), TERN_OK);
    assert_int_equal(tern_state_set_text(state, "kind", "abcdefgh"), TERN_OK);
    assert_int_equal(tern_state_set_bytes(state, "bytes", "ab", 2), TERN_OK);
    assert_int_equal(tern_state_set_int(state, "parts.0.on", 2), TERN_OK);
    assert_int_equal(tern_state_set_tensor(state, "parts.1.lr", a.mean), TERN_OK);
    assert_sentence(
        tern_state_load(state, visit_object, &b), TERN_ERR_ARG,
        "state_load: mismatched 5: \"count\" is -3 in the state, less than 0, \"kind\" has 8 bytes "
        "in the state, more than the 7 there is room for, \"bytes\" has 2 bytes in the state and 3 "
        "here, \"parts.0.on\" is 2 in the state, not 0 or 1, \"parts.1.lr\" is a tensor in the "
        "state and a number here");
    // Another kind is the cause of all else.
    assert_int_equal(tern_state_set_text(state, "class", "thing"), TERN_OK);
    assert_sentence(tern_state_load(state, visit_object, &b), TERN_ERR_ARG,
                    "state_load: \"class\" is thing in the state and object here");
    assert_true(b.count == 1 && b.parts[0].lr == 1);
    assert_tensor(b.mean, tern_dims(2, 3), 1, 1, 1, 1, 1, 1);
    tern_state_free(state);
    free_object(&a);
    free_object(&b);
}

static void a_damaged_generator_is_refused_before_anything_changes(void **unused)
{
    (void)unused;
    object a = make_object(6), b = make_object(1), c = make_object(1);
    tern_state *state = tern_state_of(visit_object, &a);
    size_t size = 0;
    unsigned char bytes[8192];
    const void *saved = tern_state_bytes(state, "generator", &size);
    assert_true(size < sizeof bytes);
    memcpy(bytes, saved, size);
    bytes[100] ^= 1;
    assert_int_equal(tern_state_set_bytes(state, "generator", bytes, size), TERN_OK);
    assert_sentence(tern_state_load(state, visit_object, &b), TERN_ERR_FORMAT,
                    "state_load: mismatched 1: \"generator\" is damaged");
    assert_true(b.count == 1 && draw(&b) == draw(&c));
    tern_state_free(state);
    free_object(&a);
    free_object(&b);
    free_object(&c);
}

static tern_status visit_twice(void *self, tern_state_visitor *v)
{
    tern_status status = tern_visit_int(v, "n", self);
    return status ? status : tern_visit_int(v, "n", self);
}

static tern_status visit_and_fail(void *self, tern_state_visitor *v)
{
    (void)self;
    (void)v;
    return TERN_ERR_IO;
}

static void a_visit_that_is_wrong_is_refused(void **unused)
{
    (void)unused;
    int64_t n = 1;
    assert_null_with(tern_state_of(visit_twice, &n), TERN_ERR_ARG, "visit: \"n\" is visited twice");
    assert_null_with(tern_state_of(visit_and_fail, &n), TERN_ERR_IO,
                     "state_of: the visit failed and did not say why");
    assert_null_with(tern_state_of(NULL, &n), TERN_ERR_NULL, "state_of: visit is NULL");
    tern_state *state = tern_state_new();
    assert_int_equal(tern_state_set_int(state, "n", 2), TERN_OK);
    assert_status(tern_state_load(state, visit_twice, &n), TERN_ERR_ARG,
                  "visit: \"n\" is visited twice");
    assert_status(tern_state_load(NULL, visit_twice, &n), TERN_ERR_NULL, "state is NULL");
    assert_int_equal(n, 1);
    tern_state_free(state);
}

// ---- random numbers -----------------------------------------------------------------------------

static void random_numbers_go_on_where_they_were_saved(void **unused)
{
    (void)unused;
    tern_tensor *x = tern_ones(tern_dims(64));
    tern_manual_seed(3);
    (void)tern_randn(tern_dims(5));
    tern_state *state = tern_random_state_dict();
    assert_string_equal(tern_state_name_at(state, 0), "generators.cpu");
    tern_tensor *drawn = tern_randn(tern_dims(7)), *dropped = tern_dropout(x, 0.5, true);
    tern_manual_seed(4);
    assert_int_equal(tern_random_load_state_dict(state), TERN_OK);
    tern_tensor *again = tern_randn(tern_dims(7)), *dropped_again = tern_dropout(x, 0.5, true);
    for (int64_t i = 0; i < 7; i++)
        assert_true(value_at(drawn, i) == value_at(again, i));
    for (int64_t i = 0; i < 64; i++)
        assert_true(value_at(dropped, i) == value_at(dropped_again, i));
    tern_state_free(state);
}

static void generators_of_devices_that_are_not_here_are_listed(void **unused)
{
    (void)unused;
    tern_state *state = tern_random_state_dict();
    size_t size;
    const void *bytes = tern_state_bytes(state, "generators.cpu", &size);
    assert_int_equal(tern_state_set_bytes(state, "generators.cpu:9", bytes, size), TERN_OK);
    assert_sentence(tern_random_load_state_dict(state), TERN_ERR_ARG,
                    "random_load_state_dict: unexpected 1: \"generators.cpu:9\"");
    assert_int_equal(tern_random_load_state_dict(state, .strict = false), TERN_OK);
    assert_int_equal(tern_state_remove(state, "generators.cpu"), TERN_OK);
    assert_status(tern_random_load_state_dict(state), TERN_ERR_ARG, "missing 1: ");
    tern_state_free(state);
}

static tern_state *loaded;

static tern_status visit_and_change(void *self, tern_state_visitor *v)
{
    (void)self;
    int64_t value;
    const tern_status set = tern_state_set_int(loaded, "more", 1);
    assert_status(set, TERN_ERR_STATE, "state_set_int: this state is being loaded");
    assert_status(tern_state_remove(loaded, "n"), TERN_ERR_STATE, "state_remove: this state is");
    tern_state_free(loaded);
    assert_error(TERN_ERR_STATE, "state_free: this state is being loaded; call it afterwards");
    return tern_visit_int(v, "n", &value);
}

static void a_state_stays_as_it_is_while_it_is_loaded(void **unused)
{
    (void)unused;
    loaded = tern_state_new();
    assert_int_equal(tern_state_set_int(loaded, "n", 3), TERN_OK);
    assert_int_equal(tern_state_load(loaded, visit_and_change, NULL), TERN_OK);
    assert_int_equal(tern_state_count(loaded), 1);
    assert_int_equal(tern_state_set_int(loaded, "more", 1), TERN_OK);
    tern_state_free(loaded);
}

static tern_status visit_object_of_nothing(void *self, tern_state_visitor *v)
{
    (void)self, (void)v;
    return TERN_OK;
}

static tern_status visit_itself(void *self, tern_state_visitor *v)
{
    (void)v;
    tern_state_free(tern_state_of(visit_itself, self));
    return tern_error_code();
}

static void a_visit_without_an_end_is_refused(void **unused)
{
    (void)unused;
    assert_null_with(tern_state_of(visit_itself, NULL), TERN_ERR_STATE,
                     "state_of: called by visits inside each other, 64 deep; a visit that saves or "
                     "loads its own object has no end");
    tern_state *state = tern_state_of(visit_object_of_nothing, NULL);
    assert_int_equal(tern_state_count(state), 0);
    tern_state_free(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(each_type_of_value_comes_back),
        CHECK_TEST(values_keep_the_order_in_which_they_were_first_set),
        CHECK_TEST(ten_thousand_names_are_found_and_removed),
        CHECK_TEST(names_that_cannot_be_are_refused),
        CHECK_TEST(a_value_of_another_type_is_named),
        CHECK_TEST(a_state_keeps_its_tensors_alive),
        CHECK_TEST(a_freed_state_is_noticed),
        CHECK_TEST(random_numbers_go_on_where_they_were_saved),
        CHECK_TEST(generators_of_devices_that_are_not_here_are_listed),
        CHECK_TEST(a_copy_keeps_the_values_of_its_moment),
        CHECK_TEST(an_object_is_loaded_as_it_was_saved),
        CHECK_TEST(a_tensor_that_may_be_there_comes_stays_and_goes),
        CHECK_TEST(everything_that_does_not_fit_is_in_one_sentence),
        CHECK_TEST(a_damaged_generator_is_refused_before_anything_changes),
        CHECK_TEST(a_visit_that_is_wrong_is_refused),
        CHECK_TEST(a_state_stays_as_it_is_while_it_is_loaded),
        CHECK_TEST(a_visit_without_an_end_is_refused),
    };
    setenv("TERN_CPU_DEVICES", "2", 1);
    if (use_memory_hook())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL) + all_given_back();
}
