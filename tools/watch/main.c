// SPDX-License-Identifier: Apache-2.0
// tern-watch: the curves of runs in a terminal.
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tern/base.h>

#include "watch.h"

static const char help[] =
    "usage: tern-watch [--tag PATTERN] [--log] [--once] FOLDER..\n"
    "       tern-watch --page FILE FOLDER..\n"
    "\n"
    "Shows the curves of one run or several, whose folders have a log.jsonl, while they go on.\n"
    "\n"
    "  --tag PATTERN  only curves whose tags fit, as 'valid/*'; may be given several times\n"
    "  --log          logarithmic scale\n"
    "  --once         prints one picture and ends, as it does where the output is no terminal\n"
    "  --page FILE    writes a page of the runs, to be opened in a browser, and ends\n"
    "  --version      prints the version\n"
    "\n"
    "Keys: space shows more charts, l changes the scale, q ends.\n";

void say(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    (void)fputs("tern-watch: ", stderr);
    (void)vfprintf(stderr, format, words);
    (void)fputc('\n', stderr);
    va_end(words);
}

static const struct option options[] = {
    {"tag", required_argument, NULL, 't'},
    {"log", no_argument, NULL, 'l'},
    {"once", no_argument, NULL, 'o'},
    {"page", required_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

static bool read_option(arguments *given, int letter)
{
    switch (letter) {
    case 't':
        if (given->patterns_count == MAX_PATTERNS)
            return say("--tag is given more than %d times", MAX_PATTERNS), false;
        given->patterns[given->patterns_count++] = optarg;
        return true;
    case 'l':
        return given->log_scale = true;
    case 'o':
        return given->once = true;
    case 'p':
        given->page = optarg;
        return true;
    case 'v':
        return given->version = true;
    default:
        return given->help = true;
    }
}

static bool read_words(int argc, char **argv, arguments *given)
{
    opterr = 0;
    for (int letter; (letter = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (letter == ':' || letter == '?')
            return say("%s: %s; --help lists the options", argv[optind - 1],
                       letter == ':' ? "needs a value" : "no such option"),
                   false;
        if (!read_option(given, letter))
            return false;
    }
    given->folders = (const char *const *)(argv + optind);
    given->count = argc - optind;
    if (given->help || given->version)
        return true;
    if (given->count >= 1 && given->count <= MAX_RUNS)
        return true;
    return say(given->count < 1 ? "no folder of a run is given; --help shows how"
                                : "more than %d runs are given",
               MAX_RUNS),
           false;
}

static int failed(void)
{
    char sentence[512];
    (void)tern_error_take(sentence, sizeof sentence);
    say("%s", sentence);
    return EXIT_UNUSABLE;
}

static int print_once(const arguments *given)
{
    tern_run *runs[MAX_RUNS] = {NULL};
    view shown = {.log_scale = given->log_scale};
    text t = {.colour = terminal_has_colour()};
    int status = 0, rows;
    for (int i = 0; !status && i < given->count; i++)
        if (!(runs[i] = tern_run_read(given->folders[i])))
            status = failed();
    (void)terminal_size(&shown.columns, &rows);
    if (!status) {
        (void)picture_draw(&t, given, runs, &shown, "\n");
        (void)fwrite(t.at, 1, t.length, stdout);
    }
    text_free(&t);
    for (int i = 0; i < given->count; i++)
        tern_run_free(runs[i]);
    return status;
}

static int run(const arguments *given)
{
    int columns, rows;
    if (given->help)
        return fputs(help, stdout), 0;
    if (given->version)
        return printf("tern-watch %s\n", tern_version()), 0;
    if (given->page)
        return tern_run_page_write(given->page, given->count, given->folders) ? failed() : 0;
    return given->once || !terminal_size(&columns, &rows) ? print_once(given) : watch(given);
}

int main(int argc, char **argv)
{
    arguments given = {.count = 0};
    if (!read_words(argc, argv, &given))
        return EXIT_UNUSABLE;
    int status = run(&given);
    if ((fflush(stdout) || ferror(stdout)) && status == 0) {
        say("cannot write to stdout");
        status = EXIT_UNUSABLE;
    }
    tern_shutdown();
    return status;
}
