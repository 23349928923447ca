// SPDX-License-Identifier: Apache-2.0
// tern-file: lists, verifies, converts and compares files of weights, and packs folders of images.
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "tern_file.h"

static const char help[] =
    "Usage: tern-file list FILE...\n"
    "       tern-file verify FILE...\n"
    "       tern-file convert [options] FROM TO\n"
    "       tern-file compare [options] A B\n"
    "       tern-file pack [options] FOLDER TO\n"
    "Files of weights: safetensors, PyTorch's, npy and npz.\n"
    "\n"
    "  list       prints the names, dtypes, shapes and numbers in each file\n"
    "  verify     reads each file whole and checks every checksum in it\n"
    "  convert    writes the values of FROM to TO, in the format that TO ends with:\n"
    "             .safetensors, .npy, .npz, or PyTorch's .pt .pth .pkl .bin .tar .ckpt\n"
    "  compare    says what differs: names, dtypes, shapes, elements\n"
    "  pack       writes the images of FOLDER, a folder for each class, to TO, a\n"
    "             safetensors file that tern_data_packed reads\n"
    "\n"
    "  --only PATTERN       convert, compare: the values whose names fit, 'model.*'\n"
    "  --map-location L     convert: reads tensors to L, cpu (the default), cuda:0, or\n"
    "                       cuda:1=cpu,cuda:2=cuda:0 by where they were saved\n"
    "  --format F           convert: safetensors, pt, npy or npz, whatever TO ends with\n"
    "  --force              convert, pack: replaces TO if it exists\n"
    "  --rtol X, --atol X   compare: floating elements are the same where they differ by\n"
    "                       at most atol + rtol * |b|; without them, where the bits are\n"
    "  --raw                pack: pixels, of images of one size, not the files' bytes\n"
    "  --exif               pack --raw: turns images as their EXIF orientation says\n"
    "  --max-pixels N       pack --raw: of an image, 89478485 unless said\n"
    "  --allow-empty        pack: classes may have no images\n"
    "  --skip-other-formats pack: leaves out images that tern does not read\n"
    "  -h, --help           this text\n"
    "  --version            the version\n"
    "\n"
    "Exit status: 0; 1 when files differ (compare) or one is damaged (verify); 2 for a\n"
    "wrong command line and for files that cannot be read or written.\n";

// Names come from files: as in the library's sentences, what is no text is escaped.
static void put(FILE *file, const char *format, va_list words) TERN_PRINTF_(2, 0);
static void put(FILE *file, const char *format, va_list words)
{
    char text[8192];
    tern_text_format(text, sizeof text, format, words);
    fputs(text, file);
}

void escaped(char *text, size_t size, const char *format, ...)
{
    va_list words;
    va_start(words, format);
    tern_text_format(text, size, format, words);
    va_end(words);
}

void say(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    fputs("tern-file: ", stderr);
    put(stderr, format, words);
    fputc('\n', stderr);
    va_end(words);
}

void print(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    put(stdout, format, words);
    va_end(words);
}

void print_line(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    put(stdout, format, words);
    putchar('\n');
    va_end(words);
}

// ---- sentences of the library -------------------------------------------------------------------

// The options of calls, and those of this program that are handed to them.
static const struct {
    const char *field, *word;
} fields[] = {{".only", "--only"},
              {".map_location", "--map-location"},
              {".format", "--format"},
              {".raw", "--raw"},
              {".exif", "--exif"},
              {".max_pixels", "--max-pixels"},
              {".allow_empty", "--allow-empty"},
              {".skip_other_formats", "--skip-other-formats"}};

// The field that a text begins with; -1: none.
static int field_at(const char *text)
{
    for (int i = 0; i < (int)(sizeof fields / sizeof *fields); i++) {
        const size_t length = strlen(fields[i].field);
        if (strncmp(text, fields[i].field, length) == 0 && strchr(" ;:,=", text[length]))
            return i;
    }
    return -1;
}

