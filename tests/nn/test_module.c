// SPDX-License-Identifier: Apache-2.0
#include "support/own_module.h"

static void a_module_of_the_users_own_computes_and_learns(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, scaled_new(2, NULL));
    tern_tensor *x = tern_full(tern_dims(2), 5);
    tern_tensor *y = tern_forward(m, x); // (5 * 2 + 1) * 3 + 1
    assert_tensor(y, tern_dims(2), 34, 34);
    assert_int_equal(tern_backward(tern_sum(y, TERN_ALL_AXES, false)), TERN_OK);
    assert_tensor(tern_grad(tern_module_parameter(m, "scale")), tern_dims(1), 22);
    assert_tensor(tern_grad(tern_module_parameter(m, "inner.scale")), tern_dims(1), 30);
    tern_module_free(m);
}

static void a_constructor_runs_in_a_scope_of_its_own(void **state)
{
    (void)state;
    int64_t before = tern_live_tensors();
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    assert_non_null(self);
    tern_tensor *temporary = tern_ones(tern_dims(100));
    assert_non_null(temporary);
    tern_module_add_parameter(&self->base, "scale", &self->scale, tern_ones(tern_dims(1)));
    assert_non_null(tern_module_done(&self->base));
    assert_int_equal(tern_live_tensors(), before + 1);
    assert_int_equal(tern_numel(self->scale), 1);
    tern_module_free(&self->base);
    assert_int_equal(tern_live_tensors(), before);
}

static void classes_are_checked(void **state)
{
    (void)state;
    const tern_module_class nameless = {
        .name = NULL, .size = sizeof(tern_module), .call = call_odd};
    const tern_module_class idle = {.name = "Idle", .size = sizeof(tern_module), .call = NULL};
    const tern_module_class small = {
        .name = "Small", .size = sizeof(tern_module) - 1, .call = call_odd};
    assert_null_with(tern_module_new(NULL), TERN_ERR_NULL, "module_class is NULL");
    assert_null_with(tern_module_new(&nameless), TERN_ERR_NULL, "a field of the class");
    assert_null_with(tern_module_new(&idle), TERN_ERR_NULL, "a field of the class");
    assert_null_with(tern_module_new(&small), TERN_ERR_ARG, "the size of Small");
}

// Adds a parameter of this name to a fresh module, which must fail like that.
static void refuse_name(const char *name, tern_status code, const char *part)
{
    tern_module *m = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_parameter(m, "weight", NULL, tern_ones(tern_dims(1))));
    assert_non_null(tern_module_add_buffer(m, "mean", NULL, tern_ones(tern_dims(1)), false));
    assert_non_null(tern_module_add_child(m, "fc", NULL, odd_new()));
    assert_null_with(tern_module_add_parameter(m, name, NULL, tern_ones(tern_dims(1))), code, part);
    assert_null_with(tern_module_add_buffer(m, name, NULL, tern_ones(tern_dims(1)), true), code,
                     part);
    assert_null_with(tern_module_add_child(m, name, NULL, odd_new()), code, part);
    assert_null(tern_module_done(m));
}

static void names_are_not_empty_have_no_dot_and_are_unique(void **state)
{
    (void)state;
    refuse_name("", TERN_ERR_ARG, "\"\" cannot be a name in Odd");
    refuse_name("a.b", TERN_ERR_ARG, "\"a.b\" cannot be a name in Odd");
    refuse_name("weight", TERN_ERR_ARG, "Odd already has a \"weight\"");
    refuse_name("mean", TERN_ERR_ARG, "Odd already has a \"mean\"");
    refuse_name("fc", TERN_ERR_ARG, "Odd already has a \"fc\"");
    refuse_name(NULL, TERN_ERR_NULL, "name is NULL");
    char name[400];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    refuse_name(name, TERN_ERR_ARG, "cannot be a name in Odd");
}

