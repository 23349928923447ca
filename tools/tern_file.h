// SPDX-License-Identifier: Apache-2.0
// The commands of tern-file. Each returns the exit status; what went wrong is on stderr by then.
#ifndef TERN_FILE_H
#define TERN_FILE_H

#include <tern/tern.h>

enum {
    EXIT_DIFFERENT = 1, // compare: the files differ; verify: a file is damaged
    EXIT_UNUSABLE = 2   // of the command line, of files that cannot be read or written
};

typedef struct arguments {
    char *const *files;
    int count;
    const char *only, *map_location; // or NULL
    tern_file_format format;
    bool force, help;
    bool raw, exif, allow_empty, skip_other_formats; // pack
    int64_t max_pixels;                              // 0: the library's
    bool tolerant;                                   // rtol or atol was given
    double rtol, atol;
} arguments;

int list(const arguments *given);
int verify(const arguments *given);
int convert(const arguments *given);
int compare(const arguments *given);
int pack(const arguments *given);

// True unless something has that name and --force was not given; then says so.
bool may_write(const arguments *given, const char *path);
// Prints the pending error, if there is one, and clears it.
int failed(void);
// Prints a sentence to stderr.
void say(const char *format, ...) TERN_PRINTF_(1, 2);
// Prints part of a line, and all or the rest of one, to stdout.
void print(const char *format, ...) TERN_PRINTF_(1, 2);
void print_line(const char *format, ...) TERN_PRINTF_(1, 2);
// What these print: control characters are '?', bytes that are no UTF-8 escapes, "\xff".
void escaped(char *text, size_t size, const char *format, ...) TERN_PRINTF_(3, 4);

// ---- elements -----------------------------------------------------------------------------------

// Bytes of an element's text.
#define ELEMENT_SIZE 48

typedef struct difference {
    int64_t first; // the first element that differs, row-major; -1: none does
    int64_t count; // of elements that differ
    double most;   // by how much, at most; NaN where one of the two is
} difference;

// `value` and `other` are the same number to the bit, or within the tolerances.
bool same_double(const arguments *given, double value, double other);
// Of two tensors of one dtype and shape, on the CPU. Leaves an error pending on failure.
difference compare_elements(const arguments *given, tern_tensor *a, tern_tensor *b);
// Element `index` of a tensor.
void element_text(char text[ELEMENT_SIZE], tern_tensor *t, int64_t index);
// A number, so that another one has another text; NaN with its bits.
void double_text(char text[ELEMENT_SIZE], double value, int digits, uint64_t bits);

// ---- what a file says of itself -----------------------------------------------------------------

typedef struct description {
    char format[32];    // "safetensors"
    char metadata[256]; // "" for none; cut where it is long
} description;

// False with an error pending.
bool describe(const char *path, description *what);
// Says what of a file, and of the state that was read from it, is not in the one it was written to.
void say_what_is_lost(const arguments *given, const tern_state *state, const description *from,
                      const description *to);

#endif
