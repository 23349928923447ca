// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_DATA "/usr/share/datasets/fashion-mnist"

static const char help[] =
    "Usage: mlp_mnist [options]\n"
    "Trains a multi-layer perceptron on MNIST or Fashion-MNIST.\n"
    "\n"
    "  --data DIR           the four IDX files, plain or .gz\n"
    "                       (" DEFAULT_DATA ")\n"
    "  --device NAME        cpu, cpu:1, cuda, cuda:0 (the best there is); the data is\n"
    "                       kept there when it fits\n"
    "  --epochs N           passes over the training images (5)\n"
    "  --batch-size N       images per step (64)\n"
    "  --hidden N,N,...     widths of the hidden layers, at most 8 (512,512)\n"
    "  --optimizer NAME     sgd (with momentum 0.9), adam, adamw (adam)\n"
    "  --lr X               learning rate at the start; it falls in a line to 0 (1e-3)\n"
    "  --weight-decay X     (the optimizer's default)\n"
    "  --seed N             (0)\n"
    "  --threads N          CPU threads (one per CPU)\n"
    "  --limit N            only the first N training images\n"
    "  --load FILE          weights to start from, tern's or PyTorch's\n"
    "  --save FILE          where the weights go at the end; the ending says the format:\n"
    "                       .safetensors, .pt (PyTorch's), .npz\n"
    "  --checkpoint-dir DIR all that is needed to go on is saved there at the end of each\n"
    "                       epoch and at Ctrl-C; the last 3 stay\n"
    "  --checkpoint-every N and every N steps (0: not in between)\n"
    "  --resume             go on from the last checkpoint in DIR, with the same options:\n"
    "                       the numbers are those of a run that was never stopped\n"
    "  --quiet              only the last line\n"
    "  -h, --help           this text\n"
    "\n"
    "The last line on stdout is for programs:\n"
    "  test_accuracy=0.8841 test_loss=0.3312 epochs=5 seconds=12.3\n"
    "Ctrl-C ends the training there: the net is tested as it is; a second one ends at once.\n"
    "Exit status: 0, 1 when training fails, 2 for wrong options or data files, 130 after\n"
    "Ctrl-C.\n";

void options_help(void)
{
    fputs(help, stdout);
}

static bool read_integer(const char *text, const char *end, int64_t low, int64_t high, int64_t *out)
{
    char *stop;
    errno = 0;
    long long value = strtoll(text, &stop, 10);
    if (errno || stop == text || stop != end || value < low || value > high)
        return false;
    *out = value;
    return true;
}

static bool read_count(const char *option, const char *text, int64_t low, int64_t high,
                       int64_t *out)
{
    if (read_integer(text, text + strlen(text), low, high, out))
        return true;
    fprintf(stderr, "mlp_mnist: --%s %s: not a whole number of %lld to %lld\n", option, text,
            (long long)low, (long long)high);
    return false;
}

static bool read_number(const char *option, const char *text, double *out)
{
    char *stop;
    double value = strtod(text, &stop);
    if (stop != text && *stop == 0 && isfinite(value) && value >= 0) {
        *out = value;
        return true;
    }
    fprintf(stderr, "mlp_mnist: --%s %s: not a number of 0 or more\n", option, text);
    return false;
}

static bool read_hidden(options *o, const char *text)
{
    const char *at = text;
    o->hidden_count = 0;
    for (;;) {
        const char *end = at + strcspn(at, ",");
        if (o->hidden_count == MAX_HIDDEN ||
            !read_integer(at, end, 1, 1 << 20, &o->hidden[o->hidden_count++])) {
            fprintf(stderr, "mlp_mnist: --hidden %s: not up to %d widths like 512,512\n", text,
                    MAX_HIDDEN);
            return false;
        }
        if (*end == 0)
            return true;
        at = end + 1;
    }
}

static bool read_optimizer(options *o, const char *text)
{
    static const char *const names[] = {
        [OPTIMIZER_SGD] = "sgd", [OPTIMIZER_ADAM] = "adam", [OPTIMIZER_ADAMW] = "adamw"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            o->optimizer = (optimizer_kind)i;
            return true;
        }
    }
    fprintf(stderr, "mlp_mnist: --optimizer %s: not one of sgd, adam, adamw\n", text);
    return false;
}

static bool can_write_beside(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    return access(folder, W_OK) == 0;
}

// Before hours of training, not after.
static bool check_save(const char *path)
{
    static const char *const endings[] = {".safetensors", ".pt", ".pth", ".npz"};
    const char *dot = strrchr(path, '.');
    bool known = false;
    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        known = known || strcmp(dot, endings[i]) == 0;
    if (known && can_write_beside(path))
        return true;
    fprintf(stderr, "mlp_mnist: --save %s: %s\n", path,
            known ? "its folder cannot be written to"
                  : "does not end with .safetensors, .pt, .pth or .npz");
    return false;
}

