// SPDX-License-Identifier: Apache-2.0
// What tern-watch is made of: runs, charts of their curves, and a text that becomes a picture.
#ifndef TERN_WATCH_H
#define TERN_WATCH_H

#include <tern/run.h>

enum {
    EXIT_UNUSABLE = 2, // of the command line, of logs that cannot be read
    MAX_RUNS = 32,
    MAX_PATTERNS = 16,
    LEAST_COLUMNS = 25, // that a chart needs; with fewer there is one line of numbers
    LEAST_ROWS = 7,     // likewise
    USUAL_COLUMNS = 80,
    MOST_COLUMNS = 400
};

typedef struct arguments {
    const char *const *folders;
    int count;
    const char *patterns[MAX_PATTERNS]; // of --tag
    int patterns_count;
    const char *page; // where --page writes to, or NULL
    bool once, log_scale, help, version;
} arguments;

// ---- texts --------------------------------------------------------------------------------------

// A text that grows. When memory is short the rest is left out.
typedef struct text {
    char *at;
    size_t length, capacity;
    bool colour; // whether colours are written
} text;

void text_add(text *t, const char *format, ...) TERN_PRINTF_(2, 3);
void text_free(text *t);
// At most `columns` columns of what somebody named, filled with spaces to `least`: control
// characters, and marks that change the direction, are '?'. Returns the columns.
int text_add_name(text *t, const char *name, int columns, int least);
// Begins a colour of a curve, faint or not; -1: ends it.
void text_colour(text *t, int colour, bool faint);
// A number in eight columns or less, as those of a tag are written.
void number_text(char out[32], const char *tag, double value);
void duration_text(char out[32], double seconds);
// An integer with spaces between its thousands.
void integer_text(char out[32], int64_t value);

// ---- charts -------------------------------------------------------------------------------------

// A curve in a chart.
typedef struct series {
    const char *tag, *label;
    tern_run_points points;
    int run, colour;
    int number; // of the run, where there are several; -1: one
    bool faint; // of several runs, the curve of the training
} series;

typedef struct chart {
    char metric[96]; // the group's name, where it is none of a split
    int rank;        // the least first
    series *series;
    int count, capacity;
} chart;

typedef struct charts {
    chart *at;
    int count, capacity;
} charts;

// The curves of all runs by metric; NULL for a run that has no log yet. False without memory.
bool charts_make(charts *all, const arguments *given, tern_run *const *runs);
void charts_free(charts *all);
// Adds the lines of a chart, each `columns` wide with its colours ended, to `lines[height]`.
void chart_draw(const chart *c, text *lines, int columns, int height, bool log_scale);

// ---- braille ------------------------------------------------------------------------------------

// Cells of 2 x 4 dots.
typedef struct canvas {
    int columns, rows;
    struct cell {
        unsigned char dots;
        signed char colour; // -1: none
        bool faint;
        char mark; // a character in place of the dots, or 0
    } * cells;     // (rows, columns)
} canvas;

bool canvas_make(canvas *c, int columns, int rows);
void canvas_free(canvas *c);
// A line between two dots; (0, 0) is above on the left.
void canvas_line(canvas *c, int x0, int y0, int x1, int y1, int colour, bool faint);
void canvas_mark(canvas *c, int x, int y, char mark, int colour);
void canvas_row(const canvas *c, int row, text *t);

// ---- pictures -----------------------------------------------------------------------------------

// What is shown of all charts.
typedef struct view {
    int columns, rows; // rows: 0 for as many as there are
    int first;         // chart
    bool log_scale, keys;
} view;

// Writes the picture into `t`, its lines ended by `newline`. Returns how many charts are shown.
int picture_draw(text *t, const arguments *given, tern_run *const *runs, const view *shown,
                 const char *newline);

// ---- the terminal -------------------------------------------------------------------------------

// Columns and rows of stdout; false where it is no terminal, and they are those of $COLUMNS or 80.
bool terminal_size(int *columns, int *rows);
bool terminal_has_colour(void);
// Shows the runs until q or a signal. Returns the exit status.
int watch(const arguments *given);

// Prints a sentence to stderr.
void say(const char *format, ...) TERN_PRINTF_(1, 2);

#endif
