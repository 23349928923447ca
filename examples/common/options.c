// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <dirent.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DATA "/usr/share/datasets/fashion-mnist"

static options o;
static bool lr_given;

static bool can_write_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    return access(folder, W_OK) == 0;
}

// Before hours of training, not after.
tern_status check_save(const char *path, void *user)
{
    static const char *const endings[] = {".safetensors", ".pt", ".pth", ".npz"};
    const char *dot = strrchr(path, '.');
    (void)user;
    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return can_write_beside(path)
                       ? TERN_OK
                       : tern_error_raise(TERN_ERR_IO, "its folder cannot be written to");
    return tern_error_raise(TERN_ERR_ARG, "does not end with .safetensors, .pt, .pth or .npz");
}

static bool has_checkpoints(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *file;
    bool found = false;
    while (folder && !found && (file = readdir(folder)))
        found = fnmatch("step-*.safetensors", file->d_name, 0) == 0;
    if (folder)
        closedir(folder);
    return found;
}

// A new run among the checkpoints of another one would be resumed as that.
static tern_status check_together(void *user)
{
    (void)user;
    if (o.warmup && o.schedule.kind && schedule_unit_of(&o.schedule) != SCHEDULE_STEPS)
        return tern_error_raise(TERN_ERR_ARG,
                                "--warmup: counts steps, and this schedule counts epochs");
    if (o.checkpoint_dir && !o.resume && has_checkpoints(o.checkpoint_dir))
        return tern_error_raise(TERN_ERR_ARG,
                                "--checkpoint-dir %s: has checkpoints already: --resume goes on "
                                "with them, a new run needs another one",
                                o.checkpoint_dir);
    return TERN_OK;
}

static const tern_option table[] = {
    {"data", 'd', .text = &o.data, .value = "DIR", .help = "the four IDX files, plain or .gz"},
    {"device", 'D', .text = &o.device, .value = "NAME",
     .help = "cpu, cpu:1, cuda, cuda:0 (the best there is); the data is kept there when it fits"},
    {"devices", .text = &o.devices, .value = "NAME,NAME", .excludes = "device",
     .help = "data parallel: each batch is cut over these, all CUDA devices or all of the CPU's; "
             "data and weights are kept on the first"},
    {"epochs", 'e', .integer = {&o.epochs, 1, 1000000}, .help = "passes over the training images"},
    {"batch-size", 'b', .integer = {&o.batch_size, 1, 1 << 20}, .help = "images per step"},
    {"optimizer", 'o', .choice = {&o.optimizer, optimizer_names}, .help = "how it learns:"},
    {"lr", 'l', .number = {&o.lr, 0, INFINITY}, .given = &lr_given,
     .help = "learning rate at the start, of another optimizer its own"},
    {"weight-decay", 'w', .number = {&o.weight_decay, 0, INFINITY},
     .default_help = "the optimizer's"},
    {"schedule", .text = &o.schedule_text, .value = "NAME[:KEY=X,..]", .read = schedule_read,
     .user = &o.schedule, .default_help = "it falls in a line",
     .help = "how the learning rate changes: cosine, one_cycle, step:step_size=2,gamma=0.5, ..: a "
             "wrong one lists all"},
    {"warmup", .integer = {&o.warmup, 0, 1 << 30},
     .help = "steps in which it first rises in a line"},
    {"ema", .number = {&o.ema, 0, 1}, .default_help = "none",
     .help = "averages of the weights, of which X stays in each step (0 to 1, like 0.999), are "
             "tested and saved in their place"},
    {"clip", .number = {&o.clip, 0, INFINITY}, .default_help = "not clipped",
     .help = "the largest norm of all gradients of a step"},
    {"seed", 's', .integer = {&o.seed, 0, INT64_MAX}},
    {"threads", 't', .integer = {&o.threads, 1, 256}, .help = "CPU threads",
     .default_help = "one per CPU"},
    {"augment", .flag = &o.augment,
     .help = "each image is moved by up to 2 pixels and mirrored at random"},
    {"workers", .integer = {&o.workers, 0, 256},
     .help = "threads that make the batches ahead, where the data stays on the CPU: the same "
             "numbers for any"},
    {"limit", .integer = {&o.limit, 1, 1 << 30}, .help = "only the first N training images"},
    {.section = "Files"},
    {"load", .text = &o.load, .value = "FILE",
     .help = "weights to start from, tern's or PyTorch's"},
    {"save", .text = &o.save, .value = "FILE", .read = check_save,
     .help = "where the weights go at the end; the ending says the format: .safetensors, .pt "
             "(PyTorch's), .npz"},
    {"checkpoint-dir", .text = &o.checkpoint_dir, .value = "DIR",
     .help = "all that is needed to go on is saved there at the end of each epoch and at Ctrl-C; "
             "the last 3 stay"},
    {"checkpoint-every", .integer = {&o.checkpoint_every, 0, INT64_MAX}, .needs = "checkpoint-dir",
     .help = "and every N steps", .default_help = "0: not in between"},
    {"resume", .flag = &o.resume, .needs = "checkpoint-dir",
     .help = "go on from the last checkpoint in DIR, with the same options: the numbers are those "
             "of a run that was never stopped"},
    {"log", .text = &o.log, .value = "DIR",
     .help = "curves, histograms, the worst mistakes and a page, run.html, go there, for "
             "TensorBoard and tern-watch too"},
    {"quiet", 'q', .flag = &o.quiet, .help = "only the last line"},
    {0},
};

bool options_read(options *out, const command *c, int argc, char **argv, int *status)
{
    char about[96], epilog[512];
    const tern_script script = {.name = c->name,
                                .about = about,
                                .options = c->own,
                                .more = table,
                                .epilog = epilog,
                                .check = check_together};
    snprintf(about, sizeof about, "Trains %s on MNIST or Fashion-MNIST.", c->about);
    snprintf(epilog, sizeof epilog,
             "The last line on stdout is for programs; with the defaults it is like\n  %s\n"
             "Ctrl-C ends the training there: the net is tested as it is; a second one ends at "
             "once.\nExit status: 0, 1 when training fails, 2 for wrong options or data files, "
             "130 after Ctrl-C.",
             c->last_line ? c->last_line : "test_accuracy=A test_loss=L epochs=N seconds=S");
    o = c->defaults;
    o.data = o.data ? o.data : DEFAULT_DATA;
    const tern_script_action action = tern_script_read(&script, argc, argv);
    *status = tern_script_print(&script, action, NULL);
    if (!lr_given && strcmp(o.optimizer, c->defaults.optimizer) != 0)
        o.lr = optimizer_find(o.optimizer)->lr;
    if (action == TERN_SCRIPT_RUN)
        o.setting_count = tern_script_settings(&script, o.settings, MAX_SETTINGS);
    *out = o;
    return action == TERN_SCRIPT_RUN;
}
