// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/logging.md.
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static tern_dataset *make_data(void)
{
    tern_tensor *y = tern_randint(0, 3, tern_dims(64));
    tern_dataset *data = tern_data_tensors(tern_randn(tern_dims(64, 4)), y);
    return data;
}

static void curves(void)
{
    tern_module *net = tern_nn_sequential(tern_nn_linear(4, 3));
    tern_module *criterion = tern_nn_cross_entropy_loss();
    tern_optim *opt = tern_optim_adam(net);
    tern_dataset *data = make_data();
    tern_loader *loader = tern_loader_new(data, .batch_size = 16);
    const int epochs = 2;
    // [curves]
    tern_logger *log = tern_logger_new("runs/a");
    int64_t step = 0;
    for (int epoch = 0; log && epoch < epochs; epoch++) {
        tern_each_batch (b, loader) {
            tern_tensor *loss = tern_loss(criterion, tern_forward(net, b.x), b.y);
            tern_optim_zero_grad(opt);
            if (tern_backward(loss) || tern_optim_step(opt))
                break;
            tern_logger_add_tensor_scalar(log, "train/loss", loss, ++step);
        }
        tern_logger_add_scalar(log, "lr", tern_optim_lr(opt, 0), step);
        tern_logger_add_module_histograms(log, net, step);
    }
    tern_logger_free(log);
    // [/curves]
    expect(step == 8 && access("runs/a/log.jsonl", F_OK) == 0);
    tern_free(loader, data, opt, criterion, net);
}

static void kinds(void)
{
    tern_logger *log = tern_logger_new("runs/kinds");
    tern_tensor *worst = tern_rand(tern_dims(8, 1, 28, 28)), *matrix = tern_ones(tern_dims(2, 2));
    tern_tensor *labels = tern_randint(0, 2, tern_dims(50)), *scores = tern_rand(tern_dims(50));
    const int64_t step = 1;
    // [settings]
    const tern_setting settings[] = {
        {"lr", TERN_SETTING_DOUBLE, .number = 1e-3},
        {"optimizer", TERN_SETTING_TEXT, .text = "adam"},
        {"epochs", TERN_SETTING_INT, .integer = 5},
    };
    tern_logger_add_settings(log, settings, 3);
    // [/settings]
    // [kinds]
    static const char *const names[] = {"cat", "dog"};
    tern_logger_add_image(log, "valid/mistakes", tern_image_grid(worst, .columns = 4), step);
    tern_logger_add_image(log, "valid/worst/1", tern_select(worst, 0, 0), step,
                          .caption = "cat, taken for dog"); // on the page
    tern_logger_add_text(log, "note", "# Second try\nwith *dropout*", step);
    tern_logger_add_confusion_matrix(log, "valid/confusion", matrix, names, step);
    tern_logger_add_pr_curve(log, "valid/dog", labels, scores, step);
    // [/kinds]
    expect(!tern_logger_flush(log) && tern_logger_dropped(log) == 0);
    tern_logger_free(log);
}

static void resume(void)
{
    tern_module *net = tern_nn_linear(4, 3);
    tern_logger_free(tern_logger_new("runs/b"));
    // [resume]
    int64_t step = 0;
    tern_checkpoint *ck = tern_checkpoint_new("runs/b/checkpoints", .keep_last = 2);
    const int resumed =
        tern_checkpoint_module(ck, "net", net) ? -1 : tern_checkpoint_resume(ck, &step);
    tern_logger *log = tern_logger_new("runs/b", .resume_step = resumed == 1 ? step : 0);
    // [/resume]
    expect(resumed == 0 && log);
    tern_logger_free(log);
    tern_checkpoint_free(ck);
    tern_module_free(net);
}

static void refused(void)
{
    expect(!tern_logger_new("runs/a"));
    expect_error(TERN_ERR_STATE);
    tern_logger *log = tern_logger_new("runs/c");
    tern_logger_add_scalar(log, "loss", 1, 0);
    tern_logger_add_text(log, "loss", "small", 0);
    expect_error(TERN_ERR_ARG);
    // [interrupted]
    tern_logger_set_status(log, TERN_RUN_STOPPED); // by Ctrl-C, say
    tern_logger_free(log);
    // [/interrupted]
}

int main(void)
{
    char folder[] = "/tmp/tern-docs-XXXXXX";
    expect(mkdtemp(folder) && chdir(folder) == 0);
    tern_with_scope {
        curves();
        kinds();
        resume();
        refused();
    }
    const int failed = system("rm -r runs");
    expect(failed == 0 && chdir("/") == 0 && rmdir(folder) == 0);
    return finished();
}