static void parameters_are_floating_contiguous_leaves(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&odd_class);
    tern_tensor *leaf = tern_ones(tern_dims(2, 3), .requires_grad = true);
    assert_null_with(
        tern_module_add_parameter(m, "a", NULL, tern_ones(tern_dims(2), .dtype = TERN_INT64)),
        TERN_ERR_DTYPE, "parameters are floating");
    assert_null_with(tern_module_add_parameter(m, "a", NULL, tern_exp(leaf)), TERN_ERR_STATE,
                     "\"a\" is the result of exp");
    assert_null_with(
        tern_module_add_parameter(m, "a", NULL, tern_transpose(tern_ones(tern_dims(2, 3)), 0, 1)),
        TERN_ERR_STATE, "\"a\" is not contiguous");
    assert_null_with(tern_module_add_buffer(m, "a", NULL, leaf, true), TERN_ERR_STATE,
                     "requires a gradient");
    tern_tensor *plain = tern_ones(tern_dims(2));
    assert_ptr_equal(tern_module_add_parameter(m, "a", NULL, plain), plain);
    assert_true(tern_requires_grad(plain));
    assert_string_equal(tern_name(plain), "a");
    assert_null(tern_module_done(m)); // some additions failed
    assert_false(tern_error_pending());
}

static void members_are_set_to_what_is_added(void **state)
{
    (void)state;
    tern_tensor *weight = tern_ones(tern_dims(2)), *mean = tern_zeros(tern_dims(2));
    tern_module *inner = tern_nn_relu();
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    assert_ptr_equal(tern_module_add_parameter(&self->base, "w", &self->scale, weight), weight);
    assert_ptr_equal(tern_module_add_buffer(&self->base, "m", &self->offset, mean, true), mean);
    assert_ptr_equal(tern_module_add_child(&self->base, "c", &self->inner, inner), inner);
    assert_ptr_equal(self->scale, weight);
    assert_ptr_equal(self->offset, mean);
    assert_ptr_equal(self->inner, inner);
    tern_module_free(tern_module_done(&self->base));
}

static void members_lie_in_the_struct_once_and_aligned(void **state)
{
    (void)state;
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    tern_module *m = &self->base;
    tern_tensor *elsewhere = NULL, **before = (tern_tensor **)(void *)m,
                **behind = (tern_tensor **)(void *)(self + 1),
                **odd = (tern_tensor **)(void *)((char *)&self->scale + 1);
    tern_tensor *t = tern_ones(tern_dims(1));
    const char *part = "the member for \"w\" does not lie in the struct of Scaled";
    assert_null_with(tern_module_add_parameter(m, "w", &elsewhere, t), TERN_ERR_ARG, part);
    assert_null_with(tern_module_add_parameter(m, "w", before, t), TERN_ERR_ARG, part);
    assert_null_with(tern_module_add_parameter(m, "w", behind, t), TERN_ERR_ARG, part);
    assert_null_with(tern_module_add_buffer(m, "w", odd, t, true), TERN_ERR_ARG, part);
    assert_non_null(tern_module_add_parameter(m, "scale", &self->scale, t));
    assert_null_with(tern_module_add_buffer(m, "w", &self->scale, t, true), TERN_ERR_ARG,
                     "the member for \"w\" holds \"scale\" already");
    assert_null(elsewhere);
    assert_null(tern_module_done(m));
}

static void a_tensor_that_could_not_be_made_is_not_absent(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&odd_class);
    assert_null(tern_module_add_parameter(m, "a", NULL, tern_zeros(tern_dims(-1))));
    assert_null(tern_module_done(m));
    assert_error(TERN_ERR_SHAPE, "-1");
}

static void nothing_is_added_to_a_finished_module(void **state)
{
    (void)state;
    tern_module *m = odd_new();
    assert_null_with(tern_module_add_parameter(m, "a", NULL, tern_ones(tern_dims(1))),
                     TERN_ERR_STATE, "Odd is finished");
    assert_null_with(tern_module_add_buffer(m, "a", NULL, tern_ones(tern_dims(1)), true),
                     TERN_ERR_STATE, "Odd is finished");
    assert_null_with(tern_module_add_child(m, "a", NULL, odd_new()), TERN_ERR_STATE,
                     "Odd is finished");
    assert_int_equal(tern_module_num_children(m), 0);
    tern_module_free(m);
}

