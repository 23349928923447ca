// SPDX-License-Identifier: Apache-2.0
// What interop.py has tern do between two libraries:
//
//     interop copy IN OUT                      reads a file and writes what it held
//     interop train IN MODEL OPTIM COUNT       goes on with an AdamW run; prints the losses
//     interop lbfgs IN MODEL OPTIM COUNT       likewise an LBFGS run
//     interop generator IN OUT DRAWS           goes on with PyTorch's generator, and gives it back
//     interop resnet18 IN MODEL OUTPUT         runs torchvision's weights, saves them and what
//                                              comes out
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tern/tern.h>

static int copy(char **words)
{
    tern_state *state = tern_state_read(words[0], .map_location = "cpu");
    int failed = !state || tern_state_write(state, words[1]);
    tern_state_free(state);
    return failed;
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct run {
    tern_module *net;
    tern_optim *optim;
    tern_state *state;
} run;

static tern_tensor *closure(void *user)
{
    const run *r = user;
    tern_tensor *y = tern_forward(r->net, tern_state_tensor(r->state, "x"));
    tern_tensor *loss = tern_cross_entropy(y, tern_state_tensor(r->state, "y"));
    tern_optim_zero_grad(r->optim);
    return tern_backward(loss) ? NULL : loss;
}

static int steps(run *r, int count)
{
    int failed = 0;
    for (int i = 0; i < count && !failed; i++) {
        tern_scope scope = tern_scope_open();
        tern_tensor *loss = tern_optim_step_closure(r->optim, closure, r);
        failed = !loss;
        printf("%.9g\n", failed ? 0 : tern_item(loss));
        tern_scope_close(scope);
    }
    return failed;
}

static int save(tern_module *net, tern_optim *optim, char **paths)
{
    tern_state *model = tern_module_state_dict(net);
    int failed = !model || tern_state_write(model, paths[0]);
    tern_state_free(model);
    return failed || tern_optim_save_torch(optim, paths[1]);
}

static int go_on(run *r, char **words)
{
    r->state = tern_state_read(words[0]);
    int failed = !r->state || tern_module_load_state_dict(r->net, r->state, .prefix = "model.") ||
                 tern_optim_load_torch(r->optim, words[0], .prefix = "optimizer.") ||
                 steps(r, atoi(words[3])) || save(r->net, r->optim, words + 1);
    tern_state_free(r->state);
    tern_optim_free(r->optim);
    tern_module_free(r->net);
    return failed;
}

static tern_module *make_net(void)
{
    return tern_nn_sequential(tern_nn_linear(4, 8), tern_nn_relu(), tern_nn_linear(8, 3));
}

static int train(char **words)
{
    run r = {.net = make_net()};
    r.optim = tern_optim_adamw(r.net);
    return go_on(&r, words);
}

static int train_lbfgs(char **words)
{
    run r = {.net = make_net()};
    r.optim = tern_optim_lbfgs(r.net);
    return go_on(&r, words);
}

// ---- generators ---------------------------------------------------------------------------------

static int generator(char **words)
{
    unsigned char bytes[TERN_TORCH_GENERATOR_SIZE];
    FILE *in = fopen(words[0], "rb"), *out = fopen(words[1], "wb");
    tern_generator *g = tern_generator_new(0);
    int draws = atoi(words[2]);
    int failed = !in || !out || fread(bytes, sizeof bytes, 1, in) != 1 ||
                 tern_generator_from_torch(g, bytes, sizeof bytes);
    if (!failed && draws)
        failed = !tern_randint(0, 1 << 20, tern_dims(draws), .generator = g);
    failed = failed || tern_generator_to_torch(g, bytes, sizeof bytes) ||
             fwrite(bytes, sizeof bytes, 1, out) != 1;
    tern_tensor *next = failed ? NULL : tern_rand(tern_dims(4), .generator = g);
    for (int i = 0; next && i < 4; i++)
        printf("%.9g\n", (double)((float *)tern_data(next))[i]);
    tern_generator_free(g);
    failed |= (in && fclose(in)) | (out && fclose(out));
    return failed || !next;
}

// ---- a network ----------------------------------------------------------------------------------

static int run_resnet18(char **words)
{
    tern_module *net = tern_models_resnet18();
    tern_state *in = tern_state_read(words[0]), *out = tern_state_new(), *model = NULL;
    int failed = !in || !out || tern_module_load_state_dict(net, in, .prefix = "model.");
    if (!failed) {
        tern_tensor *y = NULL;
        tern_module_eval(net);
        tern_no_grad {
            y = tern_forward(net, tern_state_tensor(in, "x"));
        }
        model = tern_module_state_dict(net);
        failed = !y || !model || tern_state_set_tensor(out, "y", y) ||
                 tern_state_write(model, words[1]) || tern_state_write(out, words[2]);
    }
    tern_state_free(model);
    tern_state_free(out);
    tern_state_free(in);
    tern_module_free(net);
    return failed;
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        int (*run)(char **words);
        int words;
    } commands[] = {{"copy", copy, 2},
                    {"train", train, 4},
                    {"lbfgs", train_lbfgs, 4},
                    {"generator", generator, 3},
                    {"resnet18", run_resnet18, 3}};
    tern_scope scope = tern_scope_open();
    int status = 2;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (count == commands[i].words + 2 && strcmp(words[1], commands[i].name) == 0)
            status = commands[i].run(words + 2);
    if (tern_error_pending())
        tern_error_print(stderr);
    tern_scope_close(scope);
    tern_shutdown();
    return status;
}
