// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets of readers share: bytes as a file, all that is done with a file that was
// read, and what must hold then. A target is LLVMFuzzerTestOneInput; reader.c, which each is linked
// with, has the rest.
#ifndef TERN_TESTS_FUZZ_READER_H
#define TERN_TESTS_FUZZ_READER_H

#include <stddef.h>
#include <stdint.h>

#include "io/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);
int LLVMFuzzerInitialize(int *argc, char ***argv);
// Closes what that opened.
void end_reader(void);

// The n-th allocation from now on fails; 0: none.
void fail_allocation(int64_t n);
// Did one, since then?
bool memory_fails(void);
// What the library has of memory.
int64_t memory_in_use(void);

// Ends the program with a sentence unless `holds`.
void must(bool holds, const char *sentence);

// The bytes as an open file, the same one each time; its name opens it as well.
tern_file *file_of(const uint8_t *data, size_t nbytes);
extern char file_name[64];

// A copy of the bytes that may be changed, with room for nothing more; freed by the caller.
uint8_t *copy_of(const uint8_t *data, size_t nbytes);

// A call begins: memory is counted from here.
void begin_call(void);
// It ended: an error is pending just when it failed, and what is refused took no more memory than
// goal R18 allows. The error is forgotten.
void end_call(bool failed, size_t nbytes);

// Lists, verifies and loads what a reader found, and frees it. False where it was refused.
bool use_archive(tern_archive *archive, size_t nbytes);

// Puts the right checksums into a zip archive, as far as there is one.
void mend_zip(uint8_t *data, size_t nbytes);

#endif
