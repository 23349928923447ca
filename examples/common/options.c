// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <dirent.h>
#include <errno.h>
#include <float.h>
#include <fnmatch.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_OWN     8
#define DEFAULT_DATA "/usr/share/datasets/fashion-mnist"

static const char help_of_training[] =
    "Usage: %s [options]\n"
    "Trains %s on MNIST or Fashion-MNIST.\n"
    "\n"
    "  --data DIR           the four IDX files, plain or .gz\n"
    "                       (" DEFAULT_DATA ")\n"
    "  --device NAME        cpu, cpu:1, cuda, cuda:0 (the best there is); the data is\n"
    "                       kept there when it fits\n"
    "  --devices NAME,NAME  data parallel: each batch is cut over these, all CUDA devices or\n"
    "                       all of the CPU's; data and weights are kept on the first\n"
    "  --epochs N           passes over the training images (%lld)\n"
    "  --batch-size N       images per step (%lld)\n"
    "  --optimizer NAME     adam, adamw, sgd (with momentum 0.9), ..: a wrong one lists all\n"
    "                       (%s)\n"
    "  --lr X               learning rate at the start (%g; of another optimizer its own)\n"
    "  --weight-decay X     (the optimizer's default)\n"
    "  --schedule NAME[:KEY=X,..]\n"
    "                       how the learning rate changes: cosine, one_cycle,\n"
    "                       step:step_size=2,gamma=0.5, ..: a wrong one lists all\n"
    "                       (it falls in a line to %g %%)\n"
    "  --warmup N           steps in which it first rises in a line (0)\n"
    "  --ema X              averages of the weights, of which X stays in each step (0 to 1,\n"
    "                       like 0.999), are tested and saved in their place\n"
    "  --clip X             the largest norm of all gradients of a step (not clipped)\n"
    "  --seed N             (0)\n"
    "  --threads N          CPU threads (one per CPU)\n"
    "  --augment            each image is moved by up to 2 pixels and mirrored at random\n"
    "  --workers N          threads that make the batches ahead, where the data stays on the\n"
    "                       CPU (0): the same numbers for any\n"
    "  --limit N            only the first N training images\n";
static const char help_of_files[] =
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
    "  --version            the version of tern\n"
    "\n"
    "The last line on stdout is for programs; with the defaults it is like\n"
    "  %s\n"
    "Ctrl-C ends the training there: the net is tested as it is; a second one ends at once.\n"
    "Exit status: 0, 1 when training fails, 2 for wrong options or data files, 130 after\n"
    "Ctrl-C.\n";

void options_help(const command *c)
{
    const options *o = &c->defaults;
    printf(help_of_training, c->name, c->about, (long long)o->epochs, (long long)o->batch_size,
           o->optimizer, o->lr, 100 * c->last_lr);
    for (const own_option *own = c->own; own && own->word; own++)
        fputs(own->help, stdout);
    printf(help_of_files,
           c->last_line ? c->last_line : "test_accuracy=A test_loss=L epochs=N seconds=S");
}

// ---- values -------------------------------------------------------------------------------------

bool read_integer(const char *text, const char *end, int64_t low, int64_t high, int64_t *out)
{
    char *stop;
    errno = 0;
    long long value = strtoll(text, &stop, 10);
    if (errno || stop == text || stop != end || value < low || value > high)
        return false;
    *out = value;
    return true;
}

bool read_real(const char *text, double low, double high, double *out)
{
    char *stop;
    *out = strtod(text, &stop);
    return stop != text && *stop == 0 && isfinite(*out) && *out >= low && *out <= high;
}

// A command line that is being read.
typedef struct reader {
    const command *command;
    options *o;
} reader;

static bool refuse(const reader *r, const char *option, const char *text, const char *why)
{
    fprintf(stderr, "%s: --%s %s: %s\n", r->command->name, option, text, why);
    return false;
}

static bool read_count(const reader *r, const char *option, int64_t low, int64_t high, int64_t *out)
{
    char why[96];
    if (read_integer(optarg, optarg + strlen(optarg), low, high, out))
        return true;
    snprintf(why, sizeof why, "not a whole number of %lld to %lld", (long long)low,
             (long long)high);
    return refuse(r, option, optarg, why);
}

