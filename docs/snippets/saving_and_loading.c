// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/saving-and-loading.md. They write into a folder of their own.
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_linear(4, 3), tern_nn_relu(), tern_nn_linear(3, 2));
}

static double first_weight(tern_module *net)
{
    tern_tensor *weight = tern_module_parameter(net, "0.weight");
    return tern_item(tern_select(tern_select(weight, 0, 0), 0, 0));
}

static void weights(void)
{
    tern_module *net = make_net(), *other = make_net();
    // [save]
    tern_state *state = tern_module_state_dict(net);
    if (tern_state_write(state, "net.safetensors"))
        tern_error_print(stderr);
    tern_state_free(state);
    // [/save]
    // [load]
    tern_state *saved = tern_state_read("net.safetensors");
    if (tern_module_load_state_dict(other, saved))
        tern_error_print(stderr);
    tern_state_free(saved);
    // [/load]
    expect(first_weight(other) == first_weight(net));
    // [short]
    if (tern_module_save(net, "net.safetensors") || tern_module_load(other, "net.safetensors"))
        tern_error_print(stderr);
    // [/short]
    tern_module_free(other);
    tern_module_free(net);
}

static void values(void)
{
    tern_module *net = make_net();
    // [values]
    tern_state *state = tern_module_state_dict(net);
    if (tern_state_set_int(state, "epoch", 12) || tern_state_set_double(state, "accuracy", 0.871) ||
        tern_state_set_text(state, "classes", "cat,dog") ||
        tern_state_write(state, "net.safetensors"))
        tern_error_print(stderr);
    // [/values]
    expect(tern_state_write(state, "net.npz"));
    expect_error(TERN_ERR_ARG);
    expect(tern_state_write(state, "net.weights"));
    expect_error(TERN_ERR_ARG);
    tern_state_free(state);
    int64_t epoch = 0;
    // [read]
    tern_state *saved = tern_state_read("net.safetensors");
    if (!tern_state_get_int(saved, "epoch", &epoch))
        printf("epoch %lld of %s\n", (long long)epoch, tern_state_text(saved, "classes"));
    // [/read]
    expect(epoch == 12);
    tern_state_free(saved);
    // [only]
    tern_state *front = tern_state_read("net.safetensors", .only = "0.*");
    // [/only]
    expect(tern_state_count(front) == 2);
    tern_state_free(front);
    // [list]
    if (tern_state_list("net.safetensors", stdout) || tern_state_verify("net.safetensors"))
        tern_error_print(stderr);
    // [/list]
    tern_module_free(net);
}

// The state dict of a net with `prefix` before each name.
static tern_state *with_prefix(tern_module *net, const char *prefix)
{
    tern_state *result = tern_state_new(), *state = tern_module_state_dict(net);
    for (int64_t i = 0; i < tern_state_count(state); i++) {
        char name[64];
        const char *own = tern_state_name_at(state, i);
        snprintf(name, sizeof name, "%s%s", prefix, own);
        expect(!tern_state_set_tensor(result, name, tern_state_tensor(state, own)));
    }
    tern_state_free(state);
    return result;
}

static void pytorch(void)
{
    tern_module *net = make_net(), *other = make_net();
    // As torch.save({'model': net.state_dict(), 'epoch': 12}, 'run.pt') names the values.
    tern_state *values = with_prefix(net, "model.");
    expect(!tern_state_set_int(values, "epoch", 12) && !tern_state_write(values, "run.pt"));
    tern_state_free(values);
    // [torch]
    tern_state *run = tern_state_read("run.pt", .map_location = "cpu");
    if (tern_module_load_state_dict(other, run, .prefix = "model."))
        tern_error_print(stderr);
    tern_state_free(run);
    // [/torch]
    expect(first_weight(other) == first_weight(net));
    tern_module_free(other);
    tern_module_free(net);
}

// [rename]
// What was "fc.weight" is "2.weight" in this net; other names stay.
static bool rename_last(const char *name, char *renamed, size_t size, void *user)
{
    (void)user;
    if (strncmp(name, "fc.", 3) != 0)
        return false;
    snprintf(renamed, size, "2.%s", name + 3);
    return true;
}
// [/rename]

// The state of a net whose last layer was called "fc".
static tern_state *with_old_names(tern_module *net)
{
    tern_state *state = tern_module_state_dict(net);
    expect(!tern_state_set_tensor(state, "fc.weight", tern_state_tensor(state, "2.weight")));
    expect(!tern_state_set_tensor(state, "fc.bias", tern_state_tensor(state, "2.bias")));
    expect(!tern_state_remove(state, "2.weight") && !tern_state_remove(state, "2.bias"));
    return state;
}

static void old_names(void)
{
    tern_module *net = make_net(), *other = make_net();
    tern_state *state = with_old_names(other);
    // [load_renamed]
    if (tern_module_load_state_dict(net, state, .rename = rename_last))
        tern_error_print(stderr);
    // [/load_renamed]
    expect(!tern_error_pending() && first_weight(net) == first_weight(other));
    tern_state_free(state);
    tern_module_free(other);
    tern_module_free(net);
}