// Without the function that it begins with, which nobody called here.
static void say_of_library(const char *sentence)
{
    const size_t function = strspn(sentence, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (function > 0 && strncmp(sentence + function, ": ", 2) == 0)
        sentence += function + 2;
    fputs("tern-file: ", stderr);
    for (const char *at = sentence; *at; at++) {
        const int field = at == sentence || at[-1] == ' ' ? field_at(at) : -1;
        if (field < 0) {
            fputc(*at, stderr);
            continue;
        }
        fputs(fields[field].word, stderr);
        at += strlen(fields[field].field) - 1;
    }
    fputc('\n', stderr);
}

static void say_warning(tern_log_level level, const char *line, void *user)
{
    (void)user;
    if (level == TERN_LOG_WARN)
        say_of_library(line);
}

int failed(void)
{
    if (tern_error_pending())
        say_of_library(tern_error_message());
    tern_error_clear();
    return EXIT_UNUSABLE;
}

// ---- the commands without a file of their own ---------------------------------------------------

int list(const arguments *given)
{
    int status = 0;
    for (int i = 0; i < given->count && !ferror(stdout); i++)
        if (tern_state_list(given->files[i], stdout))
            status = failed();
    return status;
}

int verify(const arguments *given)
{
    int status = 0;
    for (int i = 0; i < given->count; i++) {
        const tern_status error = tern_state_verify(given->files[i]);
        if (!error) {
            print_line("%s: fine", given->files[i]);
            continue;
        }
        (void)failed();
        if (status != EXIT_UNUSABLE)
            status = error == TERN_ERR_FORMAT ? EXIT_DIFFERENT : EXIT_UNUSABLE;
    }
    return status;
}

// ---- the command line ---------------------------------------------------------------------------

static const struct command {
    const char *name;
    const char *letters; // of the options that it takes
    int least, most;     // files
    int (*run)(const arguments *given);
} commands[] = {
    {"list", "", 1, INT32_MAX, list},   {"verify", "", 1, INT32_MAX, verify},
    {"convert", "omFf", 2, 2, convert}, {"compare", "ora", 2, 2, compare},
    {"pack", "fReMEs", 2, 2, pack},
};

static const struct option options[] = {
    {"only", required_argument, NULL, 'o'},
    {"map-location", required_argument, NULL, 'm'},
    {"format", required_argument, NULL, 'F'},
    {"force", no_argument, NULL, 'f'},
    {"rtol", required_argument, NULL, 'r'},
    {"atol", required_argument, NULL, 'a'},
    {"raw", no_argument, NULL, 'R'},
    {"exif", no_argument, NULL, 'e'},
    {"max-pixels", required_argument, NULL, 'M'},
    {"allow-empty", no_argument, NULL, 'E'},
    {"skip-other-formats", no_argument, NULL, 's'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool read_format(arguments *given, const char *text)
{
    static const struct {
        const char *name;
        tern_file_format format;
    } names[] = {{"safetensors", TERN_FILE_SAFETENSORS},
                 {"pt", TERN_FILE_TORCH},
                 {"npy", TERN_FILE_NPY},
                 {"npz", TERN_FILE_NPZ}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0)
            return given->format = names[i].format, true;
    say("--format %s: not one of safetensors, pt, npy, npz", text);
    return false;
}

static bool read_tolerance(arguments *given, const char *name, const char *text, double *value)
{
    char *stop;
    given->tolerant = true;
    *value = strtod(text, &stop);
    if (stop != text && *stop == 0 && isfinite(*value) && *value >= 0)
        return true;
    say("--%s %s: not a number of 0 or more", name, text);
    return false;
}

static bool read_max_pixels(arguments *given, const char *text)
{
    char *stop;
    const long long value = strtoll(text, &stop, 10);
    if (stop != text && *stop == 0 && value >= 1 && value < LLONG_MAX)
        return given->max_pixels = value, true;
    say("--max-pixels %s: not an integer of 1 or more", text);
    return false;
}

static bool read_option(arguments *given, int letter)
{
    switch (letter) {
    case 'R':
        return given->raw = true;
    case 'e':
        return given->exif = true;
    case 'M':
        return read_max_pixels(given, optarg);
    case 'E':
        return given->allow_empty = true;
    case 's':
        return given->skip_other_formats = true;
    case 'o':
        given->only = optarg;
        return true;
    case 'm':
        given->map_location = optarg;
        return true;
    case 'F':
        return read_format(given, optarg);
    case 'f':
        return given->force = true;
    case 'r':
        return read_tolerance(given, "rtol", optarg, &given->rtol);
    case 'a':
        return read_tolerance(given, "atol", optarg, &given->atol);
    default:
        return given->help = true;
    }
}

// The words behind the command, which stands where a program's name does.
static bool read_words(const struct command *command, int argc, char **argv, arguments *given)
{
    opterr = 0;
    for (;;) {
        int index = -1;
        const int letter = getopt_long(argc, argv, ":h", options, &index);
        if (letter == -1)
            break;
        if (letter == ':' || letter == '?') {
            // Of several letters in a word the first ones do not go past it.
            say("%s: %s; --help lists the options", argv[optind - (argv[optind - 1][0] == '-')],
                letter == ':' ? "needs a value" : "no such option, or a value where none goes");
            return false;
        }
        if (letter != 'h' && !strchr(command->letters, letter)) {
            say("%s has no option --%s", command->name, options[index].name);
            return false;
        }
        if (!read_option(given, letter))
            return false;
    }
    given->files = argv + optind;
    given->count = argc - optind;
    if (given->help || (given->count >= command->least && given->count <= command->most))
        return true;
    say("%s takes %s, not %d; --help shows how", command->name,
        command->run == pack ? "a folder and a file"
        : command->most == 2 ? "two files"
                             : "one file or more",
        given->count);
    return false;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    say("%s: no such command; there are list, verify, convert, compare and pack", name);
    return NULL;
}

static int run(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct command *command;
    arguments given = {.map_location = "cpu"};
    if (strcmp(word, "--version") == 0)
        return printf("tern-file %s\n", tern_version()), 0;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return fputs(help, stdout), 0;
    if (argc < 2)
        return fputs(help, stderr), EXIT_UNUSABLE;
    command = find_command(word);
    if (!command || !read_words(command, argc - 1, argv + 1, &given))
        return EXIT_UNUSABLE;
    if (given.help)
        return fputs(help, stdout), 0;
    return command->run(&given);
}

int main(int argc, char **argv)
{
    tern_set_log(say_warning, NULL);
    int status = run(argc, argv);
    if ((fflush(stdout) || ferror(stdout)) && status != EXIT_UNUSABLE) {
        say("cannot write to stdout");
        status = EXIT_UNUSABLE;
    }
    tern_shutdown();
    return status;
}
