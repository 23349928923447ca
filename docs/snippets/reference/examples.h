// SPDX-License-Identifier: Apache-2.0
// The examples of the reference: two lines for each constructor, between marks with its name. The
// site shows them; the suite `docs` runs them.
#ifndef TERN_DOCS_EXAMPLES_H
#define TERN_DOCS_EXAMPLES_H

#include "../check.h"

// Checks the shape of a tensor.
#define expect_shape(t, ...)                                                                       \
    expect_at(has_shape((t), tern_dims(__VA_ARGS__)), __FILE__ ": " #t " is (" #__VA_ARGS__ ")",   \
              __LINE__)

static inline bool has_shape(const tern_tensor *t, tern_shape shape)
{
    return t && tern_shape_equal(tern_shape_of(t), shape);
}

// Each runs the examples of a header and returns how many checks failed.
int autograd_examples(void);
int averaged_model_examples(void);
int checkpoint_examples(void);
int cuda_examples(void);
int cuda_graph_examples(void);
int data_examples(void);
int datasets_examples(void);
int fit_examples(void);
int generator_examples(void);
int gradcheck_examples(void);
int image_examples(void);
int image_data_examples(void);
int init_examples(void);
int io_examples(void);
int loader_examples(void);
int logger_examples(void);
int lora_examples(void);
int metric_examples(void);
int metrics_examples(void);
int models_examples(void);
int module_examples(void);
int nn_activation_examples(void);
int nn_container_examples(void);
int nn_conv_examples(void);
int nn_dropout_examples(void);
int nn_linear_examples(void);
int nn_loss_examples(void);
int nn_norm_examples(void);
int nn_pad_examples(void);
int nn_parametrizations_examples(void);
int nn_pool_examples(void);
int nn_resize_examples(void);
int nn_shape_examples(void);
int ops_examples(void);
int ops_activation_examples(void);
int ops_conv_examples(void);
int ops_loss_examples(void);
int ops_norm_examples(void);
int ops_pool_examples(void);
int ops_resize_examples(void);
int optim_examples(void);
int parallel_examples(void);
int parametrize_examples(void);
int progress_examples(void);
int random_examples(void);
int run_examples(void);
int sampler_examples(void);
int sched_examples(void);
int state_examples(void);
int summary_examples(void);
int tensor_examples(void);
int transform_examples(void);

#endif
