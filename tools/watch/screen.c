// SPDX-License-Identifier: Apache-2.0
// The terminal: an alternate screen that is drawn anew when a log grows or the size changes, and is
// given back however the program ends.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "watch.h"

#define WAIT_MILLISECONDS 400

static volatile sig_atomic_t ended, resized, stopped;

static struct {
    bool keys; // stdin is a terminal, whose settings these are
    struct termios before;
} terminal;

// ---- what there is ------------------------------------------------------------------------------

static int columns_of_environment(void)
{
    const char *given = getenv("COLUMNS");
    const long columns = given ? strtol(given, NULL, 10) : 0;
    return columns > 0 && columns <= MOST_COLUMNS ? (int)columns : USUAL_COLUMNS;
}

bool terminal_size(int *columns, int *rows)
{
    struct winsize size;
    *columns = columns_of_environment();
    *rows = 24;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return false;
    if (size.ws_col > 0)
        *columns = size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
    if (size.ws_row > 0)
        *rows = size.ws_row;
    return true;
}

bool terminal_has_colour(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

// ---- entering and leaving -----------------------------------------------------------------------

static void on_signal(int signal_number)
{
    if (signal_number == SIGWINCH)
        resized = 1;
    else if (signal_number == SIGTSTP)
        stopped = 1;
    else if (signal_number != SIGCONT)
        ended = 1;
}

static void catch_signals(void)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i], &action, NULL);
}

static void put(const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return;
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

static void enter(void)
{
    static const char begin[] = "\033[?1049h\033[?25l\033[2J";
    terminal.keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &terminal.before) == 0;
    if (terminal.keys) {
        struct termios raw = terminal.before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    put(begin, sizeof begin - 1);
}

static void leave(void)
{
    static const char end[] = "\033[0m\033[?25h\033[?1049l";
    put(end, sizeof end - 1);
    if (terminal.keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

// Ctrl-Z: the shell gets its screen back until the program goes on.
static void stop(void)
{
    leave();
    raise(SIGSTOP);
    enter();
    stopped = 0;
}

// ---- the loop -----------------------------------------------------------------------------------

// Each line erases what stood behind it, the last one what stood below.
static int draw(const arguments *given, tern_run *const *runs, view *shown)
{
    text t = {.colour = terminal_has_colour()};
    (void)terminal_size(&shown->columns, &shown->rows);
    text_add(&t, "\033[H");
    const int drawn = picture_draw(&t, given, runs, shown, "\033[K\r\n");
    text_add(&t, "\033[J");
    put(t.at, t.length);
    text_free(&t);
    return drawn;
}

// A log that is not there yet is waited for. True when there is something new to see.
static bool update(const arguments *given, tern_run **runs)
{
    bool changed = false;
    for (int i = 0; i < given->count; i++) {
        if (runs[i])
            changed |= tern_run_update(runs[i]) > 0;
        else
            changed |= (runs[i] = tern_run_read(given->folders[i])) != NULL;
        tern_error_clear();
    }
    return changed;
}

// True when a key changes what is shown.
static bool read_keys(view *shown, int drawn)
{
    char keys[64];
    const ssize_t count = terminal.keys ? read(STDIN_FILENO, keys, sizeof keys) : 0;
    for (ssize_t i = 0; i < count; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            ended = 1;
        else if (keys[i] == 'l')
            shown->log_scale = !shown->log_scale;
        else if (keys[i] == ' ')
            shown->first += drawn;
    }
    return count > 0;
}

static void wait_for_input(void)
{
    struct pollfd input = {.fd = terminal.keys ? STDIN_FILENO : -1, .events = POLLIN};
    (void)poll(&input, 1, WAIT_MILLISECONDS);
    if (input.revents & (POLLHUP | POLLERR | POLLNVAL))
        ended = 1;
}

static void loop(const arguments *given, tern_run **runs)
{
    view shown = {.log_scale = given->log_scale, .keys = true};
    bool due = true;
    int drawn = 0;
    while (!ended) {
        if (stopped)
            stop(), due = true;
        if (due || resized) {
            resized = 0;
            drawn = draw(given, runs, &shown);
            if (drawn <= 0 && shown.first > 0) { // past the last one: from the first again
                shown.first = 0;
                continue;
            }
        }
        wait_for_input();
        due = update(given, runs);
        due |= read_keys(&shown, drawn);
    }
}

int watch(const arguments *given)
{
    tern_run *runs[MAX_RUNS] = {NULL};
    catch_signals();
    (void)update(given, runs);
    enter();
    loop(given, runs);
    leave();
    for (int i = 0; i < given->count; i++)
        tern_run_free(runs[i]);
    return 0;
}