static bool read_number(const reader *r, const char *option, double *out)
{
    return read_real(optarg, 0, DBL_MAX, out) ||
           refuse(r, option, optarg, "not a number of 0 or more");
}

static bool read_optimizer(const reader *r)
{
    char why[320];
    r->o->optimizer = optarg;
    if (optimizer_find(optarg))
        return true;
    snprintf(why, sizeof why, "not one of %s", optimizer_names());
    return refuse(r, "optimizer", optarg, why);
}

static bool read_schedule(const reader *r)
{
    char why[320];
    return schedule_read(optarg, &r->o->schedule, why, sizeof why) ||
           refuse(r, "schedule", optarg, why);
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
static bool check_save(const reader *r, const char *path)
{
    static const char *const endings[] = {".safetensors", ".pt", ".pth", ".npz"};
    const char *dot = strrchr(path, '.');
    bool known = false;
    for (unsigned i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        known = known || strcmp(dot, endings[i]) == 0;
    if (known && can_write_beside(path))
        return true;
    return refuse(r, "save", path,
                  known ? "its folder cannot be written to"
                        : "does not end with .safetensors, .pt, .pth or .npz");
}

// The letters of options without a short name are above those of characters.
enum {
    DEVICES = 256,
    SCHEDULE,
    WARMUP,
    EMA,
    CLIP,
    AUGMENT,
    WORKERS,
    LIMIT,
    LOAD,
    SAVE,
    CHECKPOINT_DIR,
    CHECKPOINT_EVERY,
    RESUME,
    VERSION,
    OWN
};

static bool read_file_option(const reader *r, int letter)
{
    options *o = r->o;
    switch (letter) {
    case AUGMENT:
        return o->augment = true;
    case WORKERS:
        return read_count(r, "workers", 0, 256, &o->workers);
    case LIMIT:
        return read_count(r, "limit", 1, 1 << 30, &o->limit);
    case LOAD:
        o->load = optarg;
        return true;
    case SAVE:
        o->save = optarg;
        return check_save(r, optarg);
    case CHECKPOINT_DIR:
        o->checkpoint_dir = optarg;
        return true;
    case CHECKPOINT_EVERY:
        return read_count(r, "checkpoint-every", 0, INT64_MAX, &o->checkpoint_every);
    case VERSION:
        return o->version = true;
    default:
        o->resume = true;
        return true;
    }
}

static const struct option words[] = {
    {"data", required_argument, NULL, 'd'},
    {"device", required_argument, NULL, 'D'},
    {"devices", required_argument, NULL, DEVICES},
    {"epochs", required_argument, NULL, 'e'},
    {"batch-size", required_argument, NULL, 'b'},
    {"optimizer", required_argument, NULL, 'o'},
    {"lr", required_argument, NULL, 'l'},
    {"weight-decay", required_argument, NULL, 'w'},
    {"schedule", required_argument, NULL, SCHEDULE},
    {"warmup", required_argument, NULL, WARMUP},
    {"ema", required_argument, NULL, EMA},
    {"clip", required_argument, NULL, CLIP},
    {"seed", required_argument, NULL, 's'},
    {"threads", required_argument, NULL, 't'},
    {"augment", no_argument, NULL, AUGMENT},
    {"workers", required_argument, NULL, WORKERS},
    {"limit", required_argument, NULL, LIMIT},
    {"load", required_argument, NULL, LOAD},
    {"save", required_argument, NULL, SAVE},
    {"checkpoint-dir", required_argument, NULL, CHECKPOINT_DIR},
    {"checkpoint-every", required_argument, NULL, CHECKPOINT_EVERY},
    {"resume", no_argument, NULL, RESUME},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, VERSION},
};

static bool read_own_option(const reader *r, const own_option *own)
{
    char why[160];
    if (!own->read)
        return *own->set = true;
    if (own->read(optarg))
        return true;
    snprintf(why, sizeof why, "not %s", own->wanted);
    return refuse(r, own->word, optarg, why);
}

static bool read_option(const reader *r, int letter)
{
    options *o = r->o;
    int64_t number = 0;
    switch (letter) {
    case 'd':
        o->data = optarg;
        return true;
    case 'D':
        o->device = optarg;
        return true;
    case DEVICES:
        o->devices = optarg;
        return true;
    case 'e':
        return read_count(r, "epochs", 1, 1000000, &o->epochs);
    case 'b':
        return read_count(r, "batch-size", 1, 1 << 20, &o->batch_size);
    case 'o':
        return read_optimizer(r);
    case 'l':
        return read_number(r, "lr", &o->lr);
    case 'w':
        return read_number(r, "weight-decay", &o->weight_decay);
    case SCHEDULE:
        return read_schedule(r);
    case WARMUP:
        return read_count(r, "warmup", 0, 1 << 30, &o->warmup);
    case EMA:
        return read_real(optarg, 0, 1, &o->ema) ||
               refuse(r, "ema", optarg, "not a number of 0 to 1");
    case CLIP:
        return read_number(r, "clip", &o->clip);
    case 's':
        if (!read_count(r, "seed", 0, INT64_MAX, &number))
            return false;
        o->seed = (uint64_t)number;
        return true;
    case 't':
        if (!read_count(r, "threads", 1, 256, &number))
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
        return letter >= OWN ? read_own_option(r, &r->command->own[letter - OWN])
                             : read_file_option(r, letter);
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
static bool check_together(const reader *r)
{
    const options *o = r->o;
    const char *alone = o->resume ? "--resume" : o->checkpoint_every ? "--checkpoint-every" : NULL;
    if (o->help || o->version)
        return true;
    if (alone && !o->checkpoint_dir) {
        fprintf(stderr, "%s: %s: needs --checkpoint-dir\n", r->command->name, alone);
        return false;
    }
    if (o->warmup && o->schedule.kind && schedule_unit_of(&o->schedule) != SCHEDULE_STEPS) {
        fprintf(stderr, "%s: --warmup: counts steps, and this schedule counts epochs\n",
                r->command->name);
        return false;
    }
    if (o->devices && o->device)
        return refuse(r, "devices", o->devices, "not together with --device");
    if (o->checkpoint_dir && !o->resume && has_checkpoints(o->checkpoint_dir))
        return refuse(r, "checkpoint-dir", o->checkpoint_dir,
                      "has checkpoints already: --resume goes on with them, a new run needs "
                      "another one");
    return true;
}

// The words of all programs, then those of this one.
static void list_words(struct option *all, const own_option *own)
{
    unsigned count = sizeof words / sizeof *words;
    memcpy(all, words, sizeof words);
    for (int i = 0; own && own[i].word && i < MOST_OWN; i++)
        all[count++] = (struct option){own[i].word, own[i].read ? required_argument : no_argument,
                                       NULL, OWN + i};
    all[count] = (struct option){NULL, 0, NULL, 0};
}

bool options_read(options *o, const command *c, int argc, char **argv)
{
    struct option all[sizeof words / sizeof *words + MOST_OWN + 1];
    const reader r = {c, o};
    *o = c->defaults;
    o->lr = NAN;
    if (!o->data)
        o->data = DEFAULT_DATA;
    list_words(all, c->own);
    opterr = 0;
    for (;;) {
        int at = optind, index = -1;
        int letter = getopt_long(argc, argv, ":h", all, &index);
        if (letter == -1)
            break;
        if (index < 0 && letter != 'h') {
            fprintf(stderr, "%s: %s: %s; --help lists the options\n", c->name, argv[at],
                    letter == ':' ? "needs a value" : "no such option, or a value where none goes");
            return false;
        }
        if (!read_option(&r, letter))
            return false;
    }
    if (optind < argc) {
        fprintf(stderr, "%s: %s: no such option; --help lists them\n", c->name, argv[optind]);
        return false;
    }
    if (isnan(o->lr))
        o->lr = strcmp(o->optimizer, c->defaults.optimizer) == 0 ? c->defaults.lr
                                                                 : optimizer_find(o->optimizer)->lr;
    return check_together(&r);
}
