// SPDX-License-Identifier: Apache-2.0
// The short forms: tern_child, tern_parameter, tern_buffer, tern_done and tern_free.
#include "support/own_module.h"

static void what_a_member_holds_is_registered_under_its_name(void **state)
{
    (void)state;
    scaled *self = (scaled *)tern_module_new(&scaled_class);
    tern_module *inner = tern_child(self, inner, odd_new());
    tern_tensor *scale = tern_parameter(self, scale, tern_ones(tern_dims(1)));
    tern_module *module = tern_done(self);
    assert_non_null(module);
    assert_ptr_equal(inner, self->inner);
    assert_ptr_equal(scale, self->scale);
    assert_ptr_equal(tern_module_child(module, "inner"), self->inner);
    assert_ptr_equal(tern_module_parameter(module, "scale"), self->scale);
    tern_module_free(module);
    self = (scaled *)tern_module_new(&scaled_class);
    tern_tensor *buffer = tern_buffer(self, scale, tern_ones(tern_dims(1)));
    module = tern_done(self);
    assert_ptr_equal(buffer, self->scale);
    tern_state *buffers = tern_module_state_dict(module);
    assert_ptr_equal(tern_state_tensor(buffers, "scale"), self->scale);
    tern_free(buffers, module);
}

static void a_constructor_goes_on_without_a_struct(void **state)
{
    (void)state;
    const tern_module_class small = {.name = "Small", .size = 1, .call = call_odd};
    scaled *self = (scaled *)tern_module_new(&small);
    tern_parameter(self, scale, tern_ones(tern_dims(1)));
    assert_null(tern_child(self, inner, odd_new())); // which is freed
    assert_null_with(tern_done(self), TERN_ERR_ARG, "the size of Small");
}

static void objects_of_all_kinds_are_freed(void **state)
{
    (void)state;
    const int64_t before = tern_live_tensors();
    tern_module *net = tern_nn_linear(2, 2), *none = NULL;
    tern_optim *opt = tern_optim_sgd(net, .lr = 1);
    tern_tensor *x = tern_ones(tern_dims(4, 2));
    tern_dataset *data = tern_data_tensors(x);
    tern_loader *loader = tern_loader_new(data);
    tern_state *weights = tern_module_state_dict(net);
    tern_generator *generator = tern_generator_new(1);
    tern_free(net, none, weights, opt, data, loader, generator);
    tern_cuda_graph *graph = NULL;
    tern_cuda_stream *stream = NULL;
    tern_cuda_event *event = NULL;
    tern_checkpoint *checkpoint = NULL;
    tern_free(graph, stream, event, checkpoint);
    assert_int_equal(tern_live_tensors(), before + 1); // x, of the scope
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK_TEST(what_a_member_holds_is_registered_under_its_name),
        CHECK_TEST(a_constructor_goes_on_without_a_struct),
        CHECK_TEST(objects_of_all_kinds_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
