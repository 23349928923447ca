// SPDX-License-Identifier: Apache-2.0
// A captured step of a net with computed weights or adapters does what the step does: weights are
// computed, and power iterations run, at each replay.
#include "graph_check.h"

enum { BATCHES = 6 };

static tern_module *net_new(void)
{
    tern_module *net = plain_net();
    assert_non_null(tern_nn_weight_norm(net, .name = "0.weight"));
    assert_non_null(tern_nn_spectral_norm(net, .name = "3.weight"));
    return net;
}

static tern_module *adapted_new(void)
{
    tern_module *net = plain_net();
    assert_int_equal(tern_lora(net, "*", .rank = 2), TERN_OK);
    return net;
}

static tern_status compare_entry(const tern_module_entry *entry, void *user)
{
    pair *p = user;
    check_same(entry->tensor,
               entry->is_parameter ? tern_module_parameter(p->eager.net, entry->name)
                                   : tern_module_buffer(p->eager.net, entry->name),
               0);
    return TERN_OK;
}

static void check_replayed(pair p)
{
    pair_warm_up(&p);
    tern_cuda_graph *graph = capture(&p.graph, plain_step);
    for (int i = 0; i < BATCHES; i++) {
        pair_fill(&p, WARM + i);
        replay(graph);
        assert_int_equal(plain_step(&p.eager), TERN_OK);
        check_same(p.graph.loss, p.eager.loss, 0);
    }
    assert_int_equal(tern_module_each_state(p.graph.net, compare_entry, &p), TERN_OK);
    pair_free(&p, graph);
}

static void a_replayed_step_computes_the_weights(void **state)
{
    (void)state;
    check_replayed(pair_of(net_new, adam));
}

static void a_replayed_step_trains_the_adapters(void **state)
{
    (void)state;
    check_replayed(pair_of(adapted_new, adam));
}

static void a_module_is_not_changed_while_the_thread_captures(void **state)
{
    (void)state;
    tern_module *net = tern_module_to(adapted_new(), here);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_null_with(tern_nn_weight_norm(net, .name = "0.weight"), TERN_ERR_STATE,
                     "module_register_parametrization: ");
    assert_status(tern_lora_merge(net), TERN_ERR_STATE, "lora_merge: ");
    assert_status(tern_lora_unload(net), TERN_ERR_STATE, "lora_unload: ");
    assert_status(tern_lora(net, "*"), TERN_ERR_STATE, "lora: ");
    tern_cuda_graph_free(tern_cuda_graph_end());
    tern_error_clear();
    tern_module_free(net);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {
        CHECK_TEST(a_replayed_step_computes_the_weights),
        CHECK_TEST(a_replayed_step_trains_the_adapters),
        CHECK_TEST(a_module_is_not_changed_while_the_thread_captures),
    };
    return nothing ? nothing
                   : cmocka_run_group_tests_name("graph_parametrized", tests, NULL, check_shutdown);
}