static void names(void)
{
    tern_module *net = make_net(), *other = make_net();
    tern_state *state = with_prefix(other, "module."); // as a net in a DataParallel is saved
    expect(tern_module_load_state_dict(net, state));
    expect_error(TERN_ERR_ARG);
    // [strip]
    if (tern_module_load_state_dict(net, state, .strip = "module."))
        tern_error_print(stderr);
    // [/strip]
    expect(first_weight(net) == first_weight(other));
    tern_state_free(state);

    tern_module *wrapped = tern_nn_sequential(tern_nn_data_parallel(tern_nn_linear(4, 3)),
                                              tern_nn_relu(), tern_nn_linear(3, 2));
    state = tern_module_state_dict(wrapped);
    expect(tern_module_load_state_dict(net, state));
    expect_error(TERN_ERR_ARG);
    // [component]
    if (tern_module_load_state_dict(net, state, .strip_component = "module"))
        tern_error_print(stderr);
    // [/component]
    expect(first_weight(net) != first_weight(other));
    tern_state_free(state);
    tern_module_free(wrapped);

    tern_module *longer = tern_nn_sequential(tern_nn_linear(4, 3), tern_nn_relu(),
                                             tern_nn_linear(3, 2), tern_nn_linear(2, 5));
    state = tern_module_state_dict(net);
    // [report]
    tern_load_report report = {0};
    if (tern_module_load_state_dict(longer, state, .strict = false, .report = &report))
        tern_error_print(stderr);
    for (int64_t i = 0; i < report.missing_count; i++)
        printf("starts anew: %s\n", report.missing[i]); // 3.weight, 3.bias
    tern_load_report_free(&report);
    // [/report]
    expect(first_weight(longer) == first_weight(net));
    tern_state_free(state);
    tern_module_free(longer);
    tern_module_free(other);
    tern_module_free(net);
}

// ---- checkpoints --------------------------------------------------------------------------------

static void checkpoints(void)
{
    tern_module *net = make_net(), *other = make_net();
    tern_optim *opt = tern_optim_adamw(net);
    tern_checkpoint *ck = tern_checkpoint_new("runs");
    // [average]
    tern_module *average = tern_averaged_model_ema(net, .decay = 0.999);
    if (tern_checkpoint_module(ck, "model", net) || tern_checkpoint_module(ck, "average", average))
        tern_error_print(stderr);
    // [/average]
    expect(!tern_checkpoint_optim(ck, "optim", opt));
    expect(!tern_checkpoint_save(ck, 1200));
    tern_checkpoint_free(ck);
    // [checkpoint]
    tern_state *saved = tern_state_read("runs/step-00001200.safetensors", .only = "model.*");
    if (tern_module_load_state_dict(other, saved, .prefix = "model."))
        tern_error_print(stderr);
    tern_state_free(saved);
    // [/checkpoint]
    expect(first_weight(other) == first_weight(net));
    tern_module_free(average);
    tern_optim_free(opt);
    tern_module_free(other);
    tern_module_free(net);
}

// ---- exchange with PyTorch ----------------------------------------------------------------------

static void optimizers(void)
{
    tern_module *net = make_net();
    tern_optim *opt = tern_optim_adamw(net), *other = tern_optim_adamw(net, .lr = 1);
    tern_tensor *loss = tern_sum_all(tern_forward(net, tern_ones(tern_dims(1, 4))));
    expect(!tern_backward(loss) && !tern_optim_step(opt));
    // [optim]
    if (tern_optim_save_torch(opt, "optimizer.pt")) // for optimizer.load_state_dict(torch.load(..))
        tern_error_print(stderr);
    if (tern_optim_load_torch(other, "optimizer.pt")) // from torch.save(optimizer.state_dict(), ..)
        tern_error_print(stderr);
    // [/optim]
    expect(tern_optim_lr(other, 0) == 1e-3);
    tern_optim_free(other);
    tern_optim_free(opt);
    tern_module_free(net);
}

static void generators(void)
{
    // [generator]
    unsigned char bytes[TERN_TORCH_GENERATOR_SIZE]; // torch.get_rng_state()
    tern_generator *gen = tern_default_generator(tern_cpu(0));
    if (tern_generator_to_torch(gen, bytes, sizeof bytes) ||
        tern_generator_from_torch(gen, bytes, sizeof bytes))
        tern_error_print(stderr);
    // [/generator]
    expect(bytes[12] == 1); // seeded
}

// ---- the folder ---------------------------------------------------------------------------------

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what, (void)kind, (void)where;
    return remove(path);
}

int main(void)
{
    char folder[] = "/tmp/tern-docs-XXXXXX";
    expect(mkdtemp(folder) && chdir(folder) == 0);
    tern_scope scope = tern_scope_open();
    weights();
    values();
    pytorch();
    names();
    old_names();
    checkpoints();
    optimizers();
    generators();
    tern_scope_close(scope);
    expect(chdir("/") == 0 && nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0);
    return finished();
}
