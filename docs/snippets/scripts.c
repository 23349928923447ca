// SPDX-License-Identifier: Apache-2.0
// The pieces of docs/scripts.md.
#include "check.h"

// [table]
static int64_t epochs = 5;
static double lr = 1e-3;
static bool augment, lr_given;
static const char *data, *optimizer = "adam";
static const char *const optimizers[] = {"adam", "sgd", NULL};

static const tern_option options[] = {
    {"DATA", .text = &data, .argument = true, .required = true, .help = "the folder of the images"},
    {"epochs", 'e', .integer = {&epochs, 1, 1000}, .help = "passes over the images"},
    {"optimizer", .choice = {&optimizer, optimizers}, .help = "how it learns:"},
    {"lr", .number = {&lr, 0, INFINITY}, .given = &lr_given, .help = "the learning rate"},
    {"augment", .flag = &augment, .help = "images are mirrored at random"},
    {0},
};
static const tern_script script = {
    .name = "train", .about = "Trains a net on a folder of images.", .options = options};
// [/table]

static int run(int argc, char **argv)
{
    // [read]
    tern_script_action action = tern_script_read(&script, argc, argv);
    if (action != TERN_SCRIPT_RUN)
        return tern_script_print(&script, action, NULL);
    // [/read]
    return 0;
}

// [own]
static int64_t widths[8];
static int count;

static tern_status read_widths(const char *value, void *user)
{
    (void)user;
    for (count = 0; count < 8; value = strchr(value, ',') + 1) {
        int length = 0;
        if (sscanf(value, "%lld%n", (long long *)&widths[count++], &length) < 1)
            break;
        if (value[length] == 0)
            return TERN_OK;
        if (value[length] != ',')
            break;
    }
    return tern_error_raise(TERN_ERR_ARG, "not up to 8 widths like 512,512");
}

static const tern_option own[] = {
    {"hidden", .read = read_widths, .value = "N,N,..", .help = "widths of the layers"},
    {0},
};
// [/own]

static void refused(const tern_script *of, char *first, char *second)
{
    char *argv[] = {(char[]){"train"}, first, second, NULL};
    expect(tern_script_read(of, second ? 3 : 2, argv) == TERN_SCRIPT_WRONG);
    expect(tern_script_print(of, TERN_SCRIPT_WRONG, stdout) == 2);
}

static void settings(void)
{
    // [settings]
    tern_setting all[TERN_SCRIPT_OPTIONS];
    int64_t settings_count = tern_script_settings(&script, all, TERN_SCRIPT_OPTIONS);
    // [/settings]
    expect(settings_count == 5 && all[1].integer == 7);
}

static void summary(void)
{
    tern_module *net =
        tern_nn_sequential(tern_nn_linear(784, 512), tern_nn_relu(), tern_nn_linear(512, 10));
    tern_optim *opt = tern_optim_adam(net);
    // [summary]
    if (tern_module_summary_print(net, tern_dims(64, 784), stdout, .optim = opt))
        tern_error_print(stderr);
    // [/summary]
    tern_free(opt, net);
}

static void resources(void)
{
    // [resources]
    tern_resources now = {0};
    if (tern_resources_read(&now))
        return;
    // .. and in the loop, now and then:
    if (!tern_resources_read(&now) && now.cpu_share.known && now.resident_bytes.known)
        printf("%.0f %% of the CPUs, %.0f MiB\n", 100 * now.cpu_share.value,
               now.resident_bytes.value / (1 << 20));
    // [/resources]
    expect(now.cpu_share.known && !now.devices[0].free.known);
    // [machine]
    tern_machine machine;
    if (!tern_machine_read(&machine))
        printf("%s on %s: %d threads, %s\n", machine.devices, machine.host, machine.threads,
               machine.isa);
    // [/machine]
}

int main(void)
{
    static char *words[] = {"train", "images", "-e", "7", "--lr=0.01", NULL};
    const tern_script with_own = {.name = "train", .options = own};
    expect(run(5, words) == 0 && epochs == 7 && lr_given);
    settings();
    epochs = 5, lr = 1e-3, data = NULL;
    expect(tern_script_print(&script, TERN_SCRIPT_HELP, stdout) == 0);
    refused(&script, (char[]){"--epochs=0"}, NULL);
    refused(&script, (char[]){"--epoch"}, (char[]){"3"});
    refused(&script, (char[]){"--lr"}, (char[]){"--augment"});
    refused(&script, (char[]){"--optimizer"}, (char[]){"sdg"});
    refused(&script, (char[]){"--augment"}, NULL);
    refused(&with_own, (char[]){"--hidden"}, (char[]){"512,x"});
    summary();
    resources();
    return finished();
}