static void an_unfinished_module_neither_runs_nor_becomes_a_child(void **state)
{
    (void)state;
    tern_module *parent = tern_module_new(&odd_class);
    tern_module *child = tern_module_new(&odd_class);
    assert_null_with(tern_forward(child, tern_ones(tern_dims(1))), TERN_ERR_STATE,
                     "the constructor of Odd did not end with tern_module_done");
    assert_null_with(tern_module_add_child(parent, "a", NULL, child), TERN_ERR_STATE,
                     "the constructor of \"a\" (Odd) did not end with tern_module_done");
    assert_null(tern_module_done(parent));
}

static void a_failed_child_fails_its_container_quietly_and_frees_the_others(void **state)
{
    (void)state;
    int64_t tensors = tern_live_tensors(), bytes = tern_memory_live_bytes();
    assert_null_with(
        tern_nn_sequential(tern_nn_linear(2, 3), tern_nn_linear(0, 3), tern_nn_linear(3, 4)),
        TERN_ERR_ARG, "nn_linear: in_features is 0");
    assert_int_equal(tern_live_tensors(), tensors);
    assert_int_equal(tern_memory_live_bytes(), bytes);
    assert_null_with(tern_nn_sequential(tern_nn_relu(), NULL), TERN_ERR_NULL,
                     "nn_sequential: child 1 is NULL");
    assert_null_with(tern_nn_module_list_new(-1, NULL), TERN_ERR_ARG, "-1 children");
    assert_null_with(tern_nn_sequential_new(2, NULL), TERN_ERR_NULL, "children is NULL");
    assert_null_with(tern_module_add_child(NULL, "a", NULL, tern_nn_linear(2, 3)), TERN_ERR_NULL,
                     "module is NULL");
    assert_int_equal(tern_live_tensors(), tensors);
}

static void a_child_that_somebody_retains_outlives_its_parent(void **state)
{
    (void)state;
    tern_module *child = scaled_new(2, NULL);
    tern_module *parent = tern_nn_sequential(tern_module_retain(child), child);
    tern_tensor *scale = tern_module_parameter(parent, "1.scale");
    tern_module *kept = tern_module_retain(tern_module_child(parent, "1"));
    assert_ptr_equal(kept, child);
    tern_module_free(parent);
    assert_tensor(scale, tern_dims(1), 2);
    assert_tensor(tern_forward(kept, tern_ones(tern_dims(1))), tern_dims(1), 3);
    tern_module_free(kept);
    tern_module_free(NULL);
    assert_null(tern_module_retain(NULL));
}

static void a_module_holds_tensors_that_the_user_lets_go(void **state)
{
    (void)state;
    tern_tensor *weight = tern_retain(tern_ones(tern_dims(3)));
    tern_module *m = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_parameter(m, "weight", NULL, weight));
    assert_non_null(tern_module_done(m));
    tern_release(weight);
    assert_int_equal(tern_numel(tern_module_parameter(m, "weight")), 3);
    tern_module_free(m);
}

static void modules_nest_up_to_a_limit(void **state)
{
    (void)state;
    tern_module *m = tern_nn_identity();
    int depth = 0;
    while (m) {
        tern_module *outer = tern_nn_sequential(m);
        if (outer)
            depth++;
        m = outer;
    }
    assert_int_equal(depth, 63);
    assert_error(TERN_ERR_ARG, "deeper than 64 levels");
}

// ---- looking up --------------------------------------------------------------------------------

// Names as they come, joined by spaces.
typedef struct names {
    char text[400];
    int count, stop_at;
} names;

static tern_status note(names *n, const char *name)
{
    strcat(n->text, n->count ? " " : "");
    strcat(n->text, name[0] ? name : "(self)");
    return ++n->count == n->stop_at ? tern_error_raise(TERN_ERR_ARG, "stopped") : TERN_OK;
}

static tern_status note_entry(const tern_module_entry *entry, void *user)
{
    assert_ptr_equal(entry->is_parameter
                         ? tern_module_parameter(entry->owner, tern_name(entry->tensor))
                         : tern_module_buffer(entry->owner, tern_name(entry->tensor)),
                     entry->tensor);
    return note(user, entry->name);
}

static tern_status note_module(const char *name, tern_module *module, void *user)
{
    assert_non_null(module);
    return note(user, name);
}

// Sequential(Scaled(inner Scaled), the same Scaled once more, ReLU)
static tern_module *shared_net(void)
{
    tern_module *twice = scaled_new(3, scaled_new(2, NULL));
    return tern_nn_sequential(tern_module_retain(twice), twice, tern_nn_relu());
}