// The letters of options without a short name are above those of characters.
enum { LIMIT = 256, LOAD, SAVE, CHECKPOINT_DIR, CHECKPOINT_EVERY, RESUME };

static bool read_file_option(options *o, int letter)
{
    switch (letter) {
    case LIMIT:
        return read_count("limit", optarg, 1, 1 << 30, &o->limit);
    case LOAD:
        o->load = optarg;
        return true;
    case SAVE:
        o->save = optarg;
        return check_save(optarg);
    case CHECKPOINT_DIR:
        o->checkpoint_dir = optarg;
        return true;
    case CHECKPOINT_EVERY:
        return read_count("checkpoint-every", optarg, 0, INT64_MAX, &o->checkpoint_every);
    default:
        o->resume = true;
        return true;
    }
}

static const struct option words[] = {
    {"data", required_argument, NULL, 'd'},
    {"device", required_argument, NULL, 'D'},
    {"epochs", required_argument, NULL, 'e'},
    {"batch-size", required_argument, NULL, 'b'},
    {"hidden", required_argument, NULL, 'H'},
    {"optimizer", required_argument, NULL, 'o'},
    {"lr", required_argument, NULL, 'l'},
    {"weight-decay", required_argument, NULL, 'w'},
    {"seed", required_argument, NULL, 's'},
    {"threads", required_argument, NULL, 't'},
    {"limit", required_argument, NULL, LIMIT},
    {"load", required_argument, NULL, LOAD},
    {"save", required_argument, NULL, SAVE},
    {"checkpoint-dir", required_argument, NULL, CHECKPOINT_DIR},
    {"checkpoint-every", required_argument, NULL, CHECKPOINT_EVERY},
    {"resume", no_argument, NULL, RESUME},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_option(options *o, int letter)
{
    int64_t number = 0;
    switch (letter) {
    case 'd':
        o->data = optarg;
        return true;
    case 'D':
        o->device = optarg;
        return true;
    case 'e':
        return read_count("epochs", optarg, 1, 1000000, &o->epochs);
    case 'b':
        return read_count("batch-size", optarg, 1, 1 << 20, &o->batch_size);
    case 'H':
        return read_hidden(o, optarg);
    case 'o':
        return read_optimizer(o, optarg);
    case 'l':
        return read_number("lr", optarg, &o->lr);
    case 'w':
        return read_number("weight-decay", optarg, &o->weight_decay);
    case 's':
        if (!read_count("seed", optarg, 0, INT64_MAX, &number))
            return false;
        o->seed = (uint64_t)number;
        return true;
    case 't':
        if (!read_count("threads", optarg, 1, 256, &number))
            return false;
        o->threads = (int)number;
        return true;
    case 'q':
        o->quiet = true;
        return true;
    case 'h':
        o->help = true;
        return true;
    default:
        return read_file_option(o, letter);
    }
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
static bool check_together(const options *o)
{
    const char *alone = o->resume ? "--resume" : o->checkpoint_every ? "--checkpoint-every" : NULL;
    if (o->help)
        return true;
    if (alone && !o->checkpoint_dir) {
        fprintf(stderr, "mlp_mnist: %s: needs --checkpoint-dir\n", alone);
        return false;
    }
    if (o->checkpoint_dir && !o->resume && has_checkpoints(o->checkpoint_dir)) {
        fprintf(stderr,
                "mlp_mnist: --checkpoint-dir %s: has checkpoints already: --resume goes on with "
                "them, a new run needs another one\n",
                o->checkpoint_dir);
        return false;
    }
    return true;
}

bool options_read(options *o, int argc, char **argv)
{
    *o = (options){.data = DEFAULT_DATA,
                   .epochs = 5,
                   .batch_size = 64,
                   .hidden = {512, 512},
                   .hidden_count = 2,
                   .optimizer = OPTIMIZER_ADAM,
                   .lr = 1e-3,
                   .weight_decay = -1};
    opterr = 0;
    for (;;) {
        int at = optind, index = -1;
        int letter = getopt_long(argc, argv, ":h", words, &index);
        if (letter == -1)
            break;
        if (index < 0 && letter != 'h') {
            fprintf(stderr, "mlp_mnist: %s: %s; --help lists the options\n", argv[at],
                    letter == ':' ? "needs a value" : "no such option, or a value where none goes");
            return false;
        }
        if (!read_option(o, letter))
            return false;
    }
    if (optind < argc) {
        fprintf(stderr, "mlp_mnist: %s: no such option; --help lists them\n", argv[optind]);
        return false;
    }
    return check_together(o);
}
