// SPDX-License-Identifier: Apache-2.0
// What a captured training step consists of: how many nodes its graph has, and how many of them
// come after one another. Fewer are better; the table says what there is now.
#include "device/device_check.h"
#include "device/sim.h"

typedef struct row {
    int64_t batch;
    tern_sim_graph_shape shape; // nodes, kernels, products, copies, longest path
} row;

// The perceptron 784-512-512-10 with ReLU, cross-entropy and Adam, in float32.
static const row rows[] = {
    {64, {21, 12, 8, 1, 21}},
    {1024, {24, 15, 8, 1, 24}},
    {8192, {25, 16, 8, 1, 25}},
};

enum { ROWS = sizeof rows / sizeof *rows };

static tern_sim_graph_shape shape_of(tern_module *net, tern_optim *optim, int64_t batch)
{
    tern_sim_graph_shape shape;
    tern_tensor *x = tern_zeros(tern_dims(batch, 784), .device = here);
    tern_tensor *y = tern_zeros(tern_dims(batch), .dtype = TERN_INT64, .device = here);
    assert_int_equal(tern_cuda_graph_begin(here.index), TERN_OK);
    assert_int_equal(train_step(net, optim, x, y), TERN_OK);
    tern_cuda_graph *graph = tern_cuda_graph_end();
    assert_non_null(graph);
    sim.last_graph(&shape);
    tern_cuda_graph_free(graph);
    return shape;
}

static void print(const char *what, int64_t batch, const tern_sim_graph_shape *s)
{
    print_message("%s batch %lld: %d nodes, %d kernels, %d products, %d copies, longest path %d\n",
                  what, (long long)batch, s->nodes, s->kernels, s->products, s->copies,
                  s->longest_path);
}

static void a_captured_step_has_the_nodes_of_the_table(void **state)
{
    (void)state;
    bool same = true;
    if (!sim_begin())
        skip(); // the simulated device tells what a graph consists of
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 512),
                           tern_nn_relu(), tern_nn_linear(512, 10));
    assert_non_null(tern_module_to(net, here));
    tern_optim *optim = tern_optim_adam(net, .lr = 1e-3);
    tern_tensor *x = tern_zeros(tern_dims(1, 784), .device = here);
    tern_tensor *y = tern_zeros(tern_dims(1), .dtype = TERN_INT64, .device = here);
    assert_int_equal(train_step(net, optim, x, y), TERN_OK); // gradients and state are there
    for (int i = 0; i < ROWS; i++) {
        const tern_sim_graph_shape shape = shape_of(net, optim, rows[i].batch);
        same = same && memcmp(&shape, &rows[i].shape, sizeof shape) == 0;
        print("table:", rows[i].batch, &rows[i].shape);
        print("graph:", rows[i].batch, &shape);
    }
    tern_optim_free(optim);
    tern_module_free(net);
    assert_true(same);
}

int main(int argc, char **argv)
{
    const int nothing = choose_cuda(argc, argv);
    const struct CMUnitTest tests[] = {CHECK_TEST(a_captured_step_has_the_nodes_of_the_table)};
    return nothing ? nothing : cmocka_run_group_tests(tests, NULL, check_shutdown);
}