static void walks_visit_distinct_things_once_and_states_under_every_name(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    names parameters = {0}, buffers = {0}, states = {0}, modules = {0}, applied = {0};
    assert_int_equal(tern_module_each_parameter(m, note_entry, &parameters), TERN_OK);
    assert_string_equal(parameters.text, "0.scale 0.inner.scale");
    assert_int_equal(tern_module_each_buffer(m, note_entry, &buffers), TERN_OK);
    assert_string_equal(buffers.text, "0.offset 0.inner.offset");
    assert_int_equal(tern_module_each_state(m, note_entry, &states), TERN_OK);
    assert_string_equal(states.text, "0.scale 0.offset 0.inner.scale 0.inner.offset "
                                     "1.scale 1.offset 1.inner.scale 1.inner.offset");
    assert_int_equal(tern_module_each_module(m, note_module, &modules), TERN_OK);
    assert_string_equal(modules.text, "(self) 0 0.inner 2");
    assert_int_equal(tern_module_apply(m, note_module, &applied), TERN_OK);
    assert_string_equal(applied.text, "0.inner 0 2 (self)");
    tern_module_free(m);
}

static void a_walk_ends_with_the_first_failure(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    names parameters = {.stop_at = 1}, modules = {.stop_at = 2};
    assert_status(tern_module_each_parameter(m, note_entry, &parameters), TERN_ERR_ARG, "stopped");
    assert_int_equal(parameters.count, 1);
    assert_status(tern_module_apply(m, note_module, &modules), TERN_ERR_ARG, "stopped");
    assert_int_equal(modules.count, 2);
    tern_module_free(m);
}

static void buffers_that_are_not_persistent_are_no_state(void **state)
{
    (void)state;
    tern_module *m = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_buffer(m, "cache", NULL, tern_ones(tern_dims(1)), false));
    assert_non_null(tern_module_add_buffer(m, "mean", NULL, tern_ones(tern_dims(1)), true));
    assert_non_null(tern_module_done(m));
    names states = {0}, buffers = {0};
    assert_int_equal(tern_module_each_state(m, note_entry, &states), TERN_OK);
    assert_string_equal(states.text, "mean");
    assert_int_equal(tern_module_each_buffer(m, note_entry, &buffers), TERN_OK);
    assert_string_equal(buffers.text, "cache mean");
    tern_module_free(m);
}

static void a_tied_tensor_counts_once_and_has_both_names(void **state)
{
    (void)state;
    tern_tensor *tied = tern_ones(tern_dims(2, 3));
    tern_module *a = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_parameter(a, "weight", NULL, tied));
    assert_non_null(tern_module_done(a));
    tern_module *b = tern_module_new(&odd_class);
    assert_non_null(tern_module_add_parameter(b, "weight", NULL, tied));
    assert_non_null(tern_module_done(b));
    tern_module *m = tern_nn_sequential(a, b);
    names states = {0};
    assert_int_equal(tern_module_num_parameters(m), 1);
    assert_int_equal(tern_module_num_elements(m, false), 6);
    assert_ptr_equal(tern_module_parameter(m, "0.weight"), tern_module_parameter(m, "1.weight"));
    assert_int_equal(tern_module_each_state(m, note_entry, &states), TERN_OK);
    assert_string_equal(states.text, "0.weight 1.weight");
    tern_module_free(m);
}

static void things_are_found_by_their_full_names(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    assert_tensor(tern_module_parameter(m, "0.inner.scale"), tern_dims(1), 2);
    assert_tensor(tern_module_buffer(m, "1.offset"), tern_dims(1), 1);
    assert_ptr_equal(tern_module_child(m, ""), m);
    assert_ptr_equal(tern_module_child(m, "0.inner"), tern_module_child(m, "1.inner"));
    assert_null_with(tern_module_parameter(m, "0.wieght"), TERN_ERR_ARG,
                     "Sequential has no parameter \"0.wieght\"; it has 0.scale, 0.inner.scale");
    assert_null_with(tern_module_parameter(m, "0.offset"), TERN_ERR_ARG, "no parameter");
    assert_null_with(tern_module_parameter(m, "5.scale"), TERN_ERR_ARG, "no parameter");
    assert_null_with(tern_module_parameter(m, "0"), TERN_ERR_ARG, "no parameter");
    assert_null_with(tern_module_buffer(m, "0.scale"), TERN_ERR_ARG,
                     "no buffer \"0.scale\"; it has 0.offset, 0.inner.offset");
    assert_null_with(tern_module_child(m, "0.outer"), TERN_ERR_ARG,
                     "no child \"0.outer\"; it has 0, 0.inner, 2");
    assert_null_with(tern_module_buffer(tern_module_child(m, "2"), "x"), TERN_ERR_ARG,
                     "ReLU has no buffer \"x\"; it has none");
    tern_module_free(m);
}

