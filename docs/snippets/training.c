// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/training.md.
#include "check.h"

static tern_tensor *x, *labels;

static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_tanh(), tern_nn_linear(8, 3));
}

static double loss_of(tern_module *net)
{
    return tern_item(tern_cross_entropy(tern_forward(net, x), labels));
}

static void the_loop(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    const double before = loss_of(net);
    // [loop]
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2);
    tern_sched *cosine = tern_sched_cosine_annealing_lr(opt, 90);
    tern_sched *sched = tern_sched_warmup(cosine, 10); // ten steps up, ninety down
    tern_each_step (i, 100) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), labels);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || !tern_clip_grad_norm(net, 1.0) || tern_optim_step(opt) ||
            tern_sched_step(sched))
            break; // an error is pending
    }
    // [/loop]
    expect(loss_of(net) < 0.7 * before);
    tern_free(sched, opt, criterion, net);
}

// [vectors]
static bool is_vector(const tern_module_entry *parameter, void *user)
{
    (void)user;
    return tern_rank(parameter->tensor) < 2;
}
// [/vectors]

static void decay(void)
{
    tern_module *net = make_net();
    // [decay]
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-3, .weight_decay = 0.1);
    if (tern_optim_group_if(opt, net, is_vector, .weight_decay = 0))
        tern_error_print(stderr);
    // [/decay]
    expect(tern_optim_num_groups(opt) == 2 && tern_optim_get(opt, 1, "weight_decay") == 0);
    tern_free(opt, net);
}

static void how_well(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_dataset *data = tern_data_tensors(x, labels);
    tern_loader *test = tern_loader_new(data, .batch_size = 4);
    // [evaluate]
    tern_metric_list metrics = tern_metrics(
        tern_metric_accuracy(.num_classes = 3), tern_metric_confusion_matrix(.num_classes = 3),
        tern_metric_f1(.num_classes = 3, .average = TERN_AVERAGE_MACRO));
    double loss;
    if (tern_evaluate(net, test, .criterion = criterion, .metrics = metrics, .loss = &loss))
        tern_error_print(stderr);
    double accuracy = tern_metric_value(metrics.at[0]);
    // [/evaluate]
    expect(near(loss, loss_of(net)) && accuracy >= 0 && accuracy <= 1);
    tern_metrics_free(metrics);
    tern_free(test, data, criterion, net);
}

static void averages(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    // [average]
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.9);
    tern_each_step (i, 20) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), labels);
        tern_optim_zero_grad(opt);
        if (tern_backward(loss) || tern_optim_step(opt) || tern_averaged_model_update(average, net))
            break;
    }
    tern_tensor *scores = tern_forward(tern_module_eval(average), x);
    // [/average]
    expect(tern_numel(scores) > 0 && loss_of(average) > loss_of(net)); // it comes behind
    tern_free(average, opt, criterion, net);
}

static void parts(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_sgd(net, .lr = 0.1);
    const double before = loss_of(net);
    // [accumulate]
    if (tern_optim_accumulate(opt, 4)) // each fourth step acts, on the mean of four gradients
        tern_error_print(stderr);
    tern_each_step (i, 16) {
        tern_tensor *loss = tern_loss(criterion, tern_forward(net, x), labels);
        tern_optim_zero_grad(opt); // keeps the gradients in between
        if (tern_backward(loss) || !tern_clip_grad_norm(NULL, 1.0, .optim = opt) ||
            tern_optim_step(opt))
            break;
    }
    // [/accumulate]
    expect(tern_optim_step_count(opt, 0) == 4 && loss_of(net) < before);
    tern_free(opt, criterion, net);
}

// [closure]
typedef struct problem {
    tern_module *net, *criterion;
    tern_optim *opt;
} problem;

static tern_tensor *whole_loss(void *user)
{
    problem *p = user;
    tern_tensor *loss = tern_loss(p->criterion, tern_forward(p->net, x), labels);
    tern_optim_zero_grad(p->opt);
    return tern_backward(loss) ? NULL : loss;
}
// [/closure]

static void whole_batches(void)
{
    problem p = {make_net(), tern_nn_cross_entropy_loss(), NULL};
    const double before = loss_of(p.net);
    // [lbfgs]
    p.opt = tern_optim_lbfgs(p.net, .line_search_fn = TERN_LINE_SEARCH_STRONG_WOLFE);
    tern_each_step (i, 5) // up to 20 iterations each
        if (!tern_optim_step_closure(p.opt, whole_loss, &p))
            break;
    // [/lbfgs]
    expect(loss_of(p.net) < 0.1 * before);
    tern_free(p.opt, p.criterion, p.net);
}

static void adapters(void)
{
    tern_module *net = make_net(), *criterion = tern_nn_cross_entropy_loss();
    const double before = loss_of(net);
    // [lora]
    tern_status status =
        tern_lora(net, "*", .rank = 2, .alpha = 4);      // every Linear; or "*.[qv]_proj"
    tern_optim *opt = tern_optim_adamw(net, .lr = 1e-2); // has A and B alone to step
    // [/lora]
    tern_each_step (i, 100) {
        tern_optim_zero_grad(opt);
        if (tern_backward(tern_loss(criterion, tern_forward(net, x), labels)) ||
            tern_optim_step(opt))
            break;
    }
    const double after = loss_of(net);
    expect(!status && after < before);
    // [merge]
    tern_state *adapter = tern_lora_state_dict(net); // 0.lora_A.weight, 0.lora_B.weight, ...
    status = tern_lora_merge(net); // into the weights: a forward costs what it did
    // [/merge]
    expect(!status && tern_state_count(adapter) == 4 && fabs(loss_of(net) - after) < 1e-4);
    tern_free(adapter, opt, criterion, net);
}

int main(void)
{
    tern_scope scope = tern_scope_open();
    tern_manual_seed(1);
    x = tern_randn(tern_dims(48, 4));
    tern_no_grad
        labels = tern_argmax(tern_slice(x, 1, 0, 3, 1), 1, false);
    the_loop();
    decay();
    how_well();
    averages();
    parts();
    whole_batches();
    adapters();
    tern_scope_close(scope);
    return finished();
}
