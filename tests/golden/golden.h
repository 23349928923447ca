// SPDX-License-Identifier: Apache-2.0
// Reads what the make_*.py beside it stored of PyTorch. A family is the archive data/FAMILY.gz: an
// index and, behind it, the arrays that it names, one after another, little-endian, each from a
// multiple of 8 bytes on. gzip -dc shows it. What is missing, damaged or not as a test asks for it
// ends the program with one sentence. An index is
//
//     tern golden 1 FAMILY: COUNT cases, SIZE bytes, HASH
//     # a comment
//     case NAME
//     word NAME VALUE...
//     DTYPE NAME SIZES...                                     an array
//     > a line of text
//
// where SIZE is that of the arrays and HASH the 64-bit FNV-1a of the other lines and the arrays.
#ifndef TERN_TESTS_GOLDEN_H
#define TERN_TESTS_GOLDEN_H

#include <tern/tern.h>

#include "support/array.h"

typedef struct golden_word {
    const char *name, *value;
} golden_word;

typedef struct golden_array {
    const char *name;
    tern_dtype dtype;
    tern_shape shape;
    int64_t numel;
    const void *data; // row-major
} golden_array;

typedef struct golden_case {
    const char *name;
    const char *text; // lines with newlines between them
    const golden_word *words;
    const golden_array *arrays;
    int word_count, array_count;
} golden_case;

typedef struct golden_file {
    const golden_case *cases;
    int count;
} golden_file;

// The file of a family, from the folder in TERN_GOLDEN or that of the source tree; read once.
const golden_file *golden_read(const char *family);
// The case with this name.
const golden_case *golden_find(const char *family, const char *name);

// NULL where the case has none of this name.
const char *golden_text(const golden_case *c, const char *word);
const golden_array *golden_find_array(const golden_case *c, const char *name);

// The number at a place, from 0, of a word; 0 where the case has no such word.
double golden_number(const golden_case *c, const char *word, int place);
// All numbers of a word into `values`; how many there are.
int golden_numbers(const golden_case *c, const char *word, double *values, int max_count);
// The elements of an array that has this dtype and so many of them.
const void *golden_values(const golden_case *c, const char *name, tern_dtype dtype, int64_t numel);

// The values of an array; to be freed.
array golden_to_array(const golden_array *g);
tern_dtype golden_dtype(const char *name); // UNSPECIFIED for what is no dtype's name
// 64-bit FNV-1a, begun with 0.
uint64_t golden_hash(uint64_t before, const void *bytes, size_t nbytes);

#endif