static void things_are_found_by_their_index(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    char name[TERN_NAME_SIZE], cut[4];
    assert_tensor(tern_module_parameter_at(m, 1, name, sizeof name), tern_dims(1), 2);
    assert_string_equal(name, "0.inner.scale");
    assert_non_null(tern_module_parameter_at(m, 1, cut, sizeof cut));
    assert_string_equal(cut, "0.i");
    assert_non_null(tern_module_buffer_at(m, 0, NULL, 0));
    assert_ptr_equal(tern_module_child_at(m, -1), tern_module_child(m, "2"));
    assert_ptr_equal(tern_module_child_at(m, 0), tern_module_child(m, "1"));
    assert_null_with(tern_module_parameter_at(m, 2, name, sizeof name), TERN_ERR_INDEX,
                     "there is no number 2; Sequential has 2");
    assert_null_with(tern_module_parameter_at(m, -1, NULL, 0), TERN_ERR_INDEX,
                     "there is no number -1; Sequential has 2");
    assert_null_with(tern_module_buffer_at(m, 7, NULL, 0), TERN_ERR_INDEX, "Sequential has 2");
    assert_null_with(tern_module_child_at(m, 3), TERN_ERR_INDEX, "there is no child 3");
    assert_null_with(tern_module_child_at(m, -4), TERN_ERR_INDEX, "there is no child -4");
    tern_module_free(m);
}

static void counts_tell_trainable_elements_from_all(void **state)
{
    (void)state;
    tern_module *m = tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_linear(8, 3, .bias = false));
    assert_int_equal(tern_module_num_parameters(m), 3);
    assert_int_equal(tern_module_num_buffers(m), 0);
    assert_int_equal(tern_module_num_children(m), 2);
    assert_int_equal(tern_module_num_elements(m, false), 4 * 8 + 8 + 8 * 3);
    assert_ptr_equal(tern_module_requires_grad_(tern_module_child(m, "0"), false),
                     tern_module_child(m, "0"));
    assert_int_equal(tern_module_num_elements(m, true), 8 * 3);
    assert_int_equal(tern_module_num_elements(m, false), 4 * 8 + 8 + 8 * 3);
    tern_module_free(m);
}

static void large_nets_are_traversed_too(void **state)
{
    (void)state;
    enum { LAYERS = 150 };
    tern_module *layers[LAYERS], *m;
    char name[TERN_NAME_SIZE];
    for (int i = 0; i < LAYERS; i++)
        layers[i] = tern_nn_linear(1, 1);
    m = tern_nn_sequential_new(LAYERS, layers);
    assert_int_equal(tern_module_num_parameters(m), 2 * LAYERS);
    assert_int_equal(tern_module_num_elements(m, true), 2 * LAYERS);
    assert_ptr_equal(tern_module_parameter_at(m, 299, name, sizeof name),
                     tern_module_parameter(m, "149.bias"));
    assert_string_equal(name, "149.bias");
    assert_null_with(tern_module_parameter(m, "150.bias"), TERN_ERR_ARG, "1.weight, 1.bias");
    assert_non_null(tern_forward(m, tern_ones(tern_dims(1))));
    tern_module_free(m);
}

// ---- modes and gradients -----------------------------------------------------------------------

static void the_mode_reaches_everything_below(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    tern_module *deep = tern_module_child(m, "1.inner");
    assert_true(tern_module_is_training(m) && tern_module_is_training(deep));
    assert_ptr_equal(tern_module_eval(m), m);
    assert_false(tern_module_is_training(m) || tern_module_is_training(deep));
    assert_ptr_equal(tern_module_train(tern_module_child(m, "0"), true), tern_module_child(m, "1"));
    assert_false(tern_module_is_training(m));
    assert_true(tern_module_is_training(deep));
    tern_module_free(m);
}

static void zero_grad_marks_every_gradient_absent(void **state)
{
    (void)state;
    tern_module *m = shared_net();
    tern_tensor *loss = tern_sum(tern_forward(m, tern_ones(tern_dims(1))), TERN_ALL_AXES, false);
    assert_int_equal(tern_backward(loss), TERN_OK);
    assert_non_null(tern_grad(tern_module_parameter(m, "0.scale")));
    assert_non_null(tern_grad(tern_module_parameter(m, "0.inner.scale")));
    tern_module_zero_grad(m);
    assert_null(tern_grad(tern_module_parameter(m, "0.scale")));
    assert_null(tern_grad(tern_module_parameter(m, "0.inner.scale")));
    assert_false(tern_error_pending());
    tern_module_free(m);
}

static void tensors_of_a_list_become_parameters_that_collect_gradients(void **state)
{
    (void)state;
    tern_tensor *x = tern_ones(tern_dims(2)), *y = tern_ones(tern_dims(2));
    tern_module *list = tern_nn_parameter_list(x), *dict = tern_nn_parameter_dict({"y", y});
    assert_true(tern_requires_grad(x) && tern_requires_grad(y));
    assert_int_equal(tern_backward(tern_sum(tern_mul(x, y), TERN_ALL_AXES, false)), TERN_OK);
    assert_true(tern_grad(x) && tern_grad(y));
    tern_module_free(list);
    tern_module_free(dict);
}

static void frozen_parameters_get_no_gradient(void **state)
{
    (void)state;
    tern_module *m = scaled_new(3, scaled_new(2, NULL));
    (void)tern_module_requires_grad_(tern_module_child(m, "inner"), false);
    assert_int_equal(tern_backward(tern_forward(m, tern_ones(tern_dims(1)))), TERN_OK);
    assert_tensor(tern_grad(tern_module_parameter(m, "scale")), tern_dims(1), 3);
    assert_null(tern_grad(tern_module_parameter(m, "inner.scale")));
    tern_module_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_module_of_the_users_own_computes_and_learns),
        CHECK_TEST(a_constructor_runs_in_a_scope_of_its_own),
        CHECK_TEST(classes_are_checked),
        CHECK_TEST(names_are_not_empty_have_no_dot_and_are_unique),
        CHECK_TEST(parameters_are_floating_contiguous_leaves),
        CHECK_TEST(members_are_set_to_what_is_added),
        CHECK_TEST(members_lie_in_the_struct_once_and_aligned),
        CHECK_TEST(a_tensor_that_could_not_be_made_is_not_absent),
        CHECK_TEST(nothing_is_added_to_a_finished_module),
        CHECK_TEST(an_unfinished_module_neither_runs_nor_becomes_a_child),
        CHECK_TEST(a_failed_child_fails_its_container_quietly_and_frees_the_others),
        CHECK_TEST(a_child_that_somebody_retains_outlives_its_parent),
        CHECK_TEST(a_module_holds_tensors_that_the_user_lets_go),
        CHECK_TEST(modules_nest_up_to_a_limit),
        CHECK_TEST(walks_visit_distinct_things_once_and_states_under_every_name),
        CHECK_TEST(a_walk_ends_with_the_first_failure),
        CHECK_TEST(buffers_that_are_not_persistent_are_no_state),
        CHECK_TEST(a_tied_tensor_counts_once_and_has_both_names),
        CHECK_TEST(things_are_found_by_their_full_names),
        CHECK_TEST(things_are_found_by_their_index),
        CHECK_TEST(counts_tell_trainable_elements_from_all),
        CHECK_TEST(large_nets_are_traversed_too),
        CHECK_TEST(the_mode_reaches_everything_below),
        CHECK_TEST(zero_grad_marks_every_gradient_absent),
        CHECK_TEST(tensors_of_a_list_become_parameters_that_collect_gradients),
        CHECK_TEST(frozen_parameters_get_no_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
